"""Values taken apart: what each is made of, as far as that decides its digest (S13.2)."""

from __future__ import annotations

import re
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, time, tzinfo
from functools import partial
from itertools import chain
from operator import attrgetter, itemgetter, methodcaller
from types import GenericAlias, MappingProxyType, SimpleNamespace, UnionType
from typing import Any, Final, TypeAlias, get_args, get_origin
from weakref import WeakKeyDictionary
from zoneinfo import ZoneInfo

from dataflow.base.history import History, Part
from dataflow.values.digest_leaves import hashed, listed
from dataflow.values.function_graphs import FUNCTIONS, FunctionGraph
from dataflow.values.places import step_into

__all__ = ["TAKINGS", "Apart", "As", "Taking", "Underivable", "item_step"]


class Underivable(Exception):
    """Raised for what has no digest, with the reason if there is one to tell."""


@dataclass(slots=True)
class Apart:
    """What a value is made of: `finish` makes its digest of those of its parts, `step` leads to one."""

    parts: Sequence[Any]
    finish: Callable[[list[bytes]], bytes]
    step: Callable[[int], str]


Taking: TypeAlias = Callable[[Any], Apart]


class As:
    """A part that is a value seen as one of its base classes."""

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
    """Take a mapping apart into keys and values in turn, which are then put in the order of the digests."""

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
        raise Underivable("it is a zone without a key")
    return Apart([value.key], partial(listed, b"Z"), item_step)


def _function(value: object) -> Apart:
    held = FunctionGraph(value).held
    parts = list(chain.from_iterable((each.part, each.value) for each in held))
    return Apart(parts, partial(listed, b"F"), lambda number: f".<{held[number // 2].part}>")


#: The digests of histories so far, by their last parts; what is appended adds to them.
_carried: Final[WeakKeyDictionary[Part[Any], bytes]] = WeakKeyDictionary()


def _history(history: History[Any]) -> Apart:
    """Take the items of a history that are not digested yet; each digest is made with the one before it."""
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
    GenericAlias: _sequence(b"G", lambda value: [get_origin(value), *get_args(value)], item_step),
    UnionType: _set(b"U", get_args),
    History: _history,
    **dict.fromkeys(FUNCTIONS, _function),
}
