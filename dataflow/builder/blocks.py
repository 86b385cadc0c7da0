"""Open blocks of a flow under construction: the root of the flow and the bodies of loops."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from dataflow.base.markers import Marker
from dataflow.builder.sources import Expression, Handle, PortRef, literally, ports_within
from dataflow.core.functions import check_function
from dataflow.core.nodetype import NodeType
from dataflow.core.signature import Shape
from dataflow.core.wiring import (
    CARRY,
    All,
    Block,
    Carried,
    Literally,
    LoopBlock,
    LoopTest,
    MapBlock,
    Merge,
    PlacedNode,
    Reference,
    Source,
    Wiring,
)
from dataflow.diagnostics.diagnostic import Diagnostic
from dataflow.diagnostics.runs import COROUTINE_RETURNED
from dataflow.diagnostics.wiring import (
    CARRY_FROM_INSIDE,
    GIVEN_TWICE,
    HANDLE_AS_VALUE,
    ITEM_OF_OTHER_BLOCK,
    MARKER_AS_VALUE,
    PORT_OF_OTHER_FLOW,
    PORTS_IN_CONTAINER,
    SWITCH_CASE_UNKNOWN,
)
from dataflow.errors import ArgumentInvalid, NameUnknown

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator
    from typing import Literal

    from dataflow.builder.sources import Operand

__all__ = ["Carry", "Exits", "Loop", "OpenBlock", "When", "ids_within", "source_of"]

K = TypeVar("K")
T = TypeVar("T")
#: The name of a handle in messages, and the ports that can be passed instead, by its class.
_PORTS: Final = {
    "Step": ("step", ("out", "done", "error")),
    "When": ("branch", ("yes", "no")),
    "Carry": ("loop variable", ("out", "final")),
    "Loop": ("loop", ("result(...)", "all(...)")),
}


@dataclass(slots=True, eq=False)
class OpenBlock:
    """A block being wired: the root of a flow or the body of a loop."""

    block: Block
    wiring: Wiring
    parent: OpenBlock | None = None
    loop: LoopBlock | None = None
    within: set[str] = field(default_factory=set)  # ids of this block and of the blocks inside it
    counters: dict[str, int] = field(default_factory=dict)
    left: dict[Source, str] = field(default_factory=dict)  # the outputs of this loop by their source
    path: tuple[str, ...] = ()  # of this block in a document of the flow

    def around(self) -> Iterator[OpenBlock]:
        """Yield this block and the blocks around it, innermost first."""
        block: OpenBlock | None = self
        while block is not None:
            yield block
            block = block.parent

    def new_id(self, base: str) -> str:
        """Take the next free id: the base itself, then with `_2`, `_3` and so on.

        An id is free if neither this block, one around it nor one inside it has it, since documents look
        names up outwards and refuse shadowing (S1.2).
        """
        while True:
            count = self.counters[base] = self.counters.get(base, 0) + 1
            name = base if count == 1 else f"{base}_{count}"
            if self.take_id(name):
                return name

    def take_id(self, name: str) -> bool:
        """Take an id; return False if it is taken."""
        if name in self.within:
            return False
        outer = self.parent
        while outer is not None:
            if name in outer.block.nodes:
                return False
            outer = outer.parent
        self.within.add(name)
        outer = self.parent
        while outer is not None:
            outer.within.add(name)
            outer = outer.parent
        return True

    def new_carry(self, base: str = "carry") -> str:
        """Return the next free name of a loop variable."""
        return _free_name(
            base, {name for outer in self.around() if outer.loop for name in outer.loop.carries}
        )

    def problem(self, problem: Diagnostic) -> None:
        """Record a problem of the code that calls the engine now."""
        if isinstance(problem, Diagnostic):
            problem = problem.at(self.wiring.calls.here())
        self.wiring.problems.append(problem)

    def note(self, *path: str) -> None:
        """Record that the code that calls the engine now makes the part of this block at a path."""
        self.wiring.calls.note((*self.path, *path), above=2)

    def has_keys(self, reference: Reference) -> bool:
        """Return whether a port is the whole of a TypedDict, whose keys are ports."""
        placed = self.block.nodes.get(reference.node)
        if reference.port != "out" or not isinstance(placed, PlacedNode):
            return False
        return isinstance(placed.type, NodeType) and placed.type.shape is Shape.KEYS

    def changed(self) -> None:
        """Mark the flow as changed since it was compiled."""
        self.wiring.version += 1

    def leave(self, reference: Reference) -> Reference:
        """Make a port of this loop's body an output of the loop: its last live value (S6.4).

        A reference to a loop variable alone would be its final value; as the only source of a merge it is
        the value at the start of the last iteration.
        """
        if reference.node == CARRY:
            return self.leave_as(Merge((reference,)), name_outside(reference))
        return self.leave_as(reference, name_outside(reference))

    def leave_as(self, source: Source, base: str) -> Reference:
        """Make a source an output of this loop, unless it is one already."""
        loop = self.loop
        assert loop is not None, "only a loop's body is left"
        if source in self.left:
            return Reference(loop.id, self.left[source])
        name = _free_name(base, loop.body.outputs)
        loop.body.outputs[name] = source
        self.left[source] = name
        self.note("outputs", name)
        self.changed()
        return Reference(loop.id, name)

    def reach(self, port: PortRef) -> Source:
        """Return the source that reads a port from this block, with outputs for the loops that it leaves."""
        home, reference = port._block, port._reference  # noqa: SLF001 - hidden from users, not from the wiring
        mine = list(self.around())
        while all(home is not block for block in mine):
            if home.parent is None:
                self.problem(PORT_OF_OTHER_FLOW(reference, flow=home.wiring.name))
                return Literally(port)  # not a constant either, so that only one problem is recorded
            reference = home.leave(reference)
            home = home.parent
        return reference


def _free_name(base: str, taken: Container[str]) -> str:
    """Return the first of `base`, `base_2`, `base_3` and so on that is not taken."""
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base}_{count}"
    return name


def name_outside(reference: Reference) -> str:
    """Name an output of a loop after the port of the body that it exports."""
    if reference.node == CARRY:
        return reference.port
    return reference.node if reference.port == "out" else f"{reference.node}_{reference.port.lstrip('$')}"


def source_of(block: OpenBlock, operand: Operand, reader: str) -> Source:
    """Convert a value given for a port to a source as seen from the block; record problems."""
    if isinstance(operand, PortRef):
        return block.reach(operand)
    if isinstance(operand, Literally):
        _check_constant(block, operand.value, reader)
        return operand
    if operand._name == "each":  # noqa: SLF001 - as above
        _check_item(block, operand, reader)
    parts = tuple(source_of(block, part, reader) for part in operand._operands)  # noqa: SLF001 - as above
    return operand._build(parts)  # noqa: SLF001 - as above


def _check_item(block: OpenBlock, item: Expression, reader: str) -> None:
    """Refuse to read one item in two blocks, where it would silently be two maps."""
    if item._home is None:  # noqa: SLF001 - as above
        item._home = block  # noqa: SLF001 - as above
    elif item._home is not block:  # noqa: SLF001 - as above
        block.problem(ITEM_OF_OTHER_BLOCK(reader))


def _check_constant(block: OpenBlock, value: object, reader: str) -> None:
    if type(value) is Marker:
        block.problem(MARKER_AS_VALUE(reader, found=repr(value)))
    elif type(value) is CoroutineType:
        block.problem(COROUTINE_RETURNED(reader, called=value.__qualname__))
    elif isinstance(value, Handle):
        handle, ports = _PORTS[type(value).__name__]
        block.problem(HANDLE_AS_VALUE(reader, handle=handle, available=ports))
    elif ports_within(value):
        block.problem(PORTS_IN_CONTAINER(reader, container=type(value).__name__))


def ids_within(block: Block) -> Iterator[str]:
    """Yield the ids of a block and of the blocks inside it."""
    todo = [block]
    for inner in todo:  # grows while it is walked
        yield from inner.nodes
        todo.extend(
            placed.body for placed in inner.nodes.values() if isinstance(placed, LoopBlock | MapBlock)
        )


@dataclass(frozen=True, slots=True, eq=False)
class When(Handle, Generic[T]):
    """The two outputs of a branch: `yes` has the value if the predicate held, else `no`."""

    yes: T
    no: T


class Exits(dict[K, T]):
    """The outputs of a switch by case."""

    def __missing__(self, case: K) -> T:
        raise NameUnknown(SWITCH_CASE_UNKNOWN(case=case, available=self))


class Carry(Handle, Generic[T]):
    """A loop variable: the value that each iteration starts with, and the final value of the loop."""

    __slots__ = ("_block", "_loop", "_name")

    def __init__(self, block: OpenBlock, loop: LoopBlock, name: str) -> None:
        self._block = block
        self._loop = loop
        self._name = name

    @property
    def out(self) -> T:
        """The value in the current iteration; read it inside the loop."""
        port: Any = PortRef(self._block, Reference(CARRY, self._name))
        value: T = port
        return value

    @property
    def final(self) -> T:
        """The value tested last; read it outside the loop."""
        reference = self._block.leave_as(Reference(CARRY, self._name), self._name)
        assert self._block.parent is not None, "a loop's body is inside a block"
        port: Any = PortRef(self._block.parent, reference)
        value: T = port
        return value

    def next(self, value: T) -> None:
        """Set the value that the next iteration starts with; a loop variable takes one next value."""
        carried = self._loop.carries[self._name]
        where = f"{self._loop.id}.carry.{self._name}.next"
        if carried.next is not None:
            self._block.problem(GIVEN_TWICE(where, what="the next value"))
        self._block.changed()
        carried.next = source_of(self._block, literally(value), where)
        self._block.note("carry", self._name, "next")


class Loop(Handle):
    """A loop under construction, as returned by `Flow.loop`.

    It has one test, `until` or `while_`, or none.
    """

    __slots__ = ("_block", "_loop")

    def __init__(self, block: OpenBlock, loop: LoopBlock) -> None:
        self._block = block
        self._loop = loop

    def carry(self, initial: T) -> Carry[T]:
        """Add a loop variable with this initial value: a port from outside, or a constant."""
        name = self._block.new_carry()
        where = f"{self._loop.id}.carry.{name}"
        self._block.note("carry", name)
        assert self._block.parent is not None, "a loop's body is inside a block"
        home = initial._block if isinstance(initial, PortRef) else None  # noqa: SLF001 - as in blocks
        if home is not None and any(outer is self._block for outer in home.around()):
            self._block.problem(CARRY_FROM_INSIDE(where, port=repr(initial)))
            self._loop.carries[name] = Carried(Literally(None))
            return Carry(self._block, self._loop, name)
        first = source_of(self._block.parent, literally(initial), where)
        self._loop.carries[name] = Carried(first)
        self._block.changed()
        return Carry(self._block, self._loop, name)

    def until(self, value: T, predicate: Callable[[T], bool]) -> None:
        """End the loop after the iteration in which the predicate holds for the value, a port of the body.

        The predicate is a plain function that returns a bool. Nodes that only next values need do not run
        in the last iteration.
        """
        self._test("until", value, predicate)

    def while_(self, value: T, predicate: Callable[[T], bool]) -> None:
        """Start an iteration only if the predicate holds for the loop variable that it would start with.

        The predicate is a plain function that returns a bool.
        """
        self._test("while", value, predicate)

    def result(self, value: T) -> T:
        """Read a port of the body outside: its last live value, a skip if no iteration had one."""
        source = source_of(self._block, literally(value), f"{self._loop.id}.result")
        assert self._block.parent is not None, "a loop's body is inside a block"
        if isinstance(source, Reference):
            reference = self._block.leave(source)
        else:
            reference = self._block.leave_as(source, "result")
        port: Any = PortRef(self._block.parent, reference)
        result: T = port
        return result

    def all(self, value: T) -> list[T]:
        """List the values of a port of the body, one per iteration that has a value."""
        source = source_of(self._block, literally(value), f"{self._loop.id}.all")
        base = f"{name_outside(source)}_all" if isinstance(source, Reference) else "all"
        assert self._block.parent is not None, "a loop's body is inside a block"
        port: Any = PortRef(self._block.parent, self._block.leave_as(All(source), base))
        values: list[T] = port
        return values

    def _test(self, kind: Literal["until", "while"], value: object, predicate: Callable[[Any], bool]) -> None:
        where = f"{self._loop.id}.{kind}"
        self._block.note(kind)
        if self._loop.test is not None:
            self._block.problem(GIVEN_TWICE(where, what="the test"))
        try:
            check_function(predicate, "value")
        except ArgumentInvalid as error:
            self._block.problem(error.problem.within(where))
        self._block.changed()
        self._loop.test = LoopTest(kind, source_of(self._block, literally(value), where), predicate)
