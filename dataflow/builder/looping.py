"""What wiring hands back: branches and loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from dataflow.base.wording import choices
from dataflow.builder.blocks import OpenBlock, name_outside, source_of
from dataflow.builder.placeholders import Handle, PortRef, literally
from dataflow.core.functions import check_function
from dataflow.core.wiring import CARRY, All, Carried, Literally, LoopBlock, LoopTest, Reference

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal


__all__ = ["Carry", "Exits", "Loop", "When"]

K = TypeVar("K")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class When(Handle, Generic[T]):
    """The two exits of a branch: `yes` has the value if the predicate held, else `no` (S5)."""

    yes: T
    no: T


class Exits(dict[K, T]):
    """The exits of a switch by case."""

    def __missing__(self, case: K) -> T:
        raise KeyError(f"the switch has no case {case!r}; {choices([str(known) for known in self])}")


class Carry(Handle, Generic[T]):
    """A carried port: what each round begins with, and what the loop ended with."""

    __slots__ = ("_block", "_loop", "_name")

    def __init__(self, block: OpenBlock, loop: LoopBlock, name: str) -> None:
        self._block = block
        self._loop = loop
        self._name = name

    @property
    def out(self) -> T:
        """The value in the current round; read it inside the loop."""
        port: Any = PortRef(self._block, Reference(CARRY, self._name))
        value: T = port
        return value

    @property
    def final(self) -> T:
        """The value tested last (S6.1); read it outside the loop."""
        reference = self._block.leave_as(Reference(CARRY, self._name), self._name)
        assert self._block.parent is not None, "a loop's body is inside a block"
        port: Any = PortRef(self._block.parent, reference)
        value: T = port
        return value

    def next(self, value: T) -> None:
        """Say what the next round begins with; a carried port takes one next value."""
        carried = self._loop.carries[self._name]
        where = f"next value of '$carry.{self._name}' of loop {self._loop.id!r}"
        if carried.next is not None:
            self._block.problem(f"{where} is given twice")
        self._block.changed()
        carried.next = source_of(self._block, literally(value), where)


class Loop(Handle):
    """A loop being wired, as `Flow.loop` gives it (S6.1); it has one test, `until` or `while_`, or none."""

    __slots__ = ("_block", "_loop")

    def __init__(self, block: OpenBlock, loop: LoopBlock) -> None:
        self._block = block
        self._loop = loop

    def carry(self, initial: T) -> Carry[T]:
        """Carry a value from round to round, beginning with this one: a port from outside, or a constant."""
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
        """End the loop after the round in which the predicate holds of the value, a port of the body.

        The predicate is a plain function that gives a bool. What only next values need does not run in the
        last round.
        """
        self._test("until", value, predicate)

    def while_(self, value: T, predicate: Callable[[T], bool]) -> None:
        """Begin a round only if the predicate holds of the carried value it would begin with.

        The predicate is a plain function that gives a bool.
        """
        self._test("while", value, predicate)

    def result(self, value: T) -> T:
        """Read a port of the body outside: its last live value, a skip if no round gave one (S6.1)."""
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
        """List the values of a port of the body, one a round; a round without a value adds none (S6.4)."""
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
