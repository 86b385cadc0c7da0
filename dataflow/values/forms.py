"""Take instances of classes apart and rebuild them without calling their constructors."""

from __future__ import annotations

import dataclasses
from enum import Enum, Flag
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from dataflow.core.ports import Signal
from dataflow.diagnostics.values import FIELD_ADDED, MEMBER_REMOVED
from dataflow.secrets.secret import Secret
from dataflow.types.annotations import resolved_hints
from dataflow.values.refusals import Refused, Unreadable, malformed, not_storable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

__all__ = [
    "ABSENT",
    "NOTED",
    "SHOWN",
    "Form",
    "caches_of",
    "field_types",
    "form_of",
    "has_fields",
    "slots_of",
]

#: The part of a stored member of an enum that is shown of it.
SHOWN: Final = "shown"
#: A missing value.
ABSENT: Final = object()
#: An attribute that typing sets on instances of parametrised classes; not part of their value.
NOTED: Final = "__orig_class__"


class Form(Protocol):
    """The stored form of one class: simpler values by key."""

    keys: frozenset[str]

    def apart(self, value: Any) -> dict[str, Any]:
        """Take an instance apart; raises Refused."""

    def together(self, parts: dict[str, Any]) -> object:
        """Rebuild an instance from decoded parts; raises Unreadable."""


def form_of(kind: type) -> Form:
    """Return the form of a class that has fields."""
    if issubclass(kind, Secret):
        return SecretForm()
    if issubclass(kind, Signal):
        return SignalForm()
    if issubclass(kind, Enum):
        return EnumForm(kind)
    if issubclass(kind, BaseModel):
        return ModelForm(kind)
    return NamedTupleForm(kind) if _is_named_tuple(kind) else DataclassForm(kind)


class _Fields:
    """Maps the stored fields of a class to its current fields."""

    __slots__ = ("kind", "names")

    def __init__(self, kind: type, names: Iterable[str]) -> None:
        self.kind = kind
        self.names = dict.fromkeys(names)  # in order

    def complete(
        self, stored: dict[str, Any], default: Callable[[str], object], unset: Iterable[str] = ()
    ) -> dict[str, Any]:
        """Return all fields by name; raises Unreadable for a removed field, or a new one without a default.

        `default` returns the default of a field, or ABSENT; the fields in `unset` remain without a value.
        """
        lost = next((name for name in stored if name not in self.names), None)
        if lost is not None:
            raise Unreadable(MEMBER_REMOVED(what="field", name=lost))
        if len(stored) == len(self.names):
            return stored
        return dict(self._completed(stored, default, set(unset)))

    def _completed(
        self, stored: dict[str, Any], default: Callable[[str], object], unset: set[str]
    ) -> Iterator[tuple[str, Any]]:
        for name in self.names:
            if name in stored:
                yield name, stored[name]
            elif name not in unset:
                value = default(name)
                if value is ABSENT:
                    raise Unreadable(FIELD_ADDED(name=name))
                yield name, value


def _more_of(
    value: Any, fields: Iterable[str], caches: frozenset[str] = frozenset(), slots: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the attributes of an instance other than fields and cached properties, under the key `more`."""
    held = getattr(value, "__dict__", {})
    more = {name: held[name] for name in held if name not in fields and name not in caches and name != NOTED}
    more |= {name: getattr(value, name) for name in sorted(slots) if hasattr(value, name)}
    return {"more": more} if more else {}


def _with_more(made: Any, more: Mapping[str, Any]) -> object:
    """Set the attributes of an instance other than its fields."""
    for name, value in more.items():
        object.__setattr__(made, name, value)
    return made


def caches_of(kind: type) -> frozenset[str]:
    """Return the names of the cached properties of a class."""
    members = (item for base in kind.__mro__ for item in vars(base).items())
    return frozenset(name for name, member in members if isinstance(member, cached_property))


def slots_of(kind: type) -> set[str]:
    """Return the names of the slots of a class and its bases, private ones mangled."""
    found: set[str] = set()
    for base in kind.__mro__:
        given = vars(base).get("__slots__", ())
        names = [given] if isinstance(given, str) else given
        found.update(_mangled(name, base.__name__) for name in names)
    return found - {"__dict__", "__weakref__"}


def _mangled(name: str, kind: str) -> str:
    is_private = name.startswith("__") and not name.endswith("__")
    return f"_{kind.lstrip('_')}{name}" if is_private else name


def _has_other_base(kind: type) -> bool:
    """Return whether an instance is also a dict, an exception or the like, and has content without fields."""
    try:
        object.__new__(kind)
    except TypeError:
        return not getattr(kind, "__abstractmethods__", None)
    return False


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
    """A member of an enum: its name, and its value to be shown; for flags the number of their combination."""

    keys = frozenset({"v", SHOWN})

    def __init__(self, kind: type[Enum]) -> None:
        self.kind = kind

    def apart(self, value: Enum) -> dict[str, Any]:
        if isinstance(value, Flag):
            return {"v": value._value_}
        name = value._name_
        if self.kind.__members__.get(name) is not value:
            why = "its class does not have this member"
            raise Refused(not_storable(self.kind, why, "declare it in the class"))
        is_plain = type(value._value_) in (str, int, float, bool) and value._value_ != name
        return {"v": name, SHOWN: value._value_} if is_plain else {"v": name}

    def together(self, parts: dict[str, Any]) -> Enum:
        if issubclass(self.kind, Flag):
            return self.kind(_only(parts, int))
        name = _only({"v": parts.get("v")}, str)
        member = self.kind.__members__.get(name)
        if member is None:
            raise Unreadable(MEMBER_REMOVED(what="member", name=name, available=self.kind.__members__))
        return member


class NamedTupleForm:
    """A named tuple: its fields by name."""

    keys = frozenset({"v", "more"})

    def __init__(self, kind: type) -> None:
        self.kind: Any = kind
        self.fields = _Fields(kind, kind._fields)  # type: ignore[attr-defined]

    def apart(self, value: Any) -> dict[str, Any]:
        names = self.kind._fields
        if tuple.__len__(value) != len(names):
            raise Refused(not_storable(self.kind, "it has more or fewer items than its class has fields"))
        parts = {"v": dict(zip(names, tuple.__iter__(value), strict=True))}
        return parts | _more_of(value, names)

    def together(self, parts: dict[str, Any]) -> object:
        values = self.fields.complete(_dict(parts, "v"), self._default)
        made = tuple.__new__(self.kind, [values[name] for name in self.kind._fields])
        return _with_more(made, _dict(parts, "more", {}))

    def _default(self, name: str) -> object:
        return self.kind._field_defaults.get(name, ABSENT)


class DataclassForm:
    """An instance of a dataclass: its fields by name, and the names of those without a value."""

    keys = frozenset({"v", "unset", "more"})

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self.known = {field.name: field for field in dataclasses.fields(kind)}
        self.fields = _Fields(kind, self.known)
        self.caches = caches_of(kind)
        self.slots = slots_of(kind) - set(self.known)
        self.has_other_base = _has_other_base(kind)

    def apart(self, value: Any) -> dict[str, Any]:
        if self.has_other_base:
            raise Refused(not_storable(self.kind))
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
        return parts | _more_of(value, self.known, self.caches, self.slots)

    def together(self, parts: dict[str, Any]) -> object:
        unset = _names(parts, "unset")
        values = self.fields.complete(_dict(parts, "v"), self._default, unset)
        made = object.__new__(self.kind)
        for name, value in values.items():
            object.__setattr__(made, name, value)
        return _with_more(made, _dict(parts, "more", {}))

    def _default(self, name: str) -> object:
        field = self.known[name]
        if field.default is not dataclasses.MISSING:
            return field.default
        return ABSENT if field.default_factory is dataclasses.MISSING else field.default_factory()


class ModelForm:
    """An instance of a pydantic model: its fields, which of them were set, extra fields and private ones."""

    keys = frozenset({"v", "set", "unset", "extra", "private", "more"})

    def __init__(self, kind: type[BaseModel]) -> None:
        self.kind = kind
        self.fields = _Fields(kind, kind.model_fields)
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
        return parts | _more_of(value, names, self.caches, self.slots)

    def together(self, parts: dict[str, Any]) -> object:
        unset = _names(parts, "unset")
        fields = self.fields.complete(_dict(parts, "v"), self._default, unset)
        made = object.__new__(self.kind)
        object.__setattr__(made, "__dict__", fields)
        object.__setattr__(made, "__pydantic_fields_set__", set(_names(parts, "set")))
        object.__setattr__(made, "__pydantic_extra__", self._extra(parts))
        object.__setattr__(made, "__pydantic_private__", self._private(parts))
        return _with_more(made, _dict(parts, "more", {}))

    def _default(self, name: str) -> object:
        field = self.kind.model_fields[name]
        return (
            ABSENT if field.is_required() else field.get_default(call_default_factory=True, validated_data={})
        )

    def _extra(self, parts: dict[str, Any]) -> dict[str, Any] | None:
        allowed = self.kind.model_config.get("extra") == "allow"
        extra = _dict(parts, "extra", {})
        if extra and not allowed:
            raise Unreadable(MEMBER_REMOVED(what="field", name=next(iter(extra))))
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
        raise malformed(f"{kind.__name__} under `v`", found)
    return found


def _dict(parts: dict[str, Any], key: str, otherwise: object = ABSENT) -> dict[str, Any]:
    found = parts.get(key, otherwise)
    if type(found) is not dict or not all(type(name) is str for name in found):
        raise malformed(f"a mapping under `{key}`", found)
    return found


def _names(parts: dict[str, Any], key: str) -> list[str]:
    found = parts.get(key, [])
    if type(found) is not list or not all(type(name) is str for name in found):
        raise malformed(f"a list of names under `{key}`", found)
    return found


def _is_named_tuple(kind: type) -> bool:
    return issubclass(kind, tuple) and isinstance(getattr(kind, "_fields", None), tuple)


def has_fields(kind: type) -> bool:
    """Return whether instances of a class can be taken apart and rebuilt."""
    return issubclass(kind, Enum | BaseModel) or dataclasses.is_dataclass(kind) or _is_named_tuple(kind)


def field_types(kind: type) -> Iterator[object]:
    """Yield the types of the fields, as far as they can be resolved."""
    if issubclass(kind, BaseModel):
        yield from (field.annotation for field in kind.model_fields.values())
    try:
        hints = resolved_hints(kind)
    except Exception:  # noqa: BLE001 - an annotation is any expression; its names may be undefined
        hints = {}
        for base in kind.__mro__:
            hints.update(vars(base).get("__annotations__", {}))
    yield from hints.values()
