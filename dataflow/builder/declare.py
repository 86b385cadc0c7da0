"""Declare functions as node types with `node` and `threaded`, and derive node types from flows."""

from __future__ import annotations

from copy import copy
from dataclasses import fields
from functools import cached_property, partial, update_wrapper
from typing import TYPE_CHECKING, Any, Final, Generic, ParamSpec, Protocol, Self, TypeVar, overload

from dataflow.base.markers import Valueless
from dataflow.core.functions import mark_awaited
from dataflow.core.keywords import check_settings, naming_settings
from dataflow.core.nodetype import NodeType, check_names, derive, never_called
from dataflow.core.policy import NO_POLICY, Policy, policy_of
from dataflow.core.ports import MISSING, Ports
from dataflow.core.signature import (
    OUT,
    Parameters,
    Shape,
    hints_of,
    passing_on,
    qualified_id,
    read_parameters,
    read_result,
)
from dataflow.errors import FlowInvalid, PortMisuse
from dataflow.types.validation import object_schema

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping

    from dataflow.core.policy import Effect, Memo, MemoPolicy, OnError, Retry
    from dataflow.core.ports import InPort, NodeOutput, OutPort
    from dataflow.core.wiring import Nested

__all__ = ["Node", "configurable_type", "flow_type", "node", "threaded"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
#: The settings of `node`.
SETTINGS: Final = frozenset(
    {"name", "ports", "version", "retries", *(field.name for field in fields(Policy))} - {"retry", "errors"}
)
# The marker for "not given"; it is Any so that signatures show the type of each setting.
_UNSET: Any = MISSING


@mark_awaited
class Node(Generic[P, R]):
    """A function declared as a node type. Calling it calls the function, outside any run."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str = "",
        version: str = "1",
        policy: Policy | None = None,
        ports: Callable[[Any], Ports] | None = None,
        in_thread: bool = False,
        placed_as: str | None = None,
    ) -> None:
        self.placed_as = placed_as  # the id of its placed nodes, set by with_(name=)
        self.name: str = name or getattr(function, "__name__", type(function).__name__)
        self._function = function
        self._version = version
        self._policy = policy or NO_POLICY
        self._ports = ports
        self._in_thread = in_thread
        update_wrapper(self, function, updated=())

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, R]:
        """Call the function; an async generator is consumed and returns the list of its yields.

        Raises PortMisuse for a port, which has no value before the flow runs.
        """
        for given in (*args, *kwargs.values()):
            if isinstance(given, Valueless):
                raise PortMisuse(repr(given), f"a call of {self.name}", f"say add({self.name}, ...)")
        return self._called(*args, **kwargs)

    async def _called(self, /, *args: Any, **kwargs: Any) -> R:
        if self._in_thread:
            result: R = await self._call_in_thread(*args, **kwargs)
            return result
        called: Any = self._function(*args, **kwargs)
        if self.type.shape is Shape.PIECES:
            pieces: Any = [piece async for piece in called]
            return pieces  # type: ignore[no-any-return]  # R is the list of T by the overload of node
        return await called  # type: ignore[no-any-return]  # R by the overloads of node

    @cached_property
    def type(self) -> NodeType:
        """The node type; raises FlowInvalid if the signature is not valid for a node."""
        function = self._function
        call = self._call_in_thread if self._in_thread else None
        return derive(function, version=self._version, policy=self._policy, ports=self._ports, call=call)

    async def _call_in_thread(self, /, *args: Any, **kwargs: Any) -> Any:
        from dataflow.core.threads import (
            call_in_thread,
        )  # it imports asyncio, which building a flow does not need

        return await call_in_thread(self._function, args, kwargs)

    @naming_settings("with_")
    def with_(
        self,
        *,
        name: str = _UNSET,
        retries: Retry | int = _UNSET,
        timeout: float | None = _UNSET,
        deadline: float | None = _UNSET,
        memo: MemoPolicy | Memo = _UNSET,
        on_error: OnError = _UNSET,
        default: object = _UNSET,
        limit: str | int = _UNSET,
        effect: Effect = _UNSET,
        enabled: bool = _UNSET,
        cutoff: Callable[[Any, Any], bool] = _UNSET,
    ) -> Self:
        """Return the node with another name or other settings; this one is not changed.

        The settings are those of `node`; `enabled=False` disables the node, so that its ports are skips.
        Settings that are not given keep their values. Raises ValueError for an invalid setting.
        """
        policy = policy_of(
            retries=retries, timeout=timeout, deadline=deadline, memo=memo, on_error=on_error,
            default=default, limit=limit, effect=effect, enabled=enabled, cutoff=cutoff,
        )  # fmt: skip
        changed = copy(self)
        vars(changed).pop("type", None)  # derived from the settings
        changed._policy = policy.over(self._policy)  # noqa: SLF001 - of its own class
        if name is not _UNSET:
            changed.name = changed.placed_as = name
        return changed

    def redeclared(
        self, name: str, version: str, policy: Policy, ports: Callable[[Any], Ports] | None
    ) -> Node[P, R]:
        """Return the node declared again, as `@node(...)` over `@threaded` does."""
        return Node(
            self._function,
            name=name or self.name,
            version=version,
            policy=policy.over(self._policy),
            ports=ports or self._ports,
            in_thread=self._in_thread,
        )

    def in_a_thread(self) -> Node[P, R]:
        """Return the node with its blocking function run in a worker thread."""
        return Node(
            self._function,
            name=self.name,
            placed_as=self.placed_as,
            version=self._version,
            policy=self._policy,
            ports=self._ports,
            in_thread=True,
        )

    def json_schema(self) -> dict[str, Any]:
        """Describe the input ports as a JSON Schema object."""
        inputs = self.type.inputs
        return object_schema(
            {name: port.type for name, port in inputs.items()},
            [name for name, port in inputs.items() if port.required],
        )

    def __repr__(self) -> str:
        return f"<node {self.name}>"


class NodeDecorator(Protocol):
    """The decorator that `node(...)` with settings returns.

    A raw node is wired by the names of its ports.
    """

    @overload
    def __call__(self, fn: Callable[..., Awaitable[NodeOutput]], /) -> Node[..., Any]: ...
    @overload
    def __call__(self, fn: Callable[P, AsyncIterator[T]], /) -> Node[P, list[T]]: ...
    @overload
    def __call__(self, fn: Callable[P, Awaitable[R]], /) -> Node[P, R]: ...


@overload
def node(fn: Callable[..., Awaitable[NodeOutput]], /) -> Node[..., Any]: ...


@overload
def node(fn: Callable[P, AsyncIterator[T]], /) -> Node[P, list[T]]: ...


@overload
def node(fn: Callable[P, Awaitable[R]], /) -> Node[P, R]: ...


@overload
def node(
    *,
    name: str = ...,
    version: str = ...,
    retries: Retry | int = ...,
    timeout: float | None = ...,
    deadline: float | None = ...,
    memo: MemoPolicy | Memo = ...,
    on_error: OnError = ...,
    default: object = ...,
    limit: str | int = ...,
    effect: Effect = ...,
    cutoff: Callable[[Any, Any], bool] = ...,
    ports: Callable[[Any], Ports] | Ports = ...,
) -> NodeDecorator: ...


def node(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    name: str = "",
    version: str = "1",
    ports: Callable[[Any], Ports] | Ports | None = None,
    **settings: Any,
) -> Any:
    """Declare an async function as a node type, optionally with settings.

    `name` is the name of its nodes, by default that of the function. `retries` is the number of extra
    attempts, or a `Retry`; `timeout` bounds one attempt and `deadline` all of them, in seconds. After the
    last attempt `on_error` decides what a failure does: `fail` the run, `skip` the node's ports, or `route`
    it to `step.error`; `default` is a value for `out` instead. `limit` is the name of a limit in
    `using(limits=)`, or the number of firings of the node that may run concurrently. `ports` names the
    ports, or is a function of the config that returns them. `memo` sets the cache scope of outcomes: `off`,
    the `run`, the `process` or the `store`; a `Memo` has more options. `effect` declares that a call
    changes something outside the run; with `ask` a call that was cut off by a crash is repeated only after an
    ask. In a live session `cutoff` compares the old and the new value of a
    port: if it returns True, the old value is kept and downstream nodes are not recomputed. Raises
    ValueError for an invalid setting.
    """
    check_settings("node", settings, SETTINGS)
    policy = policy_of(**settings) if settings else NO_POLICY
    ports_of = (lambda _: ports) if isinstance(ports, Ports) else ports

    def declare(function: Callable[..., Any]) -> Node[Any, Any]:
        if isinstance(function, Node):
            return function.redeclared(name, version, policy, ports_of)
        return Node(function, name=name, version=version, policy=policy, ports=ports_of)

    return declare if fn is None else declare(fn)


def threaded(fn: Callable[P, R], /) -> Node[P, R]:
    """Declare a blocking function as a node type that runs in a worker thread.

    It can be combined with `@node(...)`, above or below it. The thread sees the contextvars of its node and
    `this_firing`; it cannot be interrupted, so long-running code checks `this_firing().cancelled()`.
    """
    given: object = fn
    return given.in_a_thread() if isinstance(given, Node) else Node(fn, in_thread=True)


def flow_type(
    flow: Nested,
    inputs: Mapping[str, InPort],
    outputs: Mapping[str, OutPort],
    policy: Policy,
    documented: object = None,
) -> NodeType:
    """Return the node type of a flow: its inputs and outputs are the ports (S1.1)."""
    parameters = Parameters(tuple(inputs.values()), positional=tuple(inputs))
    made = NodeType(
        f"flow {flow.name}",
        never_called,
        parameters,
        inputs,
        outputs,
        Shape.PORTS,
        policy=policy,
        name=flow.name,
        flow=flow,
        documented=documented,
    )
    check_names(made)
    return made


def configurable_type(
    function: Callable[..., Any], flow_of: Callable[[Any], Nested], name: str, policy: Policy
) -> NodeType:
    """Return the node type of a function that builds a flow for a config; raises FlowInvalid.

    `flow_of` builds the flow. The outputs are those of the signature.
    """
    hints, problems = hints_of(function)
    parameters, more = read_parameters(partial(function, None), hints, False)
    returns, yet_more = read_result(function, hints.get("return", Any))
    if problems := [*problems, *more, *yet_more]:
        raise FlowInvalid(name, [problem.within(name) for problem in problems], "node type")
    ports = [
        port for port in passing_on(returns, parameters).ports if len(returns.ports) == 1 or port.name != OUT
    ]
    made = NodeType(
        qualified_id(function),
        never_called,
        parameters,
        {port.name: port for port in parameters.ports},
        {port.name: port for port in ports},
        Shape.PORTS,
        policy=policy,
        name=name,
        flow_of=flow_of,
        documented=function,
    )
    check_names(made)
    return made
