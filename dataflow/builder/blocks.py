"""Open blocks of a flow under construction: the root of the flow and the bodies of loops."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from dataflow.base.markers import Marker
from dataflow.base.wording import choices
from dataflow.builder.sources import Expression, Handle, PortRef, Step, literally, ports_within
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

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator
    from typing import Literal

    from dataflow.builder.sources import Operand
    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = ["Carry", "Exits", "Loop", "OpenBlock", "When", "ids_within", "source_of"]

K = TypeVar("K")
T = TypeVar("T")


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

    def problem(self, problem: Diagnostic | str) -> None:
        self.wiring.problems.append(problem)

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
        self.changed()
        return Reference(loop.id, name)

    def reach(self, port: PortRef) -> Source:
        """Return the source that reads a port from this block, with outputs for the loops that it leaves."""
        home, reference = port._block, port._reference  # noqa: SLF001 - hidden from users, not from the wiring
        mine = list(self.around())
        while all(home is not block for block in mine):
            if home.parent is None:
                self.problem(
                    f"port '{reference}' belongs to flow {home.wiring.name!r}, not to this one; "
                    "make it an input of this flow"
                )
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
        block.problem(
            f"{reader} reads the item of a map that is opened in another block; carry it into the loop, "
            "or call each(...) again to open a map in this block"
        )


def _check_constant(block: OpenBlock, value: object, reader: str) -> None:
    if type(value) is Marker:
        block.problem(f"{reader} is given {value!r}, which is no value")
    elif isinstance(value, Step):
        block.problem(f"{reader} is given a step; wire one of its ports: step.out, step.done or step.error")
    elif isinstance(value, Handle):
        kind = type(value).__name__.lower()
        block.problem(f"{reader} is given a {kind}, which is no port; wire one of its ports")
    elif ports_within(value):
        kind = type(value).__name__
        block.problem(f"{reader} is given a {kind} with ports in it; write gather(...) for a list of values")


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
        raise KeyError(f"the switch has no case {case!r}; {choices([str(known) for known in self])}")


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
        where = f"next value of '$carry.{self._name}' of loop {self._loop.id!r}"
        if carried.next is not None:
            self._block.problem(f"{where} is given twice")
        self._block.changed()
        carried.next = source_of(self._block, literally(value), where)


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
        assert self._block.parent is not None, "a loop's body is inside a block"
        home = initial._block if isinstance(initial, PortRef) else None  # noqa: SLF001 - as in blocks
        if home is not None and any(outer is self._block for outer in home.around()):
            self._block.problem(
                f"'$carry.{name}' of loop {self._loop.id!r} begins with {initial!r}, which is inside the "
                "loop; add that node before the loop"
            )
            self._loop.carries[name] = Carried(Literally(None))
            return Carry(self._block, self._loop, name)
        first = source_of(
            self._block.parent, literally(initial), f"'$carry.{name}' of loop {self._loop.id!r}"
        )
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
        source = source_of(self._block, literally(value), f"result of loop {self._loop.id!r}")
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
        source = source_of(self._block, literally(value), f"all of loop {self._loop.id!r}")
        base = f"{name_outside(source)}_all" if isinstance(source, Reference) else "all"
        assert self._block.parent is not None, "a loop's body is inside a block"
        port: Any = PortRef(self._block.parent, self._block.leave_as(All(source), base))
        values: list[T] = port
        return values

    def _test(self, kind: Literal["until", "while"], value: object, predicate: Callable[[Any], bool]) -> None:
        where = f"the test of loop {self._loop.id!r}"
        if self._loop.test is not None:
            self._block.problem(f"{where} is given twice; a loop has one `until` or `while_`")
        try:
            check_function(predicate, "value")
        except ValueError as error:
            self._block.problem(f"{where}: {error}")
        self._block.changed()
        self._loop.test = LoopTest(kind, source_of(self._block, literally(value), where), predicate)
