"""How the instances of a class are taken apart: as registered, as a base class is, or by what they hold."""

from __future__ import annotations

import threading
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, GetSetDescriptorType, MethodDescriptorType, WrapperDescriptorType
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from dataflow.context import ExecutionContext
from dataflow.digest_leaves import LEAVES, Digested, listed, named
from dataflow.digest_parts import TAKINGS, Apart, As, Underivable
from dataflow.failure import text_of_error
from dataflow.signature import qualified_id
from dataflow.values.classes import class_name
from dataflow.values.parts import caches_of, more_of, slots_of
from dataflow.values.refusing import reason_against

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataflow.digest_parts import Taking

__all__ = ["is_known", "register", "taking_of"]

#: What a digest of a context leaves out: it says nothing about what follows from the context.
SESSION: Final = "session_id"
#: What the interpreter puts into a class that is written in Python.
_OWN_MEMBERS: Final = frozenset({"__dict__", "__weakref__"})
_NATIVE: Final = (GetSetDescriptorType, MethodDescriptorType, WrapperDescriptorType)

_registered: dict[type, Callable[[Any], object]] = {}
_takings: WeakKeyDictionary[type, Taking] = WeakKeyDictionary()
_registering: Final = threading.Lock()


def is_known(kind: type) -> bool:
    """Tell whether the digest of a type is not to be changed."""
    return kind in LEAVES or kind in TAKINGS or kind in (object, Enum, ExecutionContext)


def register(kind: type, function: Callable[[Any], object]) -> None:
    """Let a function tell what stands for the values of a type, and of those derived from it."""
    with _registering:
        _registered[kind] = function
        _takings.clear()


def taking_of(kind: type) -> Taking:
    """Return how instances of a class are taken apart; raises Underivable."""
    taking = TAKINGS.get(kind) or _takings.get(kind)
    if taking is None:
        with _registering:
            taking = _takings[kind] = _chosen(kind)
    return taking


def _chosen(kind: type) -> Taking:
    head = b"=" + named(class_name(kind))
    function = next((_registered[base] for base in kind.__mro__ if base in _registered), None)
    if function is not None:
        return partial(_as_told, kind, head, function)
    if issubclass(kind, Enum):
        return partial(_member, head)
    base = next(base for base in kind.__mro__ if base in LEAVES or base in TAKINGS or base is object)
    between = kind.__mro__[: kind.__mro__.index(base)]
    if base is type:
        return TAKINGS[type]
    if not all(map(_is_written_in_python, between)):
        raise Underivable(reason_against(kind))
    hidden = {SESSION} if issubclass(kind, ExecutionContext) else set()
    return partial(_instance, head, base, caches_of(kind) | hidden, slots_of(kind) - slots_of(base) - hidden)


def _as_told(kind: type, head: bytes, function: Callable[[Any], object], value: object) -> Apart:
    """Ask the function that is registered."""
    try:
        told = function(value)
    except Exception as error:
        name = qualified_id(function)
        reason = f"its digester {name} raised {type(error).__name__}: {text_of_error(error)}"
        raise Underivable(reason.removesuffix(": ")) from error
    if type(told) is kind:
        raise Underivable(f"its digester {qualified_id(function)} returned a value of the same type")
    return Apart([told], partial(listed, head), lambda _: "")


def _member(head: bytes, value: Any) -> Apart:
    steps = (".name", ".value")
    return Apart([value._name_, value._value_], partial(listed, head), steps.__getitem__)


def _instance(head: bytes, base: type, hidden: frozenset[str], slots: set[str], value: Any) -> Apart:
    """Take apart what an instance is as one of its base class, and what else it holds."""
    more = more_of(value, (), hidden, slots).get("more", {})
    names = sorted(more)
    parts: list[Any] = [_seen_as(base, value)]
    for name in names:
        parts += (name, more[name])
    return Apart(
        parts, partial(listed, head), lambda number: f".{names[(number - 1) // 2]}" if number else ""
    )


def _seen_as(base: type, value: object) -> object:
    if base is object:
        return None
    leaf = LEAVES.get(base)
    return As(TAKINGS[base], value) if leaf is None else Digested(leaf(value))


def _is_written_in_python(kind: type) -> bool:
    """Tell whether all that instances hold for the sake of this class is in their dict and slots."""
    slots = slots_of(kind)
    for name, member in vars(kind).items():
        is_own = getattr(member, "__objclass__", None) is kind and name not in _OWN_MEMBERS
        if is_own and (isinstance(member, _NATIVE) or name not in slots):
            return False
    made = vars(kind).get("__new__")
    return not (isinstance(made, BuiltinFunctionType) and made.__self__ is kind)
