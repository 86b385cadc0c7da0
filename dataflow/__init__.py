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
        "base.failure": ["Failure"],
        "base.logs": ["SecretFilter"],
        "builder.blocks": ["Carry", "Loop", "When"],
        "builder.declare": ["Node", "node", "threaded"],
        "builder.sources": [
            "Step",
            "collect",
            "each",
            "fallback",
            "gather",
            "merge",
            "merge_contexts",
            "race",
        ],
        "core.config": ["Config"],
        "core.context": ["ExecutionContext", "Tools", "merged_context"],
        "core.events": ["Event", "EventKind"],
        "core.firing": ["Firing", "Span", "this_firing"],
        "core.inputs": ["Ask"],
        "core.limits": ["Limit"],
        "core.policy": ["Memo", "Retry", "Telemetry"],
        "core.ports": ["Lazy", "Maybe", "NodeOutput", "Port", "Ports", "SKIP", "Signal"],
        "core.states": ["NodeState"],
        "core.turns": ["Image", "Message", "ProviderParts", "ToolCall"],
        "durable.ownership": ["cancel_stored"],
        "diagnostics.diagnostic": ["Diagnostic", "Location"],
        "errors": [
            "AnswerRefused",
            "ArgumentInvalid",
            "BudgetExceeded",
            "ConversationInvalid",
            "DataflowError",
            "ExpressionError",
            "FlowEdited",
            "FlowInvalid",
            "FormatError",
            "LoopLimit",
            "NameUnknown",
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
        "expressions.expression": ["Expression", "Template"],
        "flows": ["Flow"],
        "inspection.diff": ["Difference", "DifferenceKind", "Differences", "diff"],
        "live.session": ["Counts", "Live"],
        "memo.table": ["MemoStats", "ProcessMemo", "process_memo"],
        "packs.pack": ["Pack"],
        "runtime.reasons": ["Explanation", "Reason", "ReasonKind"],
        "runtime.result": ["Result"],
        "runtime.run": ["Run"],
        "runtime.shared": ["Shared"],
        "secrets.secret": ["Secret"],
        "stores": ["Store"],
        "typed_flows": ["TypedFlow", "flow"],
        "values.codecs": ["register_codec"],
        "values.digests": ["digester"],
    },
)

#: Names that have moved to `dataflow.authoring`; the next release has them there alone.
_MOVED = {
    "TypeField",
    "check_json",
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
