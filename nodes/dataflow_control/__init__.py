"""The control pack: node types that every flow may need.

Names are imported on first use; the stub beside this file declares them for type checkers.
"""

from __future__ import annotations

from lazy_loader import attach as _attach

__getattr__, __dir__, __all__ = _attach(
    __name__,
    submod_attrs={
        "approvals": ["Approval", "Approved", "approval"],
        "files": ["read_text", "write_text"],
        "items": ["Filter", "Sort", "Unique", "filter_list", "sort_list", "unique_list"],
        "listing": ["pack"],
        "lists": ["flatten_list", "join_lists", "numbers", "slice_list"],
        "passthrough": ["Delay", "Fail", "FailedOnPurpose", "Log", "delay", "fail", "log"],
        "texts": ["join_text", "parse_json", "replace_text", "split_lines", "split_text", "write_json"],
        "values": ["Compute", "Fill", "Given", "expression", "template", "value"],
    },
)

__stored_as__ = "control"
