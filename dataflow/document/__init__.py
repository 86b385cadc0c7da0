"""The native flow document, format 1, as it is written: its models and their JSON Schema.

The schema is complete: feedback edges, flow nodes, `race`, `all` and `merge_contexts` are part of the format
and come with later releases; reading refuses them until then.
"""

from __future__ import annotations

from dataflow.document.flow import FORMAT, FlowDocument, json_schema

__all__ = ["FORMAT", "FlowDocument", "json_schema"]
