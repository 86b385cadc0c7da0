"""Blocks while they are being wired: naming, and turning placeholders into sources."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dataflow.base.markers import Marker
from dataflow.builder.placeholders import Expression, Handle, PortRef, ports_within
from dataflow.builder.steps import Step
from dataflow.core.nodetype import NodeType
from dataflow.core.signature import Shape
from dataflow.core.wiring import (
    CARRY,
    Block,
    Literally,
    LoopBlock,
    MapBlock,
    Merge,
    PlacedNode,
    Reference,
    Source,
    Wiring,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataflow.builder.placeholders import Operand

__all__ = ["OpenBlock", "ids_within", "name_outside", "source_of"]


@dataclass(slots=True, eq=False)
class OpenBlock:
    """A block being wired: the root of a flow or the body of a loop."""

    block: Block
    wiring: Wiring
    parent: OpenBlock | None = None
    loop: LoopBlock | None = None
    within: set[str] = field(default_factory=set)  # ids of this block and of the blocks inside it
    counters: dict[str, int] = field(default_factory=dict)
    left: dict[Source, str] = field(default_factory=dict)  # what has become an output of this loop

    def around(self) -> Iterator[OpenBlock]:
        """Go outwards, beginning with this block."""
        block: OpenBlock | None = self
        while block is not None:
            yield block
            block = block.parent

    def new_id(self, base: str) -> str:
        """Take the next free id: the base itself, then with `_2`, `_3` and so on.

        An id is free if neither this block, one around it nor one inside it has it, since a document
        looks names up outwards and refuses shadowing (S1.2).
        """
        while True:
            count = self.counters[base] = self.counters.get(base, 0) + 1
            name = base if count == 1 else f"{base}_{count}"
            if self.take_id(name):
                return name

    def take_id(self, name: str) -> bool:
        """Take an id; returns False if it is taken."""
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
        """Take the next free name of a carried port."""
        taken = {name for outer in self.around() if outer.loop for name in outer.loop.carries}
        name, count = base, 1
        while name in taken:
            count += 1
            name = f"{base}_{count}"
        return name

    def problem(self, text: str) -> None:
        self.wiring.problems.append(text)

    def has_keys(self, reference: Reference) -> bool:
        """Tell whether a port is the whole of a TypedDict, whose keys are ports."""
        placed = self.block.nodes.get(reference.node)
        if reference.port != "out" or not isinstance(placed, PlacedNode):
            return False
        return isinstance(placed.type, NodeType) and placed.type.shape is Shape.KEYS

    def changed(self) -> None:
        """Note that the flow is no longer what was compiled."""
        self.wiring.version += 1

    def leave(self, reference: Reference) -> Reference:
        """Make a port of this loop's body an output of the loop: its last live value (S6.4).

        Named alone, a carried port would be its final; as the one source of a merge it is what the last
        round began with.
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
        name, count = base, 1
        while name in loop.body.outputs:
            count += 1
            name = f"{base}_{count}"
        loop.body.outputs[name] = source
        self.left[source] = name
        self.changed()
        return Reference(loop.id, name)

    def reach(self, port: PortRef) -> Source:
        """Name a port so that it can be read in this block, leaving the loops it is inside of."""
        home, reference = port._block, port._reference  # noqa: SLF001 - hidden from users, not from the wiring
        mine = list(self.around())
        while all(home is not block for block in mine):
            if home.parent is None:
                self.problem(
                    f"port '{reference}' belongs to flow {home.wiring.name!r}, not to this one; "
                    "make it an input of this flow"
                )
                return Literally(port)  # no constant either; told once
            reference = home.leave(reference)
            home = home.parent
        return reference


def name_outside(reference: Reference) -> str:
    """Name an output of a loop after the port of its body that it is."""
    if reference.node == CARRY:
        return reference.port
    return reference.node if reference.port == "out" else f"{reference.node}_{reference.port.lstrip('$')}"


def source_of(block: OpenBlock, operand: Operand, reader: str) -> Source:
    """Turn what was given for a port into a source, as seen from the block; problems are recorded."""
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
    """Go through the ids of a block and of the blocks inside it."""
    todo = [block]
    for inner in todo:  # grows while it is walked
        yield from inner.nodes
        todo.extend(
            placed.body for placed in inner.nodes.values() if isinstance(placed, LoopBlock | MapBlock)
        )
