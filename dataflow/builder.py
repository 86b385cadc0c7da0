"""The typed builder: wiring only, no behaviour (S1.2, S1.3).

A port is typed as the value it will carry, so a type checker checks the wiring without a plugin.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from pydantic import ValidationError

from dataflow.blocks import OpenBlock, source_of
from dataflow.branching import IF, SWITCH, Choose, Decide
from dataflow.checking import check_value
from dataflow.declare import Node
from dataflow.errors import FlowInvalid, ValueMismatch
from dataflow.looping import Loop, When
from dataflow.names import parse_reference
from dataflow.nodetype import NodeType, derive, opaque_type
from dataflow.placeholders import Operand, Placeholder, PortRef, literally
from dataflow.ports import DONE, MISSING, Signal, plain_type
from dataflow.steps import Step
from dataflow.wiring import (
    INPUT,
    Edge,
    FlowInput,
    LoopBlock,
    Many,
    PlacedNode,
    Reference,
    Wiring,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
    from typing import Literal

    from dataflow.config import Config
    from dataflow.plan import FlowPlan

__all__ = ["Builder"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
K = TypeVar("K", bound=str)


class Builder:
    """Wires nodes into a flow. Mistakes are collected and raised together when the flow is checked."""

    def __init__(self, name: str = "flow") -> None:
        self._name = name
        self._restart()

    def _restart(self) -> None:
        """Begin with nothing wired."""
        self._wiring = Wiring(self._name)
        self._open = OpenBlock(self._wiring.block, self._wiring)
        self._types: dict[Callable[..., Any], NodeType] = {}
        self._compiled: dict[int, FlowPlan] = {}  # the newest, by the version of the wiring

    @property
    def name(self) -> str:
        return self._name

    @overload
    def input(self, name: str, type: type[T]) -> T: ...
    @overload
    def input(self, name: str, type: type[T], default: T) -> T: ...
    def input(self, name: str, type: Any, default: Any = MISSING) -> Any:
        """Declare an input of the flow; without a default it must be given to every run."""
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
        """Declare an output of the flow."""
        root = self._root()
        root.changed()
        if name in self._wiring.block.outputs:
            self._wiring.problems.append(f"output {name!r} is declared twice")
        self._wiring.block.outputs[name] = source_of(root, literally(port), f"output {name!r}")

    def add(self, fn: Callable[P, Awaitable[R]], /, *args: P.args, **kwargs: P.kwargs) -> Step[R]:
        """Place a node; each argument is a port, an expression over ports or a constant."""
        given: object = fn
        if isinstance(given, Builder):
            self._wiring.problems.append(
                f"flow {given.name!r} as a node: flow nodes come with a later release"
            )
            return Step(self._open, self._place(opaque_type(given.name), None, given.name).id)
        explicit = fn.placed_as if isinstance(fn, Node) else None
        try:
            node_type = fn.type if isinstance(fn, Node) else self._type_of(fn)
        except FlowInvalid as invalid:
            self._wiring.problems.extend(invalid.problems)
            node_type = opaque_type(getattr(fn, "__name__", type(fn).__name__))
        name = fn.name if isinstance(fn, Node) else node_type.name or node_type.id
        placed = self._place(node_type, explicit, name)
        self._wire(placed, node_type, args, kwargs)
        return Step(self._open, placed.id)

    def when(self, value: T, predicate: Callable[[T], bool]) -> When[T]:
        """Pass the value on to `yes` or to `no`; the other exit is a skip."""
        placed = self._branch(IF, "when", Decide, value, predicate=predicate)
        yes, no = (self._exit(placed, name) for name in ("yes", "no"))
        return When(yes, no)

    def switch(self, value: T, pick: Callable[[T], K], cases: Sequence[K]) -> Mapping[K, T]:
        """Pass the value on to the case that `pick` names; the other cases are skips.

        A case called `default` takes what no other case does; None picks no case at all.
        """
        placed = self._branch(SWITCH, "switch", Choose, value, pick=pick, cases=tuple(cases))
        return {case: self._exit(placed, case) for case in cases}

    @contextmanager
    def loop(
        self, *, name: str = "", limit: int | None = 100, on_limit: Literal["fail", "exit"] = "exit"
    ) -> Iterator[Loop]:
        """Open a loop; what is wired inside the `with` is its body, run once per round.

        `limit` counts rounds, None is unlimited; at the limit the loop ends with its last values and a
        warning, or fails with `on_limit="fail"` (S6.2).
        """
        outer = self._open
        id = self._id_for(name or None, "loop")
        block = LoopBlock(id, limit=limit, on_limit=on_limit)
        outer.block.nodes[id] = block
        outer.changed()
        self._open = OpenBlock(block.body, self._wiring, outer, block)
        try:
            yield Loop(self._open, block)
        finally:
            self._open = outer

    def after(self, step: Step[Any], *signals: Signal) -> None:
        """Let a node start only after these signals, each the `done` of a step."""
        placed = self._open.block.nodes.get(step._id) if step._block is self._open else None  # noqa: SLF001 - as in blocks
        if placed is None:
            self._wiring.problems.append(f"after: node {step._id!r} is not in this block")  # noqa: SLF001 - as above
            return
        for signal in signals:
            self._open.changed()
            source = source_of(self._open, literally(signal), f"after of node {placed.id!r}")
            if isinstance(source, Reference) and source.port == DONE:
                placed.after.append(source.node)
            else:
                self._wiring.problems.append(
                    f"after of node {placed.id!r}: expected the `done` of a step in this block or around it, "
                    f"found {signal!r}"
                )

    def connect(self, source: str, target: str, **options: Any) -> None:
        """Wire by name: `connect("split.title", "join.title")`; `id` and `meta` are kept with the edge."""
        if "feedback" in options or "each_round" in options or "leave" in options:
            self._wiring.problems.append(
                f"edge {source} -> {target}: feedback edges come with a later release; use f.loop"
            )
            return
        unknown = sorted(set(options) - {"id", "meta"})
        if unknown:
            self._wiring.problems.append(
                f"edge {source} -> {target}: unknown option {unknown[0]!r}; choices: id, meta"
            )
        try:
            start, end = parse_reference(source), parse_reference(target)
        except ValueError as error:
            self._wiring.problems.append(f"edge {source} -> {target}: {error}")
            return
        edge = Edge(start, end.node, end.port, options.get("id"), options.get("meta") or {})
        self._open.block.edges.append(edge)
        self._open.changed()

    def _root(self) -> OpenBlock:
        block = self._open
        while block.parent is not None:
            block = block.parent
        return block

    def _branch(
        self, node_type: NodeType, name: str, config: type[Config], value: object, **settings: Any
    ) -> PlacedNode:
        """Place a branch; settings that cannot be are a problem like any other."""
        placed = self._place(node_type, None, name)
        try:
            placed.config = config(**settings)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            self._wiring.problems.append(f"node {placed.id!r} ({node_type.id}): {place}: {first['msg']}")
            placed.type = opaque_type(node_type.id)
        self._wire(placed, node_type, (), {"value": value})
        return placed

    def _exit(self, placed: PlacedNode, name: str) -> Any:
        return PortRef(self._open, Reference(placed.id, name))

    def _id_for(self, explicit: str | None, base: str) -> str:
        if explicit is None:
            return self._open.new_id(base)
        if not self._open.take_id(explicit):
            self._wiring.problems.append(f"node id {explicit!r} is used twice")
            return self._open.new_id(explicit)
        return explicit

    def _type_of(self, function: Callable[..., Any]) -> NodeType:
        """Derive the type of a plain function, once a flow."""
        try:
            known = self._types.get(function)
        except TypeError:  # a callable object may have no hash
            return derive(function)
        if known is None:
            known = self._types[function] = derive(function)
        return known

    def _place(self, node_type: NodeType, explicit: str | None, base: str) -> PlacedNode:
        id = self._id_for(explicit, base)
        placed = PlacedNode(id, type=node_type)
        self._open.block.nodes[id] = placed
        self._open.changed()
        return placed

    def _wire(
        self, placed: PlacedNode, node_type: NodeType, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        parameters = node_type.parameters
        positional = parameters.positional
        by_position = dict(zip(positional, args, strict=False))
        for name in by_position.keys() & kwargs.keys():
            self._wiring.problems.append(f"port '{placed.id}.{name}' is given twice, by position and by name")
        for name, value in {**by_position, **kwargs}.items():
            if name == parameters.config_name:
                self._configure(placed, name, value)
            else:
                self._feed(placed, name, (literally(value),))
        rest = args[len(positional) :]
        if rest and parameters.star is not None:
            self._feed(placed, parameters.star, tuple(literally(value) for value in rest))
        elif rest and not node_type.is_opaque:
            self._wiring.problems.append(
                f"node {placed.id!r} takes at most {len(positional)} positional arguments, found {len(args)}"
            )

    def _configure(self, placed: PlacedNode, name: str, value: object) -> None:
        if isinstance(value, Placeholder):
            self._wiring.problems.append(
                f"config {name!r} of node {placed.id!r} is fixed while wiring; it cannot be {value!r}"
            )
        else:
            placed.config = value

    def _feed(self, placed: PlacedNode, port: str, operands: tuple[Operand, ...]) -> None:
        """Wire a port: plain ports become edges, anything else stands with the node."""
        reader = f"port '{placed.id}.{port}'"
        sources = tuple(source_of(self._open, operand, reader) for operand in operands)
        if all(isinstance(source, Reference) for source in sources):
            for source in sources:
                assert isinstance(source, Reference)
                self._open.block.edges.append(Edge(source, placed.id, port))
        else:
            placed.inputs[port] = sources[0] if len(sources) == 1 else Many(sources)
