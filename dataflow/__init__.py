"""A reactive dataflow engine with named ports.

A flow is a graph of nodes; a node is an async function with named, typed inputs and outputs.
"""

from __future__ import annotations

from logging import NullHandler as _NullHandler
from logging import getLogger as _getLogger

from dataflow.config import Config
from dataflow.context import ExecutionContext, Message, Tools
from dataflow.current import Firing, this_firing
from dataflow.declare import Node, node, threaded
from dataflow.errors import (
    DataflowError,
    ExpressionError,
    FlowInvalid,
    FormatError,
    LoopLimit,
    NodeFailed,
    NodeTimeout,
    PackError,
    PortMisuse,
    RunFailed,
    ValueMismatch,
)
from dataflow.events import Event, EventKind
from dataflow.expressions import Expression, Template
from dataflow.failure import Failure
from dataflow.flows import Flow
from dataflow.joins import collect, each, fallback, gather, merge, merge_contexts, race
from dataflow.looping import Carry, Loop, When
from dataflow.node_output import NodeOutput
from dataflow.packs import Pack
from dataflow.policy import Limit, Retry
from dataflow.ports import SKIP, Lazy, Maybe, Port, Ports, Signal
from dataflow.result import Result
from dataflow.run import Run
from dataflow.states import NodeState
from dataflow.steps import Step
from dataflow.typed_flows import TypedFlow, flow

__all__ = [
    "SKIP",
    "Carry",
    "Config",
    "DataflowError",
    "Event",
    "EventKind",
    "ExecutionContext",
    "Expression",
    "ExpressionError",
    "Failure",
    "Firing",
    "Flow",
    "FlowInvalid",
    "FormatError",
    "Lazy",
    "Limit",
    "Loop",
    "LoopLimit",
    "Maybe",
    "Message",
    "Node",
    "NodeFailed",
    "NodeOutput",
    "NodeState",
    "NodeTimeout",
    "Pack",
    "PackError",
    "Port",
    "PortMisuse",
    "Ports",
    "Result",
    "Retry",
    "Run",
    "RunFailed",
    "Signal",
    "Step",
    "Template",
    "Tools",
    "TypedFlow",
    "ValueMismatch",
    "When",
    "collect",
    "each",
    "fallback",
    "flow",
    "gather",
    "merge",
    "merge_contexts",
    "node",
    "race",
    "this_firing",
    "threaded",
]

_getLogger("dataflow").addHandler(_NullHandler())
