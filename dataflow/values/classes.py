"""The classes that stored values may be decoded to, collected from the port types of a flow."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType, NoneType
from typing import IO, TYPE_CHECKING, Any, Final, Literal, NewType, TypeVar, get_args, get_origin

from pydantic import BaseModel

from dataflow.base.failure import Failure
from dataflow.base.history import History
from dataflow.core.context import ExecutionContext, Tools, Variables
from dataflow.core.functions import module_name
from dataflow.core.ports import Signal
from dataflow.core.turns import Image, Message, ProviderParts, ToolCall
from dataflow.diagnostics.values import CLASS_AMBIGUOUS, SECRET_NOT_STORED
from dataflow.secrets.foreign import is_secret
from dataflow.secrets.secret import Secret
from dataflow.types.shapes import (
    alternatives,
    arguments_as,
    bare,
    behind_alias,
    has_own_schema,
    is_alias,
    is_open_tuple,
    is_typed_dict,
    keys_of,
    protocol_members,
    shape,
    type_name,
)
from dataflow.values.codecs import kind_of
from dataflow.values.forms import field_types, form_of, has_fields
from dataflow.values.kinds import BY_TYPE
from dataflow.values.refusals import not_storable

if TYPE_CHECKING:
    from dataflow.diagnostics.diagnostic import Diagnostic
    from dataflow.values.forms import Form

__all__ = ["OWN", "Classes", "class_name", "classes_of", "holds_secrets", "unstorable"]

#: The maximum number of types: generic types that refer to themselves with new arguments are infinite.
MOST_TYPES: Final = 100_000
#: Classes of the engine that can always be decoded.
OWN: Final = (ExecutionContext, Failure, Image, Message, ProviderParts, Secret, Signal, ToolCall)
#: The depth to which types are inspected; deeper types are assumed to be storable.
MOST_LEVELS: Final = 50
_CALLABLE: Any = Callable  # to a type checker a special form, at run time a class
_STORED: Final = frozenset({*BY_TYPE, *OWN, bool, NoneType, History, Variables, Tools, list, object})


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes that may be decoded, by name, with the stored form of each.

    `twice` contains the names that several classes have; these classes are neither encoded nor decoded.
    """

    forms: Mapping[str, Form]
    names: Mapping[type, str]
    twice: frozenset[str] = frozenset()
    _derived_names: dict[type, str] = field(default_factory=dict, compare=False)
    _derived_forms: dict[str, Form] = field(default_factory=dict, compare=False)

    def name_of(self, kind: type) -> str | None:
        """Return the name of a class; also of one that is derived from these, or in the fields of such."""
        if kind not in self._derived_names and self._is_derived(kind):
            self._include(kind)
        return self._derived_names.get(kind)

    def form_named(self, name: str) -> Form | None:
        """Return the form of a name; also of a loaded class that is derived from these."""
        found = self.forms.get(name) or self._derived_forms.get(name)
        if found is None and name not in self.twice:
            bases = [kind for kind in self.names if kind not in OWN]
            derived = [kind for base in bases for kind in _derived(base) if class_name(kind) == name]
            for kind in derived[-1:]:  # a notebook may have defined it several times
                self._include(kind)
            found = self._derived_forms.get(name)
        return found

    def form_of(self, name: str) -> Form | None:
        """Return the form that instances are written in."""
        return self.forms.get(name) or self._derived_forms.get(name)

    def _is_derived(self, kind: type) -> bool:
        return has_fields(kind) and any(base in self.names and base not in OWN for base in kind.__mro__[1:])

    def _include(self, derived: type) -> None:
        """Include a derived class and the classes in its fields."""
        for kind in _reachable([derived]):
            name = class_name(kind)
            if kind not in self.names and name not in self.forms and name not in self.twice:
                self._derived_forms[name] = form_of(kind)
                self._derived_names[kind] = name

    def clash(self, name: str) -> Diagnostic:
        """Return the problem that several classes have a name, with their modules if these differ."""
        modules = sorted({kind.__module__ for kind, own in self.names.items() if own == name})
        among = f", in the modules {' and '.join(modules)}" if len(modules) > 1 else ""
        return CLASS_AMBIGUOUS(name=name, modules=among)


def class_name(kind: type) -> str:
    """Return the name of a class: by the public name of its package, else by its module (S1.2)."""
    return f"{module_name(kind.__module__)}:{kind.__qualname__}"


def classes_of(types: Iterable[object]) -> Classes:
    """Collect the classes in these types, in their arguments, alternatives and fields."""
    found = dict.fromkeys([*OWN, *_reachable(types)])
    names = {kind: class_name(kind) for kind in found}
    by_name: dict[str, type] = {}
    twice = {name for kind, name in names.items() if by_name.setdefault(name, kind) is not kind}
    forms = {name: form_of(kind) for name, kind in by_name.items() if name not in twice}
    return Classes(MappingProxyType(forms), MappingProxyType(names), frozenset(twice))


def holds_secrets(types: Iterable[object]) -> bool:
    """Return whether a secret of pydantic is among these types, their arguments, alternatives and fields."""
    return any(isinstance(found, type) and is_secret(found) for found in _walked(types))


def _reachable(types: Iterable[object]) -> list[type]:
    return [
        found
        for found in _walked(types)
        if isinstance(found, type) and not is_typed_dict(found) and has_fields(found)
    ]


def _walked(types: Iterable[object]) -> Iterator[object]:
    """Walk the types with a work list, as they may refer to themselves."""
    seen: set[int] = set()
    kept: list[object] = []  # keeps types alive, so that their ids remain unique
    waiting = list(types)[::-1]
    while waiting:
        annotation = bare(waiting.pop())
        if id(annotation) in seen:
            continue
        seen.add(id(annotation))
        kept.append(annotation)
        yield annotation
        if len(seen) < MOST_TYPES:
            waiting += _next(annotation)[::-1]


def _next(annotation: Any) -> list[object]:
    """List the types that a type consists of."""
    if is_alias(annotation):
        return [behind_alias(annotation)]
    if isinstance(annotation, NewType):
        return [annotation.__supertype__]
    if isinstance(annotation, TypeVar):
        return [annotation.__bound__, *annotation.__constraints__]
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return [type(value) for value in args if isinstance(value, Enum)]
    if is_typed_dict(annotation):
        return [key.hint for key in keys_of(annotation).values()]
    if isinstance(annotation, list):  # the parameters of a Callable
        return list(annotation)
    if isinstance(annotation, type) and origin is None:
        return [*_generic_parts(annotation), *(field_types(annotation) if has_fields(annotation) else ())]
    return [origin, *args]


def _generic_parts(kind: type) -> list[object]:
    """List the generic origin of a pydantic model and its arguments."""
    generic = kind.__pydantic_generic_metadata__ if issubclass(kind, BaseModel) else None
    if not generic or generic["origin"] is None:
        return []
    return [generic["origin"], *generic["args"]]


def unstorable(annotation: object) -> Diagnostic | None:
    """Return why no value of a type can be stored, and a remedy; None if some value may be storable.

    A union is not storable if none of its members is, a dataclass or model if one of its fields is not. A
    type with storable subclasses may be storable, and so may protocols and abstract containers.
    """
    return _Inspection().at(annotation, MOST_LEVELS)


class _Inspection:
    """One inspection of a type: `seen` are the enclosing types, which are not inspected again."""

    __slots__ = ("seen",)

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def at(self, annotation: object, levels: int) -> Diagnostic | None:
        plain = bare(annotation)
        if not levels or plain is Any or id(plain) in self.seen:
            return None
        if is_alias(plain):
            return self.at(behind_alias(plain), levels - 1)
        if isinstance(plain, NewType):
            return self.at(plain.__supertype__, levels - 1)
        if get_origin(plain) is Literal:
            return None
        if options := alternatives(plain):
            reasons = [self.at(option, levels - 1) for option in options]
            secret = (one for one in reasons if one is not None and one.kind is SECRET_NOT_STORED)
            return reasons[0] if all(reasons) else next(secret, None)
        return self._at_class(plain, levels - 1)

    def _at_class(self, plain: Any, levels: int) -> Diagnostic | None:
        if is_typed_dict(plain):
            return self._first((key.hint for key in keys_of(plain).values() if key.required), levels)
        known = shape(plain)
        if known is None:
            return None
        kind = known.origin
        if is_secret(kind):
            return SECRET_NOT_STORED(found=type_name(plain))
        if kind in _STORED:
            return self._at_items(known, levels)
        if kind_of(kind) is not None:
            return None
        if has_fields(kind):
            self.seen.add(id(plain))
            reason = None if issubclass(kind, Enum) else self._first(field_types(kind), levels)
            self.seen.discard(id(plain))
            return reason
        return not_storable(kind, found=type_name(plain)) if _is_unstorable(kind) else None

    def _at_items(self, known: Any, levels: int) -> Diagnostic | None:
        """Inspect the item types of a container."""
        if not known.args:
            return None
        if known.origin is tuple:
            return None if is_open_tuple(known.args) else self._first(known.args, levels)
        if known.origin is dict:
            return self._first(arguments_as(known, Mapping) or (), levels)
        return self._first(arguments_as(known, Iterable) or (), levels)

    def _first(self, annotations: Iterable[object], levels: int) -> Diagnostic | None:
        reasons = (self.at(one, levels) for one in annotations if one is not ...)
        return next(filter(None, reasons), None)


def _is_unstorable(kind: type) -> bool:
    """Return whether no instance of a class without a stored form, or of a subclass, can be stored."""
    if issubclass(kind, type) or kind in (IO, _CALLABLE, Iterator, AsyncIterable):
        return True
    if issubclass(kind, Iterator | Awaitable | AsyncIterable):
        return True
    if kind.__module__ in ("typing", "collections.abc", "abc", "numbers", "contextlib"):
        return kind.__module__ == "typing" and issubclass(kind, IO)
    is_open = protocol_members(kind) is not None or has_own_schema(kind)
    return not is_open and not any(map(_is_stored, _derived(kind)))


def _derived(kind: type) -> Iterator[type]:
    waiting: list[type] = list(type.__subclasses__(kind))
    while waiting:
        one = waiting.pop()
        yield one
        waiting += type.__subclasses__(one)


def _is_stored(kind: type) -> bool:
    return kind in _STORED or has_fields(kind) or kind_of(kind) is not None
