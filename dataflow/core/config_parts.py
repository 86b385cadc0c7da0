"""Copy and check the models, dataclasses and containers within a config."""

from __future__ import annotations

import copy
import operator
import typing
from collections import deque
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel

from dataflow.base.copies import own_copy
from dataflow.types.mismatches import find_mismatch, step_into

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataflow.types.mismatches import Mismatch

__all__ = ["config_copy", "wrong_part"]


def config_copy(value: Any) -> Any:
    """Copy what a node could change in a config: containers, and models and dataclasses that are not frozen.

    A value without any is returned itself.
    """
    kind = type(value)
    if isinstance(value, BaseModel):
        return _object_copy(value, vars(value), is_frozen=bool(value.model_config.get("frozen")))
    if is_dataclass(kind):
        held = {one.name: getattr(value, one.name) for one in fields(kind) if hasattr(value, one.name)}
        return _object_copy(value, held, is_frozen=kind.__dataclass_params__.frozen)  # type: ignore[attr-defined]
    if kind is list or kind is set:
        return kind(map(config_copy, value))
    if kind is deque:
        return deque(map(config_copy, value), value.maxlen)
    if kind is dict:
        return {key: config_copy(item) for key, item in value.items()}
    if kind is tuple:
        items = tuple(map(config_copy, value))
        return value if all(map(operator.is_, items, value)) else items
    return own_copy(value)


def _object_copy(value: Any, held: dict[str, Any], *, is_frozen: bool) -> Any:
    changed = {name: made for name, item in held.items() if (made := config_copy(item)) is not item}
    if is_frozen and not changed:
        return value
    made = copy.copy(value)
    for name, item in changed.items():
        object.__setattr__(made, name, item)
    return made


def wrong_part(config: BaseModel) -> Mismatch | None:
    """Return the first value in a nested model or dataclass that its field does not take.

    The values that pydantic validated are not checked again. None for a field means that it was left out.
    """
    left: list[tuple[object, str]] = [(value, f".{name}") for name, value in vars(config).items()]
    seen: set[int] = set()
    while left:
        part, place = left.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        for name, value, hint in _unchecked(part):
            found = None if value is None else find_mismatch(value, hint)
            if found is not None:
                return found.within(f"{place}.{name}")
        left += [(item, place + step) for step, item in _parts(part)]
    return None


def _parts(value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        yield from ((step_into(key), item) for key, item in value.items())
    elif isinstance(value, list | tuple | set | frozenset | deque):
        yield from ((f"[{index}]", item) for index, item in enumerate(value))
    elif isinstance(value, BaseModel):
        yield from ((f".{name}", item) for name, item in vars(value).items())
    elif is_dataclass(value) and not isinstance(value, type):
        yield from ((f".{name}", item) for name, item, _ in _unchecked(value))


def _unchecked(value: object) -> Iterator[tuple[str, object, object]]:
    """Yield the fields of a model that have their defaults, or of a dataclass: name, value and type."""
    if isinstance(value, BaseModel):
        if value.model_config.get("validate_default"):
            return
        for name, field in type(value).model_fields.items():
            if name not in value.model_fields_set and not field.validate_default and hasattr(value, name):
                yield name, getattr(value, name), _annotated(field.annotation, field.metadata)
    elif is_dataclass(value) and not isinstance(value, type):
        hints = _hints(type(value))
        for one in fields(value):
            if hasattr(value, one.name):
                yield one.name, getattr(value, one.name), hints.get(one.name, Any)


def _annotated(hint: Any, metadata: list[Any]) -> Any:
    return Annotated[(hint, *metadata)] if metadata else hint


def _hints(kind: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(kind, include_extras=True)
    except Exception:  # noqa: BLE001 - a hint may be any expression, and a type that is not found is not checked
        return {}
