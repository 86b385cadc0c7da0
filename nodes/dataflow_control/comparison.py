"""Comparison keys of `sort_list` and `unique_list`: numbers, strings, booleans and null."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, NamedTuple

from anyio.lowlevel import checkpoint

from dataflow_control.limits import Work, plain_text

__all__ = ["Key", "Kind", "described", "key_of", "ordered"]

#: The characters, and the bits of a number, that one step compares.
CHARACTERS_A_STEP: Final = 10
BITS_A_STEP: Final = 100
#: The items that are sorted without giving other tasks a turn.
PIECE: Final = 1_000


class Kind(Enum):
    """The kinds of keys, as messages name them."""

    BOOLEAN = "a boolean"
    NUMBER = "a number"
    TEXT = "a string"
    NULL = "null"


class Key(NamedTuple):
    """The comparison key of one item; of a subclass of a built-in type the plain value."""

    kind: Kind
    value: Any

    @property
    def steps(self) -> int:
        """The most steps that one comparison takes."""
        match self.value:
            case str(text):
                return 1 + len(text) // CHARACTERS_A_STEP
            case int(number):
                return 1 + number.bit_length() // BITS_A_STEP
            case _:
                return 1

    @property
    def identity(self) -> tuple[Kind, object]:
        """Return a hashable value that equal keys share, and others do not.

        Numbers are represented as strings: an attacker can choose numbers with equal hashes, which makes each
        lookup in a dictionary linear.
        """
        if self.kind is not Kind.NUMBER:
            return self.kind, self.value
        if isinstance(self.value, float) and not self.value.is_integer():
            return self.kind, self.value.hex()
        return self.kind, hex(int(self.value))


def key_of(value: object) -> Key | None:
    """Return the comparison key of a value; None for nan, which equals nothing, and for other types."""
    match value:
        case None:
            return Key(Kind.NULL, None)
        case bool():
            return Key(Kind.BOOLEAN, value)
        case int():
            return Key(Kind.NUMBER, int.__index__(value))
        case float():
            number = float.__float__(value)
            return Key(Kind.NUMBER, number) if number == number else None
        case str():
            return Key(Kind.TEXT, plain_text(value))
        case _:
            return None


def described(value: object) -> str:
    """Describe a value that cannot be compared."""
    match value:
        case float():
            return "nan"
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return f"a value of type {type(value).__name__}"


async def ordered(keys: list[Key], work: Work, *, descending: bool) -> list[int]:
    """Return the positions of keys of one kind in sorted order; the sort is stable.

    Sorts piece by piece, then pairs of neighbours, which Python merges since they are sorted already: each
    step is short, and other tasks get turns between the steps.
    """
    work.spend(sum(key.steps for key in keys) * len(keys).bit_length())
    values = [key.value for key in keys]

    async def in_order(positions: list[int]) -> list[int]:
        await checkpoint()
        return sorted(positions, key=values.__getitem__, reverse=descending)

    every = range(len(keys))
    pieces = [await in_order([*every[begin : begin + PIECE]]) for begin in every[::PIECE]]
    while len(pieces) > 1:
        pairs = [pieces[number : number + 2] for number in range(0, len(pieces), 2)]
        pieces = [await in_order([position for piece in pair for position in piece]) for pair in pairs]
    return pieces[0] if pieces else []
