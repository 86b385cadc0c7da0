"""Node types that pass their value on after a delay or with a log record, or fail."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterable, Iterator
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from itertools import islice
from pathlib import PurePath
from typing import Annotated, Any, Final, Literal, NoReturn, TypeVar
from uuid import UUID

import anyio
from pydantic import AfterValidator, BaseModel, Field

from dataflow import DataflowError, SecretFilter, Template, this_firing
from dataflow_control.config import StrictConfig, only_names
from dataflow_control.limits import plain_text

__all__ = ["Delay", "Fail", "FailedOnPurpose", "Log", "delay", "fail", "log"]

T = TypeVar("T")

LOG: Final = logging.getLogger("dataflow.control")
LOG.addFilter(SecretFilter())
#: The most characters of a line.
LONGEST: Final = 500
#: The most bits of an integer, and digits of a Decimal, that are written in full.
MOST_BITS: Final = 1_024
MOST_DIGITS: Final = 300
#: The depth to which lists and mappings are written, and the most items of a set, which are sorted.
MOST_DEPTH: Final = 8
MOST_OF_SET: Final = 20
REST: Final = "..."

Message = Annotated[Template, AfterValidator(only_names("value"))]


class FailedOnPurpose(DataflowError):
    """Raised by `control.fail`, with the message of its config."""


class Delay(StrictConfig):
    """Config of `control.delay`."""

    seconds: float = Field(ge=0, allow_inf_nan=False, description="how long to wait, in seconds")


class Log(StrictConfig):
    """Config of `control.log`."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="how much the record matters"
    )
    message: Message | None = Field(
        default=None, description="a template over `value`; without one the value itself is logged"
    )


class Fail(StrictConfig):
    """Config of `control.fail`."""

    message: Message = Field(description="a template over `value`: the message of the failure")


async def delay(value: T, config: Delay) -> T:
    """Wait, then pass the value on. Cancelling the run ends the wait."""
    await anyio.sleep(config.seconds)
    return value


async def log(value: T, config: Log = Log()) -> T:  # noqa: B008 - frozen
    """Log a value or a message with it, and pass the value on.

    The logger is `dataflow.control`; a record has the path of the firing as `path`, and is one line of at
    most 500 characters. Any value can be logged; raises ExpressionError if the message cannot be filled,
    whatever the level.
    """
    logged = value if config.message is None else config.message.fill({"value": value})
    level = logging.getLevelNamesMapping()[config.level.upper()]
    LOG.log(level, "%s", log_line(logged), extra={"path": this_firing().path})
    return value


async def fail(config: Fail, value: Any = None) -> NoReturn:
    """Fail with the message of the config.

    Wired to an exit of a branch it fails only if that exit is taken. Raises FailedOnPurpose.
    """
    raise FailedOnPurpose(config.message.fill({"value": value}))


def log_line(value: object) -> str:
    """Format a value on one line, a string unchanged, cut to `LONGEST` characters. Never raises."""
    try:
        return _joined(iter((plain_text(value),)) if isinstance(value, str) else _written(value, 0))
    except Exception as error:  # noqa: BLE001 - a user class may raise anything, and logging continues
        return f"<a value that raised {type(error).__name__}>"


def _joined(pieces: Iterator[str]) -> str:
    """Join pieces up to the limit; line breaks and control characters are escaped."""
    line = ""
    for piece in pieces:
        for character in piece[: LONGEST + 1]:
            line += character if character.isprintable() else character.encode("unicode_escape").decode()
        if len(line) > LONGEST:
            return line[: LONGEST - len(REST)] + REST
    return line


def _written(value: Any, depth: int) -> Iterator[str]:
    """Yield the pieces of a value as `repr` writes it, lazily."""
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
    """Yield the items of a container, the declared fields of another class, or the name of the class."""
    name = type(value).__name__
    match value:
        case list():
            return _row("[", (_written(item, depth) for item in list.__iter__(value)), "]")
        case tuple() if not hasattr(value, "_fields"):
            return _row("(", (_written(item, depth) for item in tuple.__iter__(value)), _end(value))
        case dict():
            return _row("{", (_pair(key, item, depth) for key, item in dict.items(value)), "}")
        case set() | frozenset():
            inner = max(depth, MOST_DEPTH - 1)  # all are written before the first is used, so not deep
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
    """Return the fields in the `repr` of a NamedTuple, a dataclass or a pydantic model, else None."""
    kind = type(value)
    if isinstance(value, tuple):
        return tuple(kind._fields)
    if isinstance(value, BaseModel):
        return [name for name, field in kind.model_fields.items() if field.repr]
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind) if field.repr]
    return None
