"""Values of many kinds that have a secret, or may be given one, and what finds it in them."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import Enum, StrEnum
from types import FunctionType, ModuleType, TracebackType
from typing import Any, Final, NamedTuple, NoReturn, Self

VALUE: Final = "tok-9f-of-the-test"
MARK: Final = "[secret:TOKEN]"


class OwnDict(dict[Any, Any]):
    more: Any


class OwnList(list[Any]):
    more: Any


class OwnSet(set[Any]):
    more: Any


class OwnText(str):  # noqa: SLOT000 - it has attributes
    more: Any


class OwnBytes(bytes):
    more: Any

    def __new__(cls, *given: Any) -> Self:
        assert MARK.encode() not in given, "a copy calls nothing of the class"
        return super().__new__(cls, *given)

    def __bytes__(self) -> NoReturn:
        raise LookupError


class OwnArray(bytearray):
    more: Any


class OwnNumber(int):
    more: Any


class OwnDate(date):
    more: Any


class Pair(NamedTuple):
    first: Any
    second: Any


class OwnPair(Pair):
    more: Any


class Key(Enum):
    MAIN = VALUE
    OTHER = ("harmless", 1)
    BOXED = [VALUE]  # noqa: RUF012 - a value as any other


class Word(StrEnum):
    MAIN = VALUE
    OTHER = "harmless"


class Star(Enum):
    SUN = 1

    def __init__(self, _: int) -> None:
        self.token = [VALUE]


class OwnError(Exception):
    """Shows nothing of what it has."""

    @property
    def args(self) -> NoReturn:  # type: ignore[override]  # errors of such classes there are
        raise LookupError

    def __repr__(self) -> str:
        return "OwnError"


@dataclass(frozen=True)
class Box:
    held: Any


def having(value: Any, more: Any) -> Any:
    value.more = more
    return value


DERIVED: Final[dict[str, Callable[[], Any]]] = {
    "dict": lambda: OwnDict({"a": 1}),
    "list": lambda: OwnList([1]),
    "set": lambda: OwnSet({1}),
    "str": lambda: OwnText("a"),
    "bytes": lambda: OwnBytes(b"a"),
    "bytearray": lambda: OwnArray(b"a"),
    "tuple": lambda: OwnPair(1, 2),
}


def noted(note: str) -> Exception:
    error = ValueError("harmless")
    error.add_note(note)
    return error


def caused(*, is_hidden: bool = False) -> Exception:
    try:
        try:
            raise LookupError(VALUE)
        except LookupError as cause:
            raise ValueError("harmless") from (None if is_hidden else cause)
    except ValueError as error:
        return error


def secrets_within(value: object) -> list[object]:
    """Find what has the secret with the eyes of Python's own collector, which sees more than fields."""
    found: list[object] = []
    seen: dict[int, object] = {}
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type | FunctionType | ModuleType | TracebackType):
            continue
        seen[id(one)] = one
        if isinstance(one, str):
            found += [one] if VALUE in one else []
        elif isinstance(one, bytes | bytearray | memoryview):
            found += [one] if VALUE.encode() in b"".join([one]) else []
        waiting += gc.get_referents(one)
    return found
