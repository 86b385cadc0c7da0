"""What `sort_list` and `unique_list` compare: numbers, texts, booleans and null, each with its own kind."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, NamedTuple

from anyio.lowlevel import checkpoint

from dataflow_control.limits import Work, plain_text

__all__ = ["Key", "Kind", "described", "key_of", "ordered"]

#: The characters that are compared in one step, and the bits.
CHARACTERS_A_STEP: Final = 10
BITS_A_STEP: Final = 100
#: The items that are sorted at once.
PIECE: Final = 1_000


class Kind(Enum):
    """The kinds of what is compared, as messages call them."""

    BOOLEAN = "a boolean"
    NUMBER = "a number"
    TEXT = "a text"
    NULL = "null"


class Key(NamedTuple):
    """What is compared of one item: of a class of its own the plain value that is in it."""

    kind: Kind
    value: Any

    @property
    def steps(self) -> int:
        """The steps that comparing it once takes at most."""
        match self.value:
            case str(text):
                return 1 + len(text) // CHARACTERS_A_STEP
            case int(number):
                return 1 + number.bit_length() // BITS_A_STEP
            case _:
                return 1

    @property
    def identity(self) -> tuple[Kind, object]:
        """What equal keys share, and others do not.

        Numbers stand there as texts: they can be chosen so that their hashes are equal, which makes each look
        into a dictionary as long as the dictionary is.
        """
        if self.kind is not Kind.NUMBER:
            return self.kind, self.value
        if isinstance(self.value, float) and not self.value.is_integer():
            return self.kind, self.value.hex()
        return self.kind, hex(int(self.value))


def key_of(value: object) -> Key | None:
    """Return what is compared of a value; None for nan, which equals nothing, and for other classes."""
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
    """Say what it is that cannot be compared."""
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
    """Return the positions of the keys, which are of one kind, in their order; equal ones keep theirs.

    Sorted piece by piece, then two neighbours at a time, which Python merges as they are sorted already: each
    step is short, so others get their turns.
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
