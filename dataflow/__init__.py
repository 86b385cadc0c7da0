"""A reactive dataflow engine with named ports.

A flow is a graph of nodes; a node is an async function with named, typed inputs and outputs. Each public name
is imported when it is first used, so importing the package costs little; the stub beside this file tells type
checkers where they are.
"""

from __future__ import annotations

from logging import NullHandler as _NullHandler
from logging import getLogger as _getLogger
from typing import Any as _Any
from warnings import warn as _warn

from lazy_loader import attach as _attach

_find, __dir__, __all__ = _attach(
    __name__,
    submod_attrs={
        "asks": ["Ask"],
        "config": ["Config"],
        "context": ["ExecutionContext", "Tools"],
        "current": ["Firing", "Span", "this_firing"],
        "declare": ["Node", "node", "threaded"],
        "digests": ["digester"],
        "differing": ["Difference", "DifferenceKind", "Differences", "diff"],
        "errors": [
            "AnswerRefused",
            "BudgetExceeded",
            "ConversationInvalid",
            "DataflowError",
            "ExpressionError",
            "FlowEdited",
            "FlowInvalid",
            "FormatError",
            "LoopLimit",
            "NodeFailed",
            "NodeTimeout",
            "PackError",
            "Paused",
            "PortMisuse",
            "RunFailed",
            "RunTaken",
            "SecretMissing",
            "StoreError",
            "ValueMismatch",
            "ValueRefused",
        ],
        "events": ["Event", "EventKind"],
        "expressions": ["Expression", "Template"],
        "failure": ["Failure"],
        "flows": ["Flow"],
        "joins": ["collect", "each", "fallback", "gather", "merge", "merge_contexts", "race"],
        "looping": ["Carry", "Loop", "When"],
        "memo_table": ["MemoStats", "ProcessMemo", "process_memo"],
        "merging": ["merged_context"],
        "messages": ["Image", "Message", "ToolCall"],
        "node_output": ["NodeOutput"],
        "packs": ["Pack"],
        "policy": ["Limit", "Memo", "Retry", "Telemetry"],
        "ports": ["SKIP", "Lazy", "Maybe", "Port", "Ports", "Signal"],
        "reasons": ["Explanation", "Reason", "ReasonKind"],
        "result": ["Result"],
        "run": ["Run"],
        "secret": ["Secret"],
        "session": ["Counts", "Live"],
        "shared": ["Shared"],
        "states": ["NodeState"],
        "steps": ["Step"],
        "stores": ["Store"],
        "typed_flows": ["TypedFlow", "flow"],
    },
)

#: Names that have moved to `dataflow.authoring`; the next release has them there alone.
_MOVED = {
    "TypeField",
    "check_json",
    "choices",
    "json_schema",
    "read_data",
    "sharing",
    "shortened",
}


def __getattr__(name: str) -> _Any:
    if name not in _MOVED:
        return _find(name)
    from dataflow import authoring

    _warn(f"dataflow.{name} is now dataflow.authoring.{name}", DeprecationWarning, stacklevel=2)
    return getattr(authoring, name)


__stored_as__ = "dataflow"

_getLogger("dataflow").addHandler(_NullHandler())
