"""How instances of classes are taken apart and put together again, without their constructors (S12.3)."""

from __future__ import annotations

import dataclasses
from enum import Enum, Flag
from typing import Any, Protocol

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from dataflow.base.wording import choices
from dataflow.core.ports import Signal
from dataflow.secrets.secret import Secret
from dataflow.values.fields import is_named_tuple
from dataflow.values.parts import ABSENT, Fields, caches_of, has_other_base, more_of, slots_of, with_more
from dataflow.values.refusing import Refused, Unreadable, reason_against

__all__ = ["Form", "form_of"]


class Form(Protocol):
    """The stored form of one class: simpler values by the keys they are stored under."""

    keys: frozenset[str]

    def apart(self, value: Any) -> dict[str, Any]:
        """Take an instance apart; raises Refused."""

    def together(self, parts: dict[str, Any]) -> object:
        """Make an instance of parts that were read; raises Unreadable."""


def form_of(kind: type) -> Form:
    """Choose the form for a class that has fields."""
    if issubclass(kind, Secret):
        return SecretForm()
    if issubclass(kind, Signal):
        return SignalForm()
    if issubclass(kind, Enum):
        return EnumForm(kind)
    if issubclass(kind, BaseModel):
        return ModelForm(kind)
    return NamedTupleForm(kind) if is_named_tuple(kind) else DataclassForm(kind)


class SecretForm:
    """A secret: its name."""

    keys = frozenset({"v"})

    def apart(self, value: Secret) -> dict[str, Any]:
        return {"v": value.name}

    def together(self, parts: dict[str, Any]) -> Secret:
        return Secret(_only(parts, str))


class SignalForm:
    """A signal: nothing."""

    keys = frozenset({"v"})

    def apart(self, _: Signal) -> dict[str, Any]:
        return {"v": None}

    def together(self, parts: dict[str, Any]) -> Signal:
        _only(parts, type(None))
        return Signal()


class EnumForm:
    """A member of an enum: its name; of flags the number that they make together."""

    keys = frozenset({"v"})

    def __init__(self, kind: type[Enum]) -> None:
        self.kind = kind

    def apart(self, value: Enum) -> dict[str, Any]:
        if isinstance(value, Flag):
            return {"v": value._value_}
        name = value._name_
        if self.kind.__members__.get(name) is not value:
            raise Refused("it is no member that its class has under this name; declare it in the class")
        return {"v": name}

    def together(self, parts: dict[str, Any]) -> Enum:
        if issubclass(self.kind, Flag):
            return self.kind(_only(parts, int))
        name = _only(parts, str)
        member = self.kind.__members__.get(name)
        if member is None:
            known = choices(list(self.kind.__members__))
            raise Unreadable(f"enum {self.kind.__qualname__} has no member {name!r} any more; {known}")
        return member


class NamedTupleForm:
    """A named tuple: its fields by name."""

    keys = frozenset({"v", "more"})

    def __init__(self, kind: type) -> None:
        self.kind: Any = kind
        self.fields = Fields(kind, kind._fields)  # type: ignore[attr-defined]

    def apart(self, value: Any) -> dict[str, Any]:
        names = self.kind._fields
        if tuple.__len__(value) != len(names):
            raise Refused("it has more or fewer items than its class has fields")
        parts = {"v": dict(zip(names, tuple.__iter__(value), strict=True))}
        return parts | more_of(value, names)

    def together(self, parts: dict[str, Any]) -> object:
        values = self.fields.complete(_dict(parts, "v"), self._default)
        made = tuple.__new__(self.kind, [values[name] for name in self.kind._fields])
        return with_more(made, _dict(parts, "more", {}))

    def _default(self, name: str) -> object:
        return self.kind._field_defaults.get(name, ABSENT)


class DataclassForm:
    """An instance of a dataclass: its fields by name, and the names of those that have no value yet."""

    keys = frozenset({"v", "unset", "more"})

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self.known = {field.name: field for field in dataclasses.fields(kind)}
        self.fields = Fields(kind, self.known)
        self.caches = caches_of(kind)
        self.slots = slots_of(kind) - set(self.known)
        self.has_other_base = has_other_base(kind)

    def apart(self, value: Any) -> dict[str, Any]:
        if self.has_other_base:
            raise Refused(reason_against(self.kind))
        fields: dict[str, Any] = {}
        unset = []
        for name in self.known:
            try:
                fields[name] = getattr(value, name)
            except AttributeError:
                unset.append(name)
        parts: dict[str, Any] = {"v": fields}
        if unset:
            parts["unset"] = unset
        return parts | more_of(value, self.known, self.caches, self.slots)

    def together(self, parts: dict[str, Any]) -> object:
        unset = _names(parts, "unset")
        values = self.fields.complete(_dict(parts, "v"), self._default, unset)
        made = object.__new__(self.kind)
        for name, value in values.items():
            object.__setattr__(made, name, value)
        return with_more(made, _dict(parts, "more", {}))

    def _default(self, name: str) -> object:
        field = self.known[name]
        if field.default is not dataclasses.MISSING:
            return field.default
        return ABSENT if field.default_factory is dataclasses.MISSING else field.default_factory()


class ModelForm:
    """An instance of a pydantic model: its fields, which of them were given, and what else it holds."""

    keys = frozenset({"v", "set", "unset", "extra", "private", "more"})

    def __init__(self, kind: type[BaseModel]) -> None:
        self.kind = kind
        self.fields = Fields(kind, kind.model_fields)
        self.caches = caches_of(kind)
        self.slots = slots_of(kind) - slots_of(BaseModel)

    def apart(self, value: BaseModel) -> dict[str, Any]:
        held = vars(value)
        names = self.kind.model_fields
        parts: dict[str, Any] = {
            "v": {name: held[name] for name in names if name in held},
            "set": sorted(value.model_fields_set),
        }
        unset = [name for name in names if name not in held]
        if unset:
            parts["unset"] = unset
        if value.__pydantic_extra__ is not None:
            parts["extra"] = value.__pydantic_extra__
        if value.__pydantic_private__ is not None:
            private = value.__pydantic_private__
            parts["private"] = {name: one for name, one in private.items() if one is not PydanticUndefined}
        return parts | more_of(value, names, self.caches, self.slots)

    def together(self, parts: dict[str, Any]) -> object:
        unset = _names(parts, "unset")
        fields = self.fields.complete(_dict(parts, "v"), self._default, unset)
        made = object.__new__(self.kind)
        object.__setattr__(made, "__dict__", fields)
        object.__setattr__(made, "__pydantic_fields_set__", set(_names(parts, "set")))
        object.__setattr__(made, "__pydantic_extra__", self._extra(parts))
        object.__setattr__(made, "__pydantic_private__", self._private(parts))
        return with_more(made, _dict(parts, "more", {}))

    def _default(self, name: str) -> object:
        field = self.kind.model_fields[name]
        return (
            ABSENT if field.is_required() else field.get_default(call_default_factory=True, validated_data={})
        )

    def _extra(self, parts: dict[str, Any]) -> dict[str, Any] | None:
        allowed = self.kind.model_config.get("extra") == "allow"
        extra = _dict(parts, "extra", {})
        if extra and not allowed:
            raise Unreadable(f"class {self.kind.__qualname__} takes no field {next(iter(extra))!r} any more")
        return extra if allowed else None

    def _private(self, parts: dict[str, Any]) -> dict[str, Any] | None:
        known = self.kind.__private_attributes__
        if not known:
            return None
        kept = _dict(parts, "private", {})
        made = {name: kept[name] if name in kept else given.get_default() for name, given in known.items()}
        return {name: value for name, value in made.items() if value is not PydanticUndefined}


def _only(parts: dict[str, Any], kind: type) -> Any:
    found = parts.get("v", ABSENT)
    if type(found) is not kind or len(parts) != 1:
        raise Unreadable(f"expected one {kind.__name__} under 'v'")
    return found


def _dict(parts: dict[str, Any], key: str, otherwise: object = ABSENT) -> dict[str, Any]:
    found = parts.get(key, otherwise)
    if type(found) is not dict or not all(type(name) is str for name in found):
        raise Unreadable(f"expected names with values under {key!r}")
    return found


def _names(parts: dict[str, Any], key: str) -> list[str]:
    found = parts.get(key, [])
    if type(found) is not list or not all(type(name) is str for name in found):
        raise Unreadable(f"expected a list of names under {key!r}")
    return found
