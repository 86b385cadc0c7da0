# The public names, and where each of them is; imported when it is first used.

from .base.failure import Failure
from .base.logs import SecretFilter
from .builder.blocks import Carry, Loop, When
from .builder.declare import Node, node, threaded
from .builder.sources import Step, collect, each, fallback, gather, merge, merge_contexts, race
from .core.config import Config
from .core.context import ExecutionContext, Tools, merged_context
from .core.events import Event, EventKind
from .core.firing import Firing, Span, this_firing
from .core.inputs import Ask
from .core.limits import Limit
from .core.policy import Memo, Retry, Telemetry
from .core.ports import SKIP, Lazy, Maybe, NodeOutput, Port, Ports, Signal
from .core.states import NodeState
from .core.turns import Image, Message, ProviderParts, ToolCall
from .diagnostics.diagnostic import Diagnostic, Location
from .durable.ownership import cancel_stored
from .errors import (
    AnswerRefused,
    ArgumentInvalid,
    BudgetExceeded,
    ConversationInvalid,
    DataflowError,
    ExpressionError,
    FlowEdited,
    FlowInvalid,
    FormatError,
    LoopLimit,
    NameUnknown,
    NodeFailed,
    NodeTimeout,
    PackError,
    Paused,
    PortMisuse,
    RunFailed,
    RunTaken,
    SecretMissing,
    StoreError,
    ValueMismatch,
    ValueRefused,
)
from .expressions.expression import Expression, Template
from .flows import Flow
from .inspection.diff import Difference, DifferenceKind, Differences, diff
from .live.session import Counts, Live
from .memo.table import MemoStats, ProcessMemo, process_memo
from .packs.pack import Pack
from .runtime.reasons import Explanation, Reason, ReasonKind
from .runtime.result import Result
from .runtime.run import Run
from .runtime.shared import Shared
from .secrets.secret import Secret
from .stores import Store
from .typed_flows import TypedFlow, flow
from .values.codecs import register_codec
from .values.digests import digester

__all__ = [
    "SKIP",
    "AnswerRefused",
    "ArgumentInvalid",
    "Ask",
    "BudgetExceeded",
    "Carry",
    "Config",
    "ConversationInvalid",
    "Counts",
    "DataflowError",
    "Diagnostic",
    "Difference",
    "DifferenceKind",
    "Differences",
    "Event",
    "EventKind",
    "ExecutionContext",
    "Explanation",
    "Expression",
    "ExpressionError",
    "Failure",
    "Firing",
    "Flow",
    "FlowEdited",
    "FlowInvalid",
    "FormatError",
    "Image",
    "Lazy",
    "Limit",
    "Live",
    "Location",
    "Loop",
    "LoopLimit",
    "Maybe",
    "Memo",
    "MemoStats",
    "Message",
    "NameUnknown",
    "Node",
    "NodeFailed",
    "NodeOutput",
    "NodeState",
    "NodeTimeout",
    "Pack",
    "PackError",
    "Paused",
    "Port",
    "PortMisuse",
    "Ports",
    "ProcessMemo",
    "ProviderParts",
    "Reason",
    "ReasonKind",
    "Result",
    "Retry",
    "Run",
    "RunFailed",
    "RunTaken",
    "Secret",
    "SecretFilter",
    "SecretMissing",
    "Shared",
    "Signal",
    "Span",
    "Step",
    "Store",
    "StoreError",
    "Telemetry",
    "Template",
    "ToolCall",
    "Tools",
    "TypedFlow",
    "ValueMismatch",
    "ValueRefused",
    "When",
    "cancel_stored",
    "collect",
    "diff",
    "digester",
    "each",
    "fallback",
    "flow",
    "gather",
    "merge",
    "merge_contexts",
    "merged_context",
    "node",
    "process_memo",
    "race",
    "register_codec",
    "this_firing",
    "threaded",
]

# Deprecated for one release: import these from `dataflow.authoring`.
from .authoring import TypeField as TypeField
from .authoring import check_json as check_json
from .authoring import json_schema as json_schema
from .authoring import read_data as read_data
from .authoring import sharing as sharing
from .authoring import shortened as shortened
