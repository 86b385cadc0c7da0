"""The `Pack`, which lists the node types without importing them."""

from __future__ import annotations

from typing import Final

from dataflow import Pack
from dataflow.authoring import kinds_of, moved_names
from dataflow_control import diagnostics

__all__ = ["pack"]

#: Former names in stores and documents, by the modules that they contain.
FORMER: Final = {
    "dataflow_control.approvals": "Approval Approved Decision _ask _switch approval",
    "dataflow_control.comparing": "Key Kind ordered",
    "dataflow_control.configs": "StrictConfig",
    "dataflow_control.files": "read_text write_text",
    "dataflow_control.items": "Filter Sort Unique _keys _of_each filter_list sort_list unique_list",
    "dataflow_control.lists": "flatten_list join_lists numbers slice_list",
    "dataflow_control.passing": "Delay Fail Log delay fail log",
    "dataflow_control.texts": "join_text parse_json replace_text split_lines split_text write_json",
    "dataflow_control.values": "Compute Fill Given expression template value",
}

pack = Pack(
    "control",
    version="0.1.0",
    api=1,
    nodes={
        "value": "dataflow_control.values:value",
        "template": "dataflow_control.values:template",
        "expression": "dataflow_control.values:expression",
        "approval": "dataflow_control.approvals:approval",
        "delay": "dataflow_control.passthrough:delay",
        "log": "dataflow_control.passthrough:log",
        "fail": "dataflow_control.passthrough:fail",
        "split_text": "dataflow_control.texts:split_text",
        "split_lines": "dataflow_control.texts:split_lines",
        "join_text": "dataflow_control.texts:join_text",
        "replace_text": "dataflow_control.texts:replace_text",
        "parse_json": "dataflow_control.texts:parse_json",
        "write_json": "dataflow_control.texts:write_json",
        "numbers": "dataflow_control.lists:numbers",
        "join_lists": "dataflow_control.lists:join_lists",
        "flatten_list": "dataflow_control.lists:flatten_list",
        "slice_list": "dataflow_control.lists:slice_list",
        "filter_list": "dataflow_control.items:filter_list",
        "sort_list": "dataflow_control.items:sort_list",
        "unique_list": "dataflow_control.items:unique_list",
        "read_text": "dataflow_control.files:read_text",
        "write_text": "dataflow_control.files:write_text",
    },
    former=moved_names("control", FORMER),
    diagnostics=kinds_of(diagnostics),
)
