"""Copy and check the models, dataclasses and containers within a config."""

from __future__ import annotations

import copy
import operator
import typing
from collections import deque
from dataclasses import fields, is_dataclass
from functools import lru_cache
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BaseModel

from dataflow.base.copies import own_copy
from dataflow.types.mismatches import find_mismatch, step_into

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dataflow.types.mismatches import Mismatch

__all__ = ["config_copy", "wrong_part"]

# Types whose values have no parts, which most values have.
PLAIN: Final = (str, int, float, bool, NoneType)
# Classes come from configs, so there are few; the limit is for classes created at run time.
MOST_CLASSES: Final = 1024


def config_copy(value: Any) -> Any:
    """Copy what a node could change in a config: containers, and models and dataclasses that are not frozen.

    A value without any is returned itself.
    """
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is list or kind is set:
        return kind(map(config_copy, value))
    if kind is dict:
        return {key: config_copy(item) for key, item in value.items()}
    if kind is tuple:
        items = tuple(map(config_copy, value))
        return value if all(map(operator.is_, items, value)) else items
    if kind is deque:
        return deque(map(config_copy, value), value.maxlen)
    if isinstance(value, BaseModel):
        return _object_copy(value, vars(value), is_frozen=bool(value.model_config.get("frozen")))
    if is_dataclass(kind):
        return _object_copy(value, _held(value), is_frozen=kind.__dataclass_params__.frozen)  # type: ignore[attr-defined]
    return own_copy(value)


def _object_copy(value: Any, held: Mapping[str, Any], *, is_frozen: bool) -> Any:
    changed = {}
    for name in held:
        item = held[name]
        if type(item) not in PLAIN and (made := config_copy(item)) is not item:
            changed[name] = made
    if is_frozen and not changed:
        return value
    copied = copy.copy(value)
    for name, item in changed.items():
        object.__setattr__(copied, name, item)
    return copied


def _held(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that have values."""
    return {one.name: getattr(value, one.name) for one in fields(value) if hasattr(value, one.name)}


def wrong_part(config: BaseModel) -> Mismatch | None:
    """Return the first value in a nested model or dataclass that its field does not take.

    The values that pydantic validated are not checked again. None for a field means that it was left out.
    """
    left: list[tuple[object, tuple[Any, ...]]] = [(dict(vars(config)), ())]  # with the keys that lead there
    seen: dict[int, bool] = {}
    while left:
        part, path = left.pop()
        held, unchecked = _taken_apart(part)
        for name, hint in unchecked:
            found = None if held.get(name) is None else find_mismatch(held[name], hint)
            if found is not None:
                return found.within("".join(map(step_into, (*path, name))))
        for key in held:
            item = held[key]
            if type(item) not in PLAIN and (known := id(item)) not in seen:
                seen[known] = True
                left.append((item, (*path, key)))
    return None


def _taken_apart(value: Any) -> tuple[Mapping[Any, object], Sequence[tuple[str, object]]]:
    """Return the parts of a value, and the types of those that pydantic did not check."""
    kind: Any = type(value)
    if kind is dict:
        return value, ()
    if kind in (list, tuple, set, frozenset, deque):
        return dict(enumerate(value)), ()
    doubtful = _doubtful(kind)
    if doubtful is not None:
        return vars(value), doubtful and [one for one in doubtful if one[0] not in value.model_fields_set]
    if is_dataclass(kind):
        hints, held = _hints(kind), _held(value)  # type: ignore[arg-type]  # a class has a hash
        return held, [(name, hints.get(name, Any)) for name in held]
    return value if isinstance(value, dict) else {}, ()


@lru_cache(MOST_CLASSES)
def _doubtful(kind: Any) -> tuple[tuple[str, object], ...] | None:
    """Return the fields of a model, and their types, whose defaults are wrong, or made for each instance.

    None for a class that is not a model.
    """
    if not issubclass(kind, BaseModel):
        return None
    if kind.model_config.get("validate_default"):
        return ()
    types = {
        name: (field, _annotated(field.annotation, field.metadata))
        for name, field in kind.model_fields.items()
        if not (field.validate_default or field.is_required())
    }
    return tuple(
        (name, hint)
        for name, (field, hint) in types.items()
        if field.default_factory is not None or find_mismatch(field.default, hint) is not None
    )


def _annotated(hint: Any, metadata: list[Any]) -> Any:
    return Annotated[(hint, *metadata)] if metadata else hint


@lru_cache(MOST_CLASSES)
def _hints(kind: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(kind, include_extras=True)
    except Exception:  # noqa: BLE001 - a hint may be any expression, and a type that is not found is not checked
        return {}
