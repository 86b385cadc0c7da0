"""Write configs and constants as canonical text, the same in every process, for comparison."""

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

__all__ = ["NO_NAMES", "canonical_text"]

#: Types whose repr is complete and unique.
PLAIN: Final = (
    type(None), bool, int, float, complex, bytes, bytearray, Decimal, Fraction, PurePath, UUID, date, time,
    timedelta, timezone, range, type(...),
)  # fmt: skip
#: For names that are kept unchanged.
NO_NAMES: Final[Mapping[str, str]] = MappingProxyType({})


class _Text(str):
    """A string that is written unchanged."""

    __slots__ = ()


class _Closed:
    """Marks the end of a container in the work list."""

    __slots__ = ("container",)

    def __init__(self, container: int) -> None:
        self.container = container


def canonical_text(
    value: object, functions: list[object] | None = None, names: Mapping[str, str] = NO_NAMES
) -> str:
    """Write a value with the types of all its parts; dicts and sets in an order that does not vary.

    A function is written by its name, and added to `functions`. Of other values without fields, items or
    members only the type is written, so two such values of one type have equal text.
    Unlike the codec this accepts any value. `names` replaces some names of types and functions, for example
    by former ones.
    """
    if type(value) is str:  # as most are
        return json.dumps(names.get(value, value))
    pieces: list[str] = []
    todo: list[Any] = [value]
    within = set[int]()  # the containers that are being written
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
            pieces.append(_without_parts(one, functions, names))
    return "".join(pieces)


def _parts(one: object, functions: list[object] | None, names: Mapping[str, str]) -> list[Any] | None:
    """List the parts of a value, with the text between them; None for a value without parts."""
    match one:
        case Enum() | type():
            return None
        case BaseModel():
            return _pairs(_written_fields(one), functions, names)
        case Mapping():
            return _pairs(one, functions, names)
        case AbstractSet():  # of hashable items, which are never deep
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


def _written_fields(model: BaseModel) -> dict[str, object]:
    """Return the fields of a model without those that its documents leave out (`exclude_if`)."""
    found = {name: (info.exclude_if, getattr(model, name)) for name, info in type(model).model_fields.items()}
    return {
        name: value for name, (leaves_out, value) in found.items() if not (leaves_out and leaves_out(value))
    }


def _pairs(
    found: Mapping[Any, object], functions: list[object] | None, names: Mapping[str, str]
) -> list[Any]:
    keys = sorted((canonical_text(key, functions, names), number) for number, key in enumerate(found))
    values = list(found.values())
    return [part for key, number in keys for part in (_Text(f"{key}: "), values[number], _Text(", "))]


def _without_parts(one: object, functions: list[object] | None, names: Mapping[str, str]) -> str:
    """Write a function, a member of an enum, a secret or a type by its name, anything else by its type."""
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
    """Add the name of the type if it does not follow from the text."""
    return text if type(one) in PLAIN else f"{_type_name(one, names)} {text}"


def _type_name(one: object, names: Mapping[str, str]) -> str:
    found = type(one)
    return found.__qualname__ if found.__module__ == "builtins" else _name(found, names)


def _name(kind: type, names: Mapping[str, str]) -> str:
    name = public_name(kind)
    return names.get(name, name)
