"""The typed builder: wiring only, no behaviour (S1.2, S1.3).

A port is typed as the value it will carry, so a type checker checks the wiring without a plugin.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from dataflow.builder.blocks import Exits, Loop, OpenBlock, When, ids_within, source_of
from dataflow.builder.declare import Node
from dataflow.builder.placement import branch, configured, connect, feed, id_for, order_after, place, wire
from dataflow.builder.sources import PortRef, Step, literally
from dataflow.core.context import CONTEXT_ID
from dataflow.core.inputs import ASK_ID
from dataflow.core.nodetype import IF_ID, SWITCH_ID, NodeType, derive, opaque_type
from dataflow.core.ports import MISSING, Signal, plain_type
from dataflow.core.wiring import (
    INPUT,
    FlowInput,
    LoopBlock,
    PlacedNode,
    Reference,
    Wiring,
)
from dataflow.errors import FlowInvalid, ValueMismatch
from dataflow.types.validation import check_value

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
    from typing import Literal

    from dataflow.core.context import ExecutionContext

__all__ = ["Builder"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
K = TypeVar("K", bound=str)


class Builder:
    """Wires nodes into a flow. Mistakes are collected and raised together when the flow is checked."""

    def __init__(self, name: str = "flow") -> None:
        self._name = name
        self._lock = threading.RLock()  # one thread at a time wires a typed flow or compiles
        self._restart()

    def _restart(self, wiring: Wiring | None = None) -> None:
        """Begin with nothing wired, or with what was wired elsewhere."""
        self._wiring = wiring or Wiring(self._name)
        self._open = OpenBlock(self._wiring.block, self._wiring)
        self._open.within.update(ids_within(self._wiring.block))
        self._types: dict[Callable[..., Any], NodeType] = {}

    def __repr__(self) -> str:
        return f"<flow {self._name}>"

    @property
    def name(self) -> str:
        """The name of the flow, as messages and drawings call it."""
        return self._name

    @overload
    def input(self, name: str, type: type[T]) -> T: ...
    @overload
    def input(self, name: str, type: type[T], default: T) -> T: ...
    @overload
    def input(self, name: str, type: Any, default: Any = ...) -> Any: ...
    def input(self, name: str, type: Any, default: Any = MISSING) -> Any:
        """Declare an input of the flow and return its port; without a default every run must be given it.

        What is given is checked against the type and not converted, int into float excepted (S1.7).
        """
        root = self._root()
        root.changed()
        if name in self._wiring.inputs:
            self._wiring.problems.append(f"input {name!r} is declared twice")
        plain = plain_type(type)
        try:
            default = default if default is MISSING else check_value(default, plain)
        except ValueMismatch as mismatch:
            self._wiring.problems.append(f"default of input {name!r}: {mismatch}")
        self._wiring.inputs[name] = FlowInput(plain, default)
        return PortRef(root, Reference(INPUT, name))

    def output(self, name: str, port: object) -> None:
        """Declare an output of the flow: a port, a join or a constant."""
        root = self._root()
        root.changed()
        if name in self._wiring.block.outputs:
            self._wiring.problems.append(f"output {name!r} is declared twice")
        self._wiring.block.outputs[name] = source_of(root, literally(port), f"output {name!r}")

    def add(self, fn: Callable[P, Awaitable[R]], /, *args: P.args, **kwargs: P.kwargs) -> Step[R]:
        """Place a node: an async function, a `Node` or a flow.

        Each argument is a port, an expression over ports or a constant. The id of the node is its name, the
        second of that name `name_2` (S1.2). What does not fit is told when the flow is checked.
        """
        given: object = fn
        if isinstance(given, Builder):
            return Step(self._open, given.place_in(self._open, args, kwargs).id)
        declared = fn if isinstance(fn, Node) else None
        try:
            node_type = self._type_of(fn) if declared is None else declared.type
        except FlowInvalid as invalid:
            self._wiring.problems.extend(invalid.problems)
            node_type = opaque_type(getattr(fn, "__name__", type(fn).__name__))
        if declared is None:
            placed = place(self._open, node_type, node_type.name or node_type.id)
        else:
            placed = place(self._open, node_type, declared.name, declared.placed_as)
        wire(self._open, placed, node_type, args, kwargs)
        return Step(self._open, placed.id)

    def when(self, value: T, predicate: Callable[[T], bool], *, name: str = "") -> When[T]:
        """Pass the value on to `yes` or to `no`; the other exit is a skip.

        The predicate is a plain function that gives a bool; anything else fails the branch (S16.3).
        """
        placed = branch(self._open, IF_ID, "when", name or None, value, predicate=predicate)
        yes, no = (self._exit(placed, name) for name in ("yes", "no"))
        return When(yes, no)

    def switch(
        self, value: T, pick: Callable[[T], K], cases: Sequence[K], *, name: str = ""
    ) -> Mapping[K, T]:
        """Pass the value on to the case that `pick` names; the other cases are skips.

        A case called `default` takes what no other case does, without one that fails the branch; None picks
        no case at all.
        """
        placed = branch(self._open, SWITCH_ID, "switch", name or None, value, pick=pick, cases=tuple(cases))
        return Exits({case: self._exit(placed, case) for case in cases})

    @overload
    def ask(
        self, type: type[T], prompt: str, *, show: object = ..., name: str = ..., default: T = ...,
        expires: float | None = ...,
    ) -> Step[T]: ...  # fmt: skip
    @overload
    def ask(
        self, type: Any, prompt: str, *, show: object = ..., name: str = ..., default: Any = ...,
        expires: float | None = ...,
    ) -> Step[Any]: ...  # fmt: skip
    def ask(
        self, type: Any, prompt: str, *, show: object = None, name: str = "", default: Any = MISSING,
        expires: float | None = None,
    ) -> Step[Any]:  # fmt: skip
        """Ask somebody for a value of the type; the run pauses when nothing else can run (S11.1).

        `show` is what the person is shown, a port or a constant. After `expires` seconds without an answer it
        takes the default, or fails.
        """
        given = {"default": default} if default is not MISSING else {}
        if expires is not None:
            given["expires"] = expires
        placed = configured(self._open, ASK_ID, "ask", name or None, prompt=prompt, type=type, **given)
        if show is not None:
            feed(self._open, placed, "show", (show,))
        return Step(self._open, placed.id)

    def context(self, name: str, *, system: str | None = None, model: str = "") -> ExecutionContext:
        """Begin a conversation: a port with a new context in each run, of which no other run knows.

        `system` are its instructions, `model` the model of nodes that name none themselves.
        """
        placed = configured(self._open, CONTEXT_ID, "context", name, system=system, model=model)
        port: Any = PortRef(self._open, Reference(placed.id))
        return port  # type: ignore[no-any-return]  # a port is typed as its value

    @contextmanager
    def loop(
        self, *, name: str = "", limit: int | None = 100, on_limit: Literal["fail", "exit"] = "exit"
    ) -> Iterator[Loop]:
        """Open a loop; what is wired inside the `with` is its body, run once per round.

        `limit` counts rounds, None is unlimited; at the limit the loop ends with its last values and a
        warning, or fails with `on_limit="fail"` (S6.2).
        """
        outer = self._open
        id = id_for(outer, name or None, "loop")
        block = LoopBlock(id, limit=limit, on_limit=on_limit)
        outer.block.nodes[id] = block
        outer.changed()
        self._open = OpenBlock(block.body, self._wiring, outer, block)
        try:
            yield Loop(self._open, block)
        finally:
            self._open = outer

    def after(self, step: Step[Any], *signals: Signal) -> None:
        """Let a node start only after these signals, each the `done` of a step.

        If none of them comes, as all of those nodes were skipped, the node is skipped.
        """
        order_after(self._open, step, signals)

    def connect(self, source: str, target: str, **options: Any) -> None:
        """Wire by name: `connect("split.title", "join.title")`; `id` and `meta` are kept with the edge.

        An input of the flow is `$in.name`. The names are looked up when the flow is checked. With
        `feedback=True` the edge closes a loop, with a `limit` and `on_limit` of its own. An edge that leaves
        one brings the last value, with `leave="all"` the list of all; with `each_round=True` its target is
        part of the loop (S6.3, S6.4).
        """
        connect(self._open, source, target, options)

    def _root(self) -> OpenBlock:
        block = self._open
        while block.parent is not None:
            block = block.parent
        return block

    @property
    def node_type(self) -> NodeType:
        """This flow as a node type."""
        raise NotImplementedError("a builder that is no Flow cannot run")

    def place_in(self, block: OpenBlock, args: Sequence[Any], kwargs: Mapping[str, Any]) -> PlacedNode:
        """Place this flow as a node of another."""
        raise NotImplementedError("a builder that is no Flow cannot run")

    def _exit(self, placed: PlacedNode, name: str) -> Any:
        return PortRef(self._open, Reference(placed.id, name))

    def _type_of(self, function: Callable[..., Any]) -> NodeType:
        """Derive the type of a plain function, once a flow."""
        try:
            known = self._types.get(function)
        except TypeError:  # a callable object may have no hash
            return derive(function)
        if known is None:
            known = self._types[function] = derive(function)
        return known
