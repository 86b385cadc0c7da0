"""The native flow document, format 1, as it is written: its models and their JSON Schema."""

from __future__ import annotations

from dataflow.document.flow import FORMAT, FlowDocument, json_schema

__all__ = ["FORMAT", "FlowDocument", "json_schema"]
