"""Called: what follows from the type and the settings of a node alone, told once for all nodes like it."""

from __future__ import annotations

from dataclasses import dataclass, field
from inspect import CO_COROUTINE
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from dataflow.core.attempts import bounds_of
from dataflow.core.policy import memo_of
from dataflow.core.ports import ERROR, MISSING, PortKind
from dataflow.core.signature import Shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.core.attempts import Bounds
    from dataflow.core.nodetype import NodeType
    from dataflow.core.policy import Memo, Policy

__all__ = ["CallAction"]


@dataclass(slots=True)
class CallAction:
    """Call a node function. Nodes of one type without a config or a policy of their own share one."""

    type: NodeType
    policy: Policy
    config: Any = None
    required: tuple[str, ...] = field(init=False)  # its required inputs
    has_lazy: bool = field(init=False)  # an input is lazy
    has_context: bool = field(init=False)  # an input is a conversation
    takes_in_order: bool = field(init=False)  # its inputs are its parameters, all positional or `*args`
    conditional: frozenset[str] = field(init=False)  # its outputs that may be left out
    is_inferred: bool = field(init=False)  # the types of its outputs depend on more than its type
    is_sure: bool = field(init=False)  # it brings a value if what it needs does (S5.2)
    bounds: Bounds | None = field(init=False)  # of its attempts
    exits: Mapping[str, str] = field(init=False)  # its outputs that are of an exit, by which it is a branch
    memo: Memo | None = field(init=False)  # how far its outcomes are remembered
    is_simple: bool = field(init=False)  # calling it runs none of its code, nothing is to be seen to besides
    is_single: bool = field(init=False)  # what it returns is the value of its one port
    known: object = field(init=False, default=None)  # what fingerprints keep of it

    def __post_init__(self) -> None:
        node_type, policy, parameters = self.type, self.policy, self.type.parameters
        inputs, outputs = node_type.inputs.values(), node_type.outputs.values()
        # lists, as generators take three times as long where there are few ports
        self.required = tuple([port.name for port in inputs if port.required])
        self.has_lazy = True in [port.lazy for port in inputs]
        self.has_context = PortKind.CONTEXT in [port.kind for port in inputs]
        by_name = parameters.keywords or parameters.open or parameters.config_name
        self.takes_in_order = node_type.flow is None and not by_name
        self.conditional = frozenset([ERROR, *[port.name for port in outputs if port.conditional]])
        self.is_inferred = policy.errors == "collect" or any(port.same_as for port in outputs)
        self.is_sure = policy.is_sure and not node_type.is_opaque
        self.bounds = bounds_of(policy)
        self.exits = {port.name: port.exit for port in outputs if port.exit is not None}
        self.memo = memo_of(policy)
        is_bare = policy.effect is not True and policy.cutoff is MISSING
        self.is_single = node_type.shape is Shape.SINGLE and not self.exits and is_bare
        is_free = self.bounds is None and self.memo is None
        self.is_simple = self.is_single and is_free and _is_native(node_type.call)


def _is_native(function: object) -> bool:
    """Tell whether calling a function only makes a coroutine."""
    plain = function.__func__ if isinstance(function, MethodType) else function
    return isinstance(plain, FunctionType) and bool(plain.__code__.co_flags & CO_COROUTINE)
