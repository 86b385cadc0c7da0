"""Told values: configs and constants as text that is the same in every process, to be compared."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

from pydantic import BaseModel

from dataflow.core.public_names import public_name
from dataflow.core.signature import qualified_id
from dataflow.secrets.secret import Secret

__all__ = ["canonical_text"]

#: What says all of itself in its repr, in one way.
PLAIN: Final = (
    type(None), bool, int, float, complex, bytes, bytearray, Decimal, Fraction, PurePath, UUID, date, time,
    timedelta, timezone, range, type(...),
)  # fmt: skip


class _Text(str):
    """What stands in the text as it is."""

    __slots__ = ()


class _Closed:
    """Notes that a container has been told to its end."""

    __slots__ = ("container",)

    def __init__(self, container: int) -> None:
        self.container = container


#: Stands for names as they are.
NO_NAMES: Final[Mapping[str, str]] = MappingProxyType({})


def canonical_text(
    value: object, functions: list[object] | None = None, names: Mapping[str, str] = NO_NAMES
) -> str:
    """Tell a value with the types of all its parts; dicts and sets in an order that is always the same.

    A function is told by its name, and is added to `functions`. Of what is neither of these, nor has fields,
    items or members, only the type is told. Unlike the codec this takes any value, and never refuses one.
    `names` are others for some types and functions, as former ones.
    """
    if type(value) is str:  # as most are
        return json.dumps(names.get(value, value))
    pieces: list[str] = []
    todo: list[Any] = [value]
    within = set[int]()  # the containers that are being told
    while todo:
        one = todo.pop()
        if isinstance(one, _Text):
            pieces.append(one)
        elif isinstance(one, _Closed):
            within.discard(one.container)
        elif isinstance(one, str) and not isinstance(one, Enum):
            pieces.append(json.dumps(names.get(one, one)))
        elif isinstance(one, PLAIN) and not isinstance(one, Enum):
            pieces.append(_named(one, repr(one), names))
        elif id(one) in within:
            pieces.append("<itself>")
        elif (parts := _parts(one, functions, names)) is not None:
            within.add(id(one))
            todo.append(_Closed(id(one)))
            todo.extend(reversed([_Text(f"{_type_name(one, names)}("), *parts, _Text(")")]))
        else:
            pieces.append(_told_alone(one, functions, names))
    return "".join(pieces)


def _parts(one: object, functions: list[object] | None, names: Mapping[str, str]) -> list[Any] | None:
    """List the parts of a value, with the text between them; None for a value that has none."""
    match one:
        case Enum() | type():
            return None
        case BaseModel():
            return _pairs({name: getattr(one, name) for name in type(one).model_fields}, functions, names)
        case Mapping():
            return _pairs(one, functions, names)
        case AbstractSet():  # of what has a hash, which is never deep
            return [
                _Text(f"{text}, ") for text in sorted(canonical_text(part, functions, names) for part in one)
            ]
        case Sequence():
            return [part for item in one for part in (item, _Text(", "))]
        case _ if dataclasses.is_dataclass(one):
            fields = [field.name for field in dataclasses.fields(one) if field.compare]
            return _pairs({name: getattr(one, name) for name in fields}, functions, names)
        case _:
            return None


def _pairs(
    found: Mapping[Any, object], functions: list[object] | None, names: Mapping[str, str]
) -> list[Any]:
    told = sorted((canonical_text(key, functions, names), number) for number, key in enumerate(found))
    values = list(found.values())
    return [part for key, number in told for part in (_Text(f"{key}: "), values[number], _Text(", "))]


def _told_alone(one: object, functions: list[object] | None, names: Mapping[str, str]) -> str:
    """Tell a function, an enum's member, a secret or a type by its name, anything else by its type."""
    if isinstance(one, Enum):
        return f"{_type_name(one, names)}.{one.name}"
    if isinstance(one, Secret):
        return f"secret {one.name}"
    if isinstance(one, type):
        return f"type {_name(one, names)}"
    if callable(one):
        if functions is not None:
            functions.append(one)
        name = qualified_id(one)
        return f"function {names.get(name, name)}"
    return _type_name(one, names)


def _named(one: object, text: str, names: Mapping[str, str]) -> str:
    """Name the type too where the text alone does not tell it."""
    return text if type(one) in PLAIN else f"{_type_name(one, names)} {text}"


def _type_name(one: object, names: Mapping[str, str]) -> str:
    found = type(one)
    return found.__qualname__ if found.__module__ == "builtins" else _name(found, names)


def _name(kind: type, names: Mapping[str, str]) -> str:
    name = public_name(kind)
    return names.get(name, name)
