"""The bounds of expressions, and telling in a message what a value is (S16.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeGuard

from dataflow.errors import MOST_CHOICES, choices

__all__ = [
    "LONGEST",
    "MOST_BITS",
    "Evaluation",
    "Refused",
    "boolean",
    "checked_number",
    "described",
    "is_number",
    "listed",
    "short",
]

#: The characters of a text that an expression makes, and the items of a list.
LONGEST: Final = 1_000_000
#: The characters and items that one evaluation makes or compares, also on the way.
MOST_STEPS: Final = 10 * LONGEST
#: The bits of an integer, which are about 1,200 digits.
MOST_BITS: Final = 4_096


class Refused(Exception):
    """Raised for what an expression cannot do; whoever has its source makes an ExpressionError of it."""


@dataclass(slots=True)
class Evaluation:
    """One evaluation: the values of the names, and how many steps it may still take."""

    names: Mapping[str, Any]
    left: int = MOST_STEPS

    def make(self, size: int) -> None:
        """Count a text or list that is about to be made."""
        if size > LONGEST:
            raise Refused(f"makes too much: a text or list has at most {LONGEST:,} characters or items")
        self.spend(size)

    def spend(self, steps: int) -> None:
        """Count steps of work, as many as there are characters or items."""
        self.left -= steps
        if self.left < 0:
            raise Refused(
                f"takes too much: at most {MOST_STEPS:,} characters and items are made and compared"
            )

    def join(self, texts: Sequence[str]) -> str:
        """Put texts one after the other."""
        self.make(sum(map(len, texts)))
        return "".join(texts)


def described(value: object) -> str:
    """Say what a value is, shortly."""
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text {short(value)}"
        case int() | float():
            is_long = isinstance(value, int) and value.bit_length() > 64
            return "a long number" if is_long else f"the number {value}"
        case Mapping():
            return "a mapping"
        case list() | tuple() if not hasattr(value, "_fields"):
            return "a list"
        case _:
            return f"a value of type {type(value).__name__}"


def listed(names: Iterable[object]) -> str:
    """List names that are texts, as far as a message has room."""
    texts = (short(name)[1:-1] for name in names if isinstance(name, str))
    shown = list(islice(texts, MOST_CHOICES + 1))
    return choices(shown[:MOST_CHOICES]) + (" and more" if len(shown) > MOST_CHOICES else "")


def short(text: str) -> str:
    """Quote the begin of a text."""
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def boolean(value: object) -> bool:
    """Return the value if it is a boolean; nothing else is one (S16.3)."""
    if not isinstance(value, bool):
        raise Refused(f"expected a boolean, found {described(value)}")
    return value


def is_number(value: object) -> TypeGuard[int | float]:
    """Tell whether a value is a number, which a boolean is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def checked_number(value: object) -> Any:
    """Return an integer or float that is not too large."""
    if not is_number(value):
        raise Refused(f"expected a number, found {described(value)}")
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise Refused(f"an integer is too large: at most {MOST_BITS:,} bits")
    return value
