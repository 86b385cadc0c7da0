"""Limit the size and steps of expressions, and describe values in their messages (S16.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard, assert_never

from dataflow.base.scalars import plain_number
from dataflow.base.wording import MOST_CHOICES, shortened
from dataflow.diagnostics.expressions import (
    INTEGER_TOO_LARGE,
    OPERAND_INVALID,
    RESULT_TOO_LONG,
    TOO_MANY_STEPS,
)
from dataflow.maximums import maximum

if TYPE_CHECKING:
    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = [
    "LONGEST",
    "MOST_BITS",
    "MOST_QUOTED",
    "Evaluation",
    "Refused",
    "as_number",
    "boolean",
    "checked_number",
    "described",
    "integer_too_large",
    "is_number",
    "items_of",
    "length",
    "names_among",
    "operand_invalid",
    "reading_steps",
    "short",
    "steps_of_items",
]

#: The maximum number of characters of a string, and of items of a list, that an expression makes.
LONGEST: Final = maximum("EXPRESSION_RESULT", 1_000_000)
#: The maximum number of characters and items that one evaluation makes or compares in total.
MOST_STEPS: Final = 10 * LONGEST
#: The maximum number of bits of an integer, about 1,200 digits.
MOST_BITS: Final = 4_096
#: The maximum number of characters of a string that a message quotes.
MOST_QUOTED: Final = 60


class Size(NamedTuple):
    """How a type of values is measured, and how much of it one step covers."""

    of: Callable[[Any], int]
    at_once: int


#: The types of values that can be long; a step covers ten characters or bytes, or as many bits of an integer.
SIZES: Final[Mapping[type, Size]] = {
    str: Size(str.__len__, 10),
    bytes: Size(bytes.__len__, 10),
    int: Size(int.bit_length, 80),
}


class Refused(Exception):
    """Raised for an operation that is not allowed; becomes an ExpressionError where the source is known."""

    def __init__(self, problem: Diagnostic) -> None:
        super().__init__(problem)
        self.problem = problem


@dataclass(slots=True)
class Evaluation:
    """One evaluation: the values of the names, and the number of steps left."""

    names: Mapping[str, Any]
    left: int = MOST_STEPS

    @property
    def taken(self) -> int:
        """The number of steps taken."""
        return MOST_STEPS - self.left

    def make(self, size: int) -> None:
        """Count the steps of making a string or list, before it is made."""
        if size > LONGEST:
            raise Refused(RESULT_TOO_LONG(expected=f"at most {LONGEST:,} characters or items"))
        self.spend(size)

    def spend(self, steps: int) -> None:
        """Count steps of work, one for each character or item."""
        self.left -= steps
        if self.left < 0:
            most = f"at most {MOST_STEPS:,} characters and items, made and compared"
            raise Refused(TOO_MANY_STEPS(expected=most))

    def join(self, texts: Sequence[str]) -> str:
        """Concatenate strings."""
        self.make(sum(map(str.__len__, texts)))
        return "".join(texts)


def length(value: str | list[Any] | tuple[Any, ...] | dict[Any, Any]) -> int:
    """Return the real length, ignoring an overridden `__len__`."""
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
    """Return the real items, ignoring an overridden `__iter__`."""
    if isinstance(value, list):
        return list.copy(value)
    return tuple.__getitem__(value, slice(None))


def reading_steps(*values: object) -> int:
    """Return the steps of reading the shortest of some strings, bytes or integers once."""
    return 1 + min(map(_steps_of_one, values))


def _steps_of_one(value: object) -> int:
    size = _size_of(type(value))
    return int(size.of(value)) // size.at_once if size is not None else 0


def steps_of_items(container: list[Any] | tuple[Any, ...] | dict[Any, Any]) -> int:
    """Return the steps of reading all items of a container once, without the items of inner containers."""
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
    """Describe a value briefly."""
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the string {short(value)}"
        case int() | float():
            is_long = isinstance(value, int) and value.bit_length() > 64
            return "a long number" if is_long else f"the number {value}"
        case Mapping():
            return "a mapping"
        case list() | tuple() if not hasattr(value, "_fields"):
            return "a list"
        case _:
            return f"a value of type {type(value).__name__}"


def names_among(keys: Iterable[object]) -> list[str]:
    """Return the first keys that are strings, up to the maximum number of choices, for a message."""
    texts = (short(name)[1:-1] for name in keys if isinstance(name, str))
    return list(islice(texts, MOST_CHOICES))


def short(text: str) -> str:
    """Quote a string, shortened in the middle if it is long."""
    return repr(shortened(text, MOST_QUOTED))


def boolean(value: object) -> bool:
    """Return a value that is a boolean; refuse others, as there is no truthiness (S16.3)."""
    if not isinstance(value, bool):
        raise Refused(OPERAND_INVALID(expected="a boolean", found=described(value)))
    return value


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a number, which a boolean is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_number(value: Any) -> Any:
    """Return the number of Python that a scalar of another library is, any other value unchanged."""
    number = plain_number(value)
    return value if number is None else number


def checked_number(value: object) -> Any:
    """Return a value that is an integer or float within the limits; refuse others."""
    if not is_number(value):
        raise Refused(OPERAND_INVALID(expected="a number", found=described(value)))
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise integer_too_large()
    return value


def integer_too_large() -> Refused:
    """Return the error for an integer beyond the limit."""
    return Refused(INTEGER_TOO_LARGE(expected=f"at most {MOST_BITS:,} bits"))


def operand_invalid(operator: str, expected: str, *found: object) -> Refused:
    """Return the error for values that an operator or a function does not take."""
    return Refused(OPERAND_INVALID(operator, expected=expected, found=" and ".join(map(described, found))))
