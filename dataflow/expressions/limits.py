"""The bounds of expressions, and telling in a message what a value is (S16.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple, TypeGuard, assert_never

from dataflow.base.wording import MOST_CHOICES, choices, shortened

__all__ = [
    "LONGEST",
    "MOST_BITS",
    "MOST_QUOTED",
    "Evaluation",
    "Refused",
    "boolean",
    "checked_number",
    "described",
    "is_number",
    "items_of",
    "length",
    "listed",
    "reading_steps",
    "short",
    "steps_of_items",
]

#: The characters of a text that an expression makes, and the items of a list.
LONGEST: Final = 1_000_000
#: The characters and items that one evaluation makes or compares, also on the way.
MOST_STEPS: Final = 10 * LONGEST
#: The bits of an integer, which are about 1,200 digits.
MOST_BITS: Final = 4_096
#: How many characters of a text a message quotes.
MOST_QUOTED: Final = 60


class Size(NamedTuple):
    """How a kind of value is measured, and how much of it is gone through in one step."""

    of: Callable[[Any], int]
    at_once: int


#: The kinds of values that can be long; of an integer as many bits are gone through as ten bytes have.
SIZES: Final[Mapping[type, Size]] = {
    str: Size(str.__len__, 10),
    bytes: Size(bytes.__len__, 10),
    int: Size(int.bit_length, 80),
}


class Refused(Exception):
    """Raised for what an expression cannot do; whoever has its source makes an ExpressionError of it."""


@dataclass(slots=True)
class Evaluation:
    """One evaluation: the values of the names, and how many steps it may still take."""

    names: Mapping[str, Any]
    left: int = MOST_STEPS

    @property
    def taken(self) -> int:
        """The steps that were taken."""
        return MOST_STEPS - self.left

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
        self.make(sum(map(str.__len__, texts)))
        return "".join(texts)


def length(value: str | list[Any] | tuple[Any, ...] | dict[Any, Any]) -> int:
    """Count what is really there: a class of its own may say anything."""
    match value:
        case str():
            return str.__len__(value)
        case list():
            return list.__len__(value)
        case tuple():
            return tuple.__len__(value)
        case dict():
            return dict.__len__(value)
        case _:
            assert_never(value)


def items_of(value: list[Any] | tuple[Any, ...]) -> list[Any] | tuple[Any, ...]:
    """Take the items that are really there."""
    if isinstance(value, list):
        return list.copy(value)
    return tuple.__getitem__(value, slice(None))


def reading_steps(*values: object) -> int:
    """Count the steps of going through the shortest of some texts, bytes or integers once."""
    return 1 + min(map(_steps_of_one, values))


def _steps_of_one(value: object) -> int:
    size = _size_of(type(value))
    return int(size.of(value)) // size.at_once if size is not None else 0


def steps_of_items(container: list[Any] | tuple[Any, ...] | dict[Any, Any]) -> int:
    """Count the steps of going through all items of a container once, but not through what is in them."""
    items = [*dict.keys(container), *dict.values(container)] if isinstance(container, dict) else container
    kinds = set(map(type, items))
    steps = length(container)
    for kind in kinds:
        size = _size_of(kind)
        if size is not None:
            those = items if len(kinds) == 1 else [item for item in items if type(item) is kind]
            steps += sum(map(size.of, those)) // size.at_once
    return steps


def _size_of(kind: type) -> Size | None:
    if kind in SIZES:
        return SIZES[kind]
    return next((SIZES[base] for base in SIZES if issubclass(kind, base)), None)


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
    """Quote a text, of a long one the ends."""
    return repr(shortened(text, MOST_QUOTED))


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
