"""Any value on one short line of a log, in bounded work whatever the value is."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from itertools import islice
from pathlib import PurePath
from typing import Any, Final
from uuid import UUID

from pydantic import BaseModel

from dataflow_control.limits import plain_text

__all__ = ["LONGEST", "on_one_line"]

#: The characters of a line.
LONGEST: Final = 500
#: The bits of an integer that is written out, and the digits of a Decimal.
MOST_BITS: Final = 1_024
MOST_DIGITS: Final = 300
#: How deep lists and mappings are written out, and how much of a set, whose order is to be always the same.
MOST_DEPTH: Final = 8
MOST_OF_SET: Final = 20
REST: Final = "..."


def on_one_line(value: object) -> str:
    """Write a value on one line, a text as it is; what has no room is left out. Never raises."""
    try:
        return _joined(iter((plain_text(value),)) if isinstance(value, str) else _written(value, 0))
    except Exception as error:  # noqa: BLE001 - a class of a user may do anything, and logging is to go on
        return f"<a value that raised {type(error).__name__}>"


def _joined(pieces: Iterator[str]) -> str:
    """Put pieces together as far as there is room; what breaks a line or steers a terminal is an escape."""
    line = ""
    for piece in pieces:
        for character in piece[: LONGEST + 1]:
            line += character if character.isprintable() else character.encode("unicode_escape").decode()
        if len(line) > LONGEST:
            return line[: LONGEST - len(REST)] + REST
    return line


def _written(value: Any, depth: int) -> Iterator[str]:
    """Write a value piece by piece, as `repr` does, which would write all of it."""
    match value:
        case Enum():
            yield f"{type(value).__name__}.{value.name}"
        case None | bool() | float() | complex():
            yield repr(value)
        case int():
            number = int.__index__(value)
            yield str(number) if number.bit_length() <= MOST_BITS else "<a long integer>"
        case str():
            yield repr(plain_text(value)[: LONGEST + 1])
        case bytes():
            yield repr(bytes.__getitem__(value, slice(LONGEST + 1)))
        case Decimal():
            yield str(value) if len(value.as_tuple().digits) <= MOST_DIGITS else "<a long decimal>"
        case date() | time() | timedelta() | UUID() | PurePath():
            yield str(value)
        case _ if depth == MOST_DEPTH:
            yield REST
        case _:
            yield from _container(value, depth + 1)


def _container(value: Any, depth: int) -> Iterator[str]:
    """Write the items of a value, of another class its fields, of one without declared fields the name."""
    name = type(value).__name__
    match value:
        case list():
            return _row("[", (_written(item, depth) for item in list.__iter__(value)), "]")
        case tuple() if not hasattr(value, "_fields"):
            return _row("(", (_written(item, depth) for item in tuple.__iter__(value)), _end(value))
        case dict():
            return _row("{", (_pair(key, item, depth) for key, item in dict.items(value)), "}")
        case set() | frozenset():
            inner = max(depth, MOST_DEPTH - 1)  # they are written before one is shown, so little of each
            some = sorted(_joined(_written(item, inner)) for item in islice(value, MOST_OF_SET))
            rest = [REST] if len(value) > MOST_OF_SET else []
            return _row(f"{name}(", (iter((item,)) for item in [*some, *rest]), ")")
        case _ if (fields := _fields(value)) is not None:
            return _row(f"{name}(", (_field(value, field, depth) for field in fields), ")")
        case _:
            return iter((f"<{name}>",))


def _end(row: tuple[Any, ...]) -> str:
    return ",)" if tuple.__len__(row) == 1 else ")"


def _row(begin: str, items: Iterable[Iterator[str]], end: str) -> Iterator[str]:
    yield begin
    for position, item in enumerate(items):
        if position:
            yield ", "
        yield from item
    yield end


def _pair(key: object, item: object, depth: int) -> Iterator[str]:
    yield from _written(key, depth)
    yield ": "
    yield from _written(item, depth)


def _field(value: object, name: str, depth: int) -> Iterator[str]:
    yield f"{name}="
    yield from _written(getattr(value, name), depth)


def _fields(value: Any) -> Iterable[str] | None:
    """Name the fields that a NamedTuple, a dataclass or a pydantic model shows of itself."""
    kind = type(value)
    if isinstance(value, tuple):
        return tuple(kind._fields)
    if isinstance(value, BaseModel):
        return [name for name, field in kind.model_fields.items() if field.repr]
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind) if field.repr]
    return None
