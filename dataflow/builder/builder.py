"""The typed builder: it records the graph definition of a flow and runs nothing.

A port is typed as the value that it will carry, so a type checker checks the connections without a plugin
(S1.2, S1.3).
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from dataflow.base.markers import Valueless
from dataflow.builder.blocks import Exits, Loop, OpenBlock, When, ids_within, source_of
from dataflow.builder.declare import Node
from dataflow.builder.placement import branch, configured, connect, feed, id_for, order_after, place, wire
from dataflow.builder.sources import Handle, PortRef, Step, literally
from dataflow.core.context import CONTEXT_ID
from dataflow.core.inputs import ASK_ID
from dataflow.core.keywords import naming_settings
from dataflow.core.nodetype import IF_ID, SWITCH_ID, NodeType, derive, opaque_type
from dataflow.core.ports import MISSING, Signal, port_type
from dataflow.core.wiring import INPUT, FlowInput, LoopBlock, PlacedNode, Reference, Wiring
from dataflow.diagnostics.wiring import DECLARED_TWICE
from dataflow.errors import FlowInvalid, PortMisuse, ValueMismatch
from dataflow.types.validation import check_value

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
    from typing import Literal

    from dataflow.base.failure import Failure
    from dataflow.core.context import ExecutionContext

__all__ = ["Builder"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
K = TypeVar("K", bound=str)


class Builder:
    """Adds nodes to a flow and connects them.

    Mistakes are collected and raised together when the flow is checked.
    """

    def __init__(self, name: str = "flow") -> None:
        self._name = name
        self._lock = threading.RLock()  # held while a typed flow is traced or compiled
        self._restart()

    def _restart(self, wiring: Wiring | None = None) -> None:
        """Reset to an empty graph definition, or to the given one."""
        self._wiring = wiring or Wiring(self._name)
        self._open = OpenBlock(self._wiring.block, self._wiring)
        self._open.within.update(ids_within(self._wiring.block))
        self._types: dict[Callable[..., Any], NodeType] = {}

    def __repr__(self) -> str:
        return f"<flow {self._name}>"

    @property
    def name(self) -> str:
        """The name of the flow in messages and drawings."""
        return self._name

    @overload
    def input(self, name: str, type: type[T]) -> T: ...
    @overload
    def input(self, name: str, type: type[T], default: T) -> T: ...
    @overload
    def input(self, name: str, type: Any, default: Any = ...) -> Any: ...
    @naming_settings("input")
    def input(self, name: str, type: Any, default: Any = MISSING) -> Any:
        """Declare an input of the flow and return its port; without a default every run requires it.

        Values are checked against the type and not converted, except from int to float.
        """
        root = self._root()
        root.changed()
        root.note("inputs", name)
        if name in self._wiring.inputs:
            root.problem(DECLARED_TWICE(f"inputs.{name}"))
        plain = port_type(type)
        try:
            default = default if default is MISSING else check_value(default, plain)
        except ValueMismatch as mismatch:
            root.problem(mismatch.problem.within(f"inputs.{name}.default"))
        self._wiring.inputs[name] = FlowInput(plain, default)
        return PortRef(root, Reference(INPUT, name))

    def output(self, name: str, port: object) -> None:
        """Declare an output of the flow: a port, a join or a constant."""
        root = self._root()
        root.changed()
        root.note("outputs", name)
        place = f"outputs.{name}"
        if name in self._wiring.block.outputs:
            root.problem(DECLARED_TWICE(place))
        self._wiring.block.outputs[name] = source_of(root, literally(port), place)

    def add(self, fn: Callable[P, Awaitable[R]], /, *args: P.args, **kwargs: P.kwargs) -> Step[R]:
        """Place a node: an async function, a `Node` or a flow.

        Each argument is a port, an expression over ports or a constant. The id of the node is its name,
        with `_2` for the second of that name. Mistakes are reported when the flow is checked.
        """
        given: object = fn
        if isinstance(given, Builder):
            return Step(self._open, given.place_in(self._open, args, kwargs).id)
        declared = fn if isinstance(fn, Node) else None
        try:
            node_type = self._type_of(fn) if declared is None else declared.type
        except FlowInvalid as invalid:
            for problem in invalid.problems:
                self._open.problem(problem)
            node_type = opaque_type(getattr(fn, "__name__", type(fn).__name__))
        if declared is None:
            placed = place(self._open, node_type, node_type.name or node_type.id)
        else:
            placed = place(self._open, node_type, declared.name, declared.placed_as)
        wire(self._open, placed, node_type, args, kwargs)
        return Step(self._open, placed.id)

    def when(self, value: T, predicate: Callable[[T], bool], *, name: str = "") -> When[T]:
        """Branch: pass the value to `yes` if the predicate holds, else to `no`; the other output is a skip.

        The predicate is a plain function that returns a bool; any other result fails the branch.
        """
        placed = branch(self._open, IF_ID, "when", name or None, value, predicate=predicate)
        yes, no = (self._exit(placed, name) for name in ("yes", "no"))
        return When(yes, no)

    def switch(
        self, value: T, pick: Callable[[T], K], cases: Sequence[K], *, name: str = ""
    ) -> Mapping[K, T]:
        """Branch: pass the value to the case that `pick` names; the other cases are skips.

        A case called `default` takes values that match no other case; without one such a value fails the
        branch. If `pick` returns None, every case is a skip.
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
    @naming_settings("ask")
    def ask(
        self, type: Any, prompt: str, *, show: object = None, name: str = "", default: Any = MISSING,
        expires: float | None = None,
    ) -> Step[Any]:  # fmt: skip
        """Ask a person for a value of the type (human in the loop); the run pauses when nothing else can run.

        `show` is displayed to the person: a port or a constant. After `expires` seconds without an answer
        the node uses the default, or fails.
        """
        given = {"default": default} if default is not MISSING else {}
        if expires is not None:
            given["expires"] = expires
        placed = configured(self._open, ASK_ID, "ask", name or None, prompt=prompt, type=type, **given)
        if show is not None:
            feed(self._open, placed, "show", (show,))
        return Step(self._open, placed.id)

    def context(self, name: str, *, system: str | None = None, model: str = "") -> ExecutionContext:
        """Start a conversation: a port with a new context in each run, independent of other runs.

        `system` are its instructions, `model` the model of nodes that do not name one themselves.
        """
        placed = configured(self._open, CONTEXT_ID, "context", name, system=system, model=model)
        port: Any = PortRef(self._open, Reference(placed.id))
        return port  # type: ignore[no-any-return]  # a port is typed as its value

    @naming_settings("loop")
    @contextmanager
    def loop(
        self, *, name: str = "", limit: int | None = 100, on_limit: Literal["fail", "exit"] = "exit"
    ) -> Iterator[Loop]:
        """Open a loop; nodes added inside the `with` block are its body, which runs once per iteration.

        `limit` is the maximum number of iterations, None is unlimited; at the limit the loop ends with its
        last values and a warning, or fails with `on_limit="fail"`.
        """
        outer = self._open
        id = id_for(outer, name or None, "loop")
        block = LoopBlock(id, limit=limit, on_limit=on_limit)
        outer.block.nodes[id] = block
        outer.note("nodes", id)
        outer.changed()
        path = (*outer.path, "nodes", id, "loop")
        self._open = OpenBlock(block.body, self._wiring, outer, block, path=path)
        try:
            yield Loop(self._open, block)
        finally:
            self._open = outer

    def after(self, step: Step[Any], *signals: Signal | Failure) -> None:
        """Start a node only after these signals, each the `done` or the `error` of a step.

        After the `error` of a step it starts only if that step has failed, which handles the failure. If none
        of the signals arrives, because all of those nodes were skipped or ended otherwise, it is skipped.
        """
        order_after(self._open, step, signals)

    def connect(self, source: str, target: str, **options: Any) -> None:
        """Connect ports by name: `connect("split.title", "join.title")`.

        An input of the flow is `$in.name`; `id` and `meta` are kept with the edge. The names are looked up
        when the flow is checked. With `feedback=True` the edge closes a loop, with its own `limit` and
        `on_limit`. An edge that leaves a loop carries the last value, or with `leave="all"` the list of all
        values; with `each_round=True` its target is part of the loop.
        """
        for given in (source, target):
            if isinstance(given, Valueless | Handle):
                advice = "its ports are written as text: connect('a.out', 'b.x')"
                raise PortMisuse(repr(given), "connect", advice)
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
        """Derive the type of a plain function, once per flow."""
        try:
            known = self._types.get(function)
        except TypeError:  # a callable object may have no hash
            return derive(function)
        if known is None:
            known = self._types[function] = derive(function)
        return known
