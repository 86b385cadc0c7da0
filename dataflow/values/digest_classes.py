"""How the instances of a class are taken apart: as registered, as a base class is, or by what they hold."""

from __future__ import annotations

import threading
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, GetSetDescriptorType, MethodDescriptorType, WrapperDescriptorType
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from dataflow.base.failure import text_of_error
from dataflow.core.context import ExecutionContext
from dataflow.core.signature import qualified_id
from dataflow.values.classes import class_name
from dataflow.values.digest_leaves import LEAVES, Digested, listed, named
from dataflow.values.digest_parts import TAKINGS, Apart, As, Underivable
from dataflow.values.parts import ABSENT, NOTED, caches_of, slots_of
from dataflow.values.refusing import NO_FIELDS, reason_against

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dataflow.values.digest_parts import Taking

__all__ = ["is_known", "register", "taking_of"]

#: What a digest of a context leaves out: it says nothing about what follows from the context.
SESSION: Final = "session_id"
#: What the interpreter puts into a class that is written in Python.
_OWN_MEMBERS: Final = frozenset({"__dict__", "__weakref__"})
#: Make values of base classes, whatever a class derived from it has made of its methods.
_EXACT: Final[dict[type, Callable[[Any], object]]] = {
    int: int.__int__,
    float: float.__float__,
    complex: complex.__complex__,
    bytes: bytes.__bytes__,
}
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
        return partial(_as_told, head, function)
    if issubclass(kind, Enum):
        return partial(_member, head)
    base = next(base for base in kind.__mro__ if base in LEAVES or base in TAKINGS or base is object)
    between = kind.__mro__[: kind.__mro__.index(base)]
    if base is type:
        return TAKINGS[type]
    if kind is object or not all(map(_is_written_in_python, between)):
        raise Underivable(_reason_against(kind))
    hidden = caches_of(kind) | {NOTED} | ({SESSION} if issubclass(kind, ExecutionContext) else set())
    return partial(_instance, head, base, hidden, sorted(slots_of(kind) - slots_of(base) - hidden))


def _as_told(head: bytes, function: Callable[[Any], object], value: object) -> Apart:
    """Ask the function that is registered."""
    try:
        told = function(value)
    except Exception as error:
        name = qualified_id(function)
        reason = f"its digester {name} raised {type(error).__name__}: {text_of_error(error)}"
        raise Underivable(reason.removesuffix(": ")) from error
    if type(told) is type(value):
        raise Underivable(f"its digester {qualified_id(function)} returned a value of the same type")
    return Apart([told], partial(listed, head), lambda _: "")


def _member(head: bytes, value: Any) -> Apart:
    steps = (".name", ".value")
    return Apart([value._name_, value._value_], partial(listed, head), steps.__getitem__)


def _instance(head: bytes, base: type, hidden: frozenset[str], slots: Sequence[str], value: Any) -> Apart:
    """Take apart what an instance is as one of its base class, and what else it holds."""
    held = {name: one for name in slots if (one := _read(value, name)) is not ABSENT}
    more = _read(value, "__dict__")
    if more is not ABSENT:
        held |= {name: one for name, one in more.copy().items() if name not in hidden}
    names = sorted(held)
    parts: list[Any] = [_seen_as(base, value)]
    for name in names:
        parts += (name, held[name])
    return Apart(
        parts, partial(listed, head), lambda number: f".{names[(number - 1) // 2]}" if number else ""
    )


def _read(value: object, name: str) -> Any:
    """Read an attribute without any code of its class."""
    try:
        return object.__getattribute__(value, name)
    except AttributeError:
        return ABSENT


def _seen_as(base: type, value: object) -> object:
    if base is object:
        return None
    leaf = LEAVES.get(base)
    if leaf is None:
        return As(TAKINGS[base], value)
    exact = _EXACT.get(base)
    return Digested(leaf(value if exact is None else exact(value)))


def _reason_against(kind: type) -> str:
    """Say why an instance has no digest: the store has no form for it either."""
    if kind is object:
        return "nothing tells it from another"
    reason = reason_against(kind)
    return "register how it is digested, with `digester`" if reason == NO_FIELDS else reason


def _is_written_in_python(kind: type) -> bool:
    """Tell whether all that instances hold for the sake of this class is in their dict and slots."""
    slots = slots_of(kind)
    for name, member in vars(kind).items():
        is_own = getattr(member, "__objclass__", None) is kind and name not in _OWN_MEMBERS
        if is_own and (isinstance(member, _NATIVE) or name not in slots):
            return False
    made = vars(kind).get("__new__")
    return not (isinstance(made, BuiltinFunctionType) and made.__self__ is kind)
