"""What the instances of a class hold: fields, completed to those of today, and what else there is (S12.3)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from dataflow.values.refusing import Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

__all__ = ["ABSENT", "NOTED", "Fields", "caches_of", "has_other_base", "more_of", "slots_of", "with_more"]

#: In place of a value that there is not.
ABSENT: Final = object()
#: What typing notes on an instance that a parametrised class has made; says nothing about its value.
NOTED: Final = "__orig_class__"


class Fields:
    """Completes the fields that were stored to those that the class has today."""

    __slots__ = ("kind", "names")

    def __init__(self, kind: type, names: Iterable[str]) -> None:
        self.kind = kind
        self.names = dict.fromkeys(names)  # in their order

    def complete(
        self, stored: dict[str, Any], default: Callable[[str], object], unset: Iterable[str] = ()
    ) -> dict[str, Any]:
        """Return all fields by name; raises Unreadable for a lost one, or one that lacks a default.

        `default` gives the default of a field, or ABSENT; those that are `unset` stay so.
        """
        lost = next((name for name in stored if name not in self.names), None)
        if lost is not None:
            raise Unreadable(f"class {self.kind.__qualname__} has no field {lost!r} any more")
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
                    what = f"has a field {name!r} now, which the stored value lacks"
                    raise Unreadable(f"class {self.kind.__qualname__} {what}; give it a default")
                yield name, value


def more_of(
    value: Any, fields: Iterable[str], caches: frozenset[str] = frozenset(), slots: Iterable[str] = ()
) -> dict[str, Any]:
    """Find what an instance holds besides its fields; nothing that a cached property would compute again."""
    held = getattr(value, "__dict__", {})
    more = {name: held[name] for name in held if name not in fields and name not in caches and name != NOTED}
    more |= {name: getattr(value, name) for name in sorted(slots) if hasattr(value, name)}
    return {"more": more} if more else {}


def with_more(made: Any, more: Mapping[str, Any]) -> object:
    """Give an instance what it held besides its fields."""
    for name, value in more.items():
        object.__setattr__(made, name, value)
    return made


def caches_of(kind: type) -> frozenset[str]:
    """Name the cached properties of a class."""
    members = (item for base in kind.__mro__ for item in vars(base).items())
    return frozenset(name for name, member in members if isinstance(member, cached_property))


def slots_of(kind: type) -> set[str]:
    """Name the slots of a class, as its instances have them."""
    found: set[str] = set()
    for base in kind.__mro__:
        given = vars(base).get("__slots__", ())
        names = [given] if isinstance(given, str) else given
        found.update(_mangled(name, base.__name__) for name in names)
    return found - {"__dict__", "__weakref__"}


def _mangled(name: str, kind: str) -> str:
    is_private = name.startswith("__") and not name.endswith("__")
    return f"_{kind.lstrip('_')}{name}" if is_private else name


def has_other_base(kind: type) -> bool:
    """Tell whether an instance is also a dict, an exception or the like, and holds what no field tells."""
    try:
        object.__new__(kind)
    except TypeError:
        return not getattr(kind, "__abstractmethods__", None)
    return False
