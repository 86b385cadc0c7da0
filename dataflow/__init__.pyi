# The public names, and where each of them is; imported when it is first used.

from .asks import Ask
from .config import Config
from .context import ExecutionContext, Tools
from .current import Firing, Span, this_firing
from .declare import Node, node, threaded
from .differing import Difference, DifferenceKind, Differences, diff
from .digests import digester
from .errors import (
    AnswerRefused,
    BudgetExceeded,
    ConversationInvalid,
    DataflowError,
    ExpressionError,
    FlowEdited,
    FlowInvalid,
    FormatError,
    LoopLimit,
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
from .events import Event, EventKind
from .expressions import Expression, Template
from .failure import Failure
from .flows import Flow
from .joins import collect, each, fallback, gather, merge, merge_contexts, race
from .looping import Carry, Loop, When
from .memo_table import MemoStats, ProcessMemo, process_memo
from .merging import merged_context
from .messages import Image, Message, ToolCall
from .node_output import NodeOutput
from .packs import Pack
from .policy import Limit, Memo, Retry, Telemetry
from .ports import SKIP, Lazy, Maybe, Port, Ports, Signal
from .reasons import Explanation, Reason, ReasonKind
from .result import Result
from .run import Run
from .secret import Secret
from .session import Counts, Live
from .shared import Shared
from .states import NodeState
from .steps import Step
from .stores import Store
from .typed_flows import TypedFlow, flow

__all__ = [
    "SKIP",
    "AnswerRefused",
    "Ask",
    "BudgetExceeded",
    "Carry",
    "Config",
    "ConversationInvalid",
    "Counts",
    "DataflowError",
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
    "Loop",
    "LoopLimit",
    "Maybe",
    "Memo",
    "MemoStats",
    "Message",
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
    "Reason",
    "ReasonKind",
    "Result",
    "Retry",
    "Run",
    "RunFailed",
    "RunTaken",
    "Secret",
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
    "this_firing",
    "threaded",
]

# Deprecated for one release: import these from `dataflow.authoring`.
from .authoring import TypeField as TypeField
from .authoring import check_json as check_json
from .authoring import choices as choices
from .authoring import json_schema as json_schema
from .authoring import read_data as read_data
from .authoring import sharing as sharing
from .authoring import shortened as shortened
