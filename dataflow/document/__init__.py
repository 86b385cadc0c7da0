"""The native flow document, format 1, as it is written: its models and their JSON Schema.

The schema is complete; of it, reading refuses feedback edges (`feedback`, `each_round`, `leave: all`), which
come with a later release.
"""

from __future__ import annotations

from dataflow.document.flow import FORMAT, FlowDocument, json_schema

__all__ = ["FORMAT", "FlowDocument", "json_schema"]
