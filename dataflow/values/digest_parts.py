"""Take values apart into the parts that determine their content hash."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, time, tzinfo
from enum import Enum
from functools import partial
from itertools import chain
from operator import attrgetter, itemgetter, methodcaller
from types import (
    BuiltinFunctionType,
    GenericAlias,
    GetSetDescriptorType,
    MappingProxyType,
    MethodDescriptorType,
    SimpleNamespace,
    UnionType,
    WrapperDescriptorType,
)
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Generic,
    ParamSpec,
    TypeAlias,
    TypeVar,
    TypeVarTuple,
    get_args,
    get_origin,
)
from weakref import WeakKeyDictionary
from zoneinfo import ZoneInfo

from dataflow.base.failure import line_of_error
from dataflow.base.history import History, Part
from dataflow.core.context import ExecutionContext
from dataflow.core.signature import qualified_id
from dataflow.diagnostics.values import CODEC_NOT_SIMPLER, DIGESTER_FAILED, NO_CONTENT_HASH
from dataflow.secrets.foreign import is_secret
from dataflow.types.shapes import ALIASES, type_name
from dataflow.values.classes import class_name
from dataflow.values.codecs import kind_of
from dataflow.values.constants import FUNCTIONS, Constant
from dataflow.values.digest_leaves import LEAVES, Digested, hashed, listed, named
from dataflow.values.forms import ABSENT, NOTED, caches_of, has_fields, slots_of
from dataflow.values.functions import FunctionGraph
from dataflow.values.kinds import BY_TYPE
from dataflow.values.refusals import NO_FIELDS, Refused, reason_against, step_into

if TYPE_CHECKING:
    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = ["TAKINGS", "Apart", "NotDigestible", "is_known", "parts_of", "register", "type_of"]

#: The field of a context that its content hash leaves out, as no result depends on it.
SESSION: Final = "session_id"
#: Members that the interpreter adds to a class written in Python.
_OWN_MEMBERS: Final = frozenset({"__dict__", "__weakref__"})
#: Convert an instance of a derived class to its base class, ignoring overridden methods.
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


class NotDigestible(Exception):
    """Raised for a value without a content hash."""

    def __init__(self, problem: Diagnostic) -> None:
        super().__init__(problem)
        self.problem = problem


@dataclass(slots=True)
class Apart:
    """A value taken apart: `finish` returns its content hash from those of its parts, `step` names a part."""

    parts: Sequence[Any]
    finish: Callable[[list[bytes]], bytes]
    step: Callable[[int], str]


Taking: TypeAlias = Callable[[Any], Apart]


class As:
    """A part: a value viewed as an instance of one of its base classes."""

    __slots__ = ("taking", "value")

    def __init__(self, taking: Taking, value: object) -> None:
        self.taking = taking
        self.value = value


def item_step(number: int) -> str:
    """Write the step to an item by its number."""
    return f"[{number}]"


def _sequence(tag: bytes, items: Callable[[Any], Sequence[Any]], step: Callable[[int], str]) -> Taking:
    finish = partial(listed, tag)
    return lambda value: Apart(items(value), finish, step)


def _set(tag: bytes, items: Callable[[Any], Any]) -> Taking:
    def finish(digests: list[bytes]) -> bytes:
        return listed(tag, sorted(digests))

    return lambda value: Apart(list(items(value)), finish, lambda _: "[?]")


def _mapping(tag: bytes, pairs: Callable[[Any], Any], *, is_ordered: bool = False) -> Taking:
    """Take a mapping apart into alternating keys and values, which are sorted by content hash."""

    def finish(digests: list[bytes]) -> bytes:
        if not is_ordered:
            in_order = sorted(zip(digests[::2], digests[1::2], strict=True))
            digests = list(chain.from_iterable(in_order))
        return listed(tag, digests)

    def take(value: Any) -> Apart:
        parts = list(chain.from_iterable(pairs(value)))
        return Apart(parts, finish, lambda number: step_into(parts[number - 1]) if number % 2 else ".keys()")

    return take


def _attributes(tag: bytes, *names: str) -> Taking:
    return _sequence(
        tag, lambda value: [getattr(value, name) for name in names], lambda number: f".{names[number]}"
    )


def _clock(value: Any) -> str:
    return f"{value.hour}:{value.minute}:{value.second}:{value.microsecond}"


def _moment(value: datetime) -> list[Any]:
    day = f"{value.year}-{value.month}-{value.day}"
    return [f"{day} {_clock(value)}", value.fold, value.tzinfo]


def _zone(value: ZoneInfo) -> Apart:
    if value.key is None:
        raise NotDigestible(
            NO_CONTENT_HASH(found=type_of(value), why="it is a zone without a key", advice="")
        )
    return Apart([value.key], partial(listed, b"Z"), item_step)


def _function(value: object) -> Apart:
    held = FunctionGraph(value).held
    parts = list(chain.from_iterable((each.part, each.value) for each in held))
    return Apart(parts, partial(listed, b"F"), lambda number: f".<{held[number // 2].part}>")


def _constant(value: Constant) -> Apart:
    """Take a constant apart when it is first hashed."""
    if value.digest is not None:
        return Apart([Digested(value.digest)], itemgetter(0), lambda _: "")

    def finish(digests: list[bytes]) -> bytes:
        value.digest = digests[0]
        return digests[0]

    return Apart([value.value], finish, lambda _: "")


def _type_parameter(value: Any) -> Apart:
    """Take a type variable apart, which is written in C since Python 3.12."""
    constraints = getattr(value, "__constraints__", ())
    parts = [type(value).__name__, value.__name__, value.__bound__, *constraints]
    return Apart(parts, partial(listed, b"V"), item_step)


def _alias(value: Any) -> Apart:
    """Take a `type` alias apart, which may refer to itself, so its value is a text."""
    parts = [value.__module__, value.__name__, type_name(value.__value__)]
    return Apart(parts, partial(listed, b"K"), item_step)


#: The content hashes of histories, by last part; an extended history continues from them.
_carried: Final[WeakKeyDictionary[Part[Any], bytes]] = WeakKeyDictionary()


def _history(history: History[Any]) -> Apart:
    """Take the items of a history that are not hashed yet; each hash includes the one before it."""
    new: list[Part[Any]] = []
    before = b"h"
    for part in history.last.backwards():
        known = _carried.get(part)
        if known is not None:
            before = known
            break
        new.append(part)

    def finish(digests: list[bytes]) -> bytes:
        made, rest = before, iter(digests)
        for part in reversed(new):
            for _ in part.items:
                made = hashed(b"H", made + next(rest))
            _carried[part] = made
        return made

    start = new[-1].start if new else 0
    parts = [item for part in reversed(new) for item in part.items]
    return Apart(parts, finish, lambda number: f"[{start + number}]")


#: How a value is taken apart, by its exact type.
TAKINGS: Final[dict[type, Taking]] = {
    list: _sequence(b"L", lambda value: list(list.__iter__(value)), item_step),
    tuple: _sequence(b"T", lambda value: list(tuple.__iter__(value)), item_step),
    dict: _mapping(b"D", dict.items),
    set: _set(b"S", set.__iter__),
    frozenset: _set(b"R", frozenset.__iter__),
    As: lambda part: part.taking(part.value),
    deque: _sequence(
        b"E", lambda value: [value.maxlen, *deque.__iter__(value)], lambda number: f"[{number - 1}]"
    ),
    OrderedDict: _mapping(b"O", OrderedDict.items, is_ordered=True),
    defaultdict: _sequence(
        b"M",
        lambda value: [value.default_factory, dict(dict.items(value))],
        (".default_factory", "").__getitem__,
    ),
    MappingProxyType: _mapping(b"P", lambda value: list(value.items())),
    range: _attributes(b"N", "start", "stop", "step"),
    slice: _attributes(b"I", "start", "stop", "step"),
    datetime: _sequence(b"A", _moment, lambda _: ".tzinfo"),
    time: _sequence(b"C", lambda value: [_clock(value), value.fold, value.tzinfo], lambda _: ".tzinfo"),
    tzinfo: _sequence(b"W", lambda _: (), item_step),
    ZoneInfo: _zone,
    re.Pattern: _attributes(b"B", "pattern", "flags"),
    **dict.fromkeys(
        (itemgetter, attrgetter, methodcaller), _sequence(b"Y", lambda value: value.__reduce__(), item_step)
    ),
    SimpleNamespace: _mapping(b"J", lambda value: vars(value).items()),
    **dict.fromkeys((TypeVar, ParamSpec), _type_parameter),
    TypeVarTuple: _attributes(b"V", "__name__"),
    **dict.fromkeys(ALIASES, _alias),
    GenericAlias: _sequence(b"G", lambda value: [get_origin(value), *get_args(value)], item_step),
    UnionType: _set(b"U", get_args),
    Constant: _constant,
    History: _history,
    **dict.fromkeys(FUNCTIONS, _function),
}


def is_known(kind: type) -> bool:
    """Return whether the content hash of a type is fixed, and cannot be registered."""
    return kind in LEAVES or kind in TAKINGS or kind in (object, Enum, ExecutionContext)


def register(kind: type, function: Callable[[Any], object]) -> None:
    """Register a function that returns what to hash in place of the values of a type and its subclasses."""
    with _registering:
        _registered[kind] = function
        _takings.clear()


def parts_of(kind: type) -> Taking:
    """Return how instances of a class are taken apart; raises NotDigestible."""
    taking = TAKINGS.get(kind) or _takings.get(kind)
    if taking is None:
        with _registering:
            taking = _takings[kind] = _chosen(kind)
    return taking


def _chosen(kind: type) -> Taking:
    head = b"=" + named(class_name(kind))
    function = next((_registered[base] for base in kind.__mro__ if base in _registered), None)
    if function is not None:
        return partial(_registered_parts, head, function)
    if issubclass(kind, Enum):
        return partial(_member, head)
    if is_secret(kind):
        return partial(_secret, head)
    if kind not in BY_TYPE and not has_fields(kind) and kind_of(kind) is not None:
        return partial(_stored, head)
    base = next(base for base in kind.__mro__ if base in LEAVES or base in TAKINGS or base is object)
    between = kind.__mro__[: kind.__mro__.index(base)]
    if base is type:
        return TAKINGS[type]
    if kind is object or not all(map(_is_written_in_python, between)):
        raise NotDigestible(_problem_of(kind))
    hidden = caches_of(kind) | {NOTED} | ({SESSION} if issubclass(kind, ExecutionContext) else set())
    return partial(_instance, head, base, hidden, sorted(slots_of(kind) - slots_of(base) - hidden))


def _registered_parts(head: bytes, function: Callable[[Any], object], value: object) -> Apart:
    """Call the registered function."""
    try:
        content = function(value)
    except Exception as error:
        name = qualified_id(function)
        failed = f"raised {line_of_error(error)}"
        raise NotDigestible(DIGESTER_FAILED(found=type_of(value), name=name, failed=failed)) from error
    if type(content) is type(value):
        failed = "returned a value of the same type"
        raise NotDigestible(DIGESTER_FAILED(found=type_of(value), name=qualified_id(function), failed=failed))
    return Apart([content], partial(listed, head), lambda _: "")


def _secret(head: bytes, value: Any) -> Apart:
    """Take a secret of pydantic apart; its content hash is one even if the value is short."""
    return Apart([value.get_secret_value()], lambda digests: hashed(head, digests[0]), lambda _: "")


def _stored(head: bytes, value: Any) -> Apart:
    """Take a value apart as its codec does to store it."""
    kind = kind_of(type(value))
    assert kind is not None, "its class has a codec"
    try:
        content = (kind.content or kind.apart)(value)
    except Refused as refused:
        raise NotDigestible(refused.problem) from refused
    if content is value:
        raise NotDigestible(CODEC_NOT_SIMPLER(found=type_of(value)))
    return Apart([content], partial(listed, head), lambda _: "")


def _member(head: bytes, value: Any) -> Apart:
    steps = (".name", ".value")
    return Apart([value._name_, value._value_], partial(listed, head), steps.__getitem__)


def _instance(head: bytes, base: type, hidden: frozenset[str], slots: Sequence[str], value: Any) -> Apart:
    """Take an instance apart into its content as one of its built-in base class, and its attributes."""
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
    """Read an attribute without running code of its class."""
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


def _problem_of(kind: type) -> Diagnostic:
    """Return why an instance has no content hash: usually why it cannot be stored either."""
    why, advice = reason_against(kind)
    if kind is object:
        why, advice = "nothing distinguishes it from another", ""
    elif (why, advice) == NO_FIELDS:
        advice = "register a function that returns what to hash, with `digester`"
    return NO_CONTENT_HASH(found=_full_name(kind), why=why, advice=advice)


def type_of(value: object) -> str:
    """Return the module and name of the type of a value."""
    return _full_name(type(value))


def _full_name(kind: type) -> str:
    return f"{getattr(kind, '__module__', '')}:{kind.__qualname__}"


def _is_written_in_python(kind: type) -> bool:
    """Return whether this class keeps all state of its instances in their `__dict__` and slots."""
    if kind is Generic:  # it adds nothing to an instance, and is written in C since Python 3.12
        return True
    slots = slots_of(kind)
    for name, member in vars(kind).items():
        is_own = getattr(member, "__objclass__", None) is kind and name not in _OWN_MEMBERS
        if is_own and (isinstance(member, _NATIVE) or name not in slots):
            return False
    made = vars(kind).get("__new__")
    return not (isinstance(made, BuiltinFunctionType) and made.__self__ is kind)
