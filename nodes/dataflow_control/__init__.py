"""The control pack: node types that every flow may need."""

from __future__ import annotations

from dataflow import Pack
from dataflow_control.files import read_text, write_text

__all__ = ["pack", "read_text", "write_text"]

pack = Pack(
    "control",
    version="0.1.0",
    api=1,
    nodes={
        "read_text": "dataflow_control.files:read_text",
        "write_text": "dataflow_control.files:write_text",
    },
)
