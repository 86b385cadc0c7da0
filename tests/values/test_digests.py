# ruff: noqa: E501 - many short values are on a line of the tables
"""Which values have one digest, and which have none (S13.2)."""

from __future__ import annotations

import copy
import io
import re
import struct
import threading
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal, localcontext
from enum import Enum
from fractions import Fraction
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from pydantic import BaseModel, ConfigDict, HttpUrl, PrivateAttr, SecretStr, TypeAdapter

from dataflow import ExecutionContext, Failure, Image, Message, Secret, Signal, ToolCall, Tools
from dataflow.values.digests import NoDigest, digest
from tests.support.processes import printed_with
from tests.values.examples import VALUES, Cached, Level, Right, Word, tagged

NAN = float("nan")


class Color(Enum):
    RED = 1
    BLUE = 2


class Hue(Enum):
    RED = 1


@dataclass
class Point:
    x: Any
    y: Any = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Place:
    x: Any
    y: Any = 0


class Pair(NamedTuple):
    x: Any
    y: Any = 0


class Named(Pair):
    """One that can hold more."""


class Person(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: str
    age: int = 1
    _seen: int = PrivateAttr(default=0)


class Number(int):
    def __lt__(self, other: object) -> bool:
        raise AssertionError("nothing of a derived class is called")

    __gt__ = __lt__


class Text(str):
    __slots__ = ()


class Items(list[Any]):
    def __iter__(self) -> Any:
        raise AssertionError("as above")


class Pairs(dict[Any, Any]):
    pass


class Plain:
    def __init__(self, x: Any) -> None:
        self.x = x


class Slotted:
    __slots__ = ("__x", "y")

    def __init__(self, x: Any) -> None:
        self.__x = x


class Proxy:
    """One that passes for anything, and holds one slot."""

    __slots__ = ("known", "unknown")

    def __init__(self, known: Any) -> None:
        self.known = known

    def __getattribute__(self, _: str) -> Any:
        raise AssertionError("nothing of a class is called")

    __getattr__ = __eq__ = __getattribute__  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class Misled:
    __slots__ = ()

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise ValueError("no")


class Hammer(Tools):
    pass


class Nowhere(tzinfo):
    def __init__(self, hours: int) -> None:
        self.hours = hours

    def utcoffset(self, _: object) -> timedelta:
        return timedelta(hours=self.hours)

    def dst(self, _: object) -> None:
        return None

    def tzname(self, _: object) -> None:
        return None


class Odd(type):
    __hash__ = None  # type: ignore[assignment]


class Unhashable(metaclass=Odd):
    pass


def person() -> Person:
    made = Person(name="a")
    made._seen = 7
    return made


def conversation(*turns: str, **given: Any) -> ExecutionContext:
    return ExecutionContext("c", message_history=[Message("user", turn) for turn in turns], **given)


MOMENT = datetime(2024, 10, 27, 2, 30)  # noqa: DTZ001 - the row without a zone
BERLIN = ZoneInfo("Europe/Berlin")

DIFFERENT: list[Any] = [
    None, True, False, 0, 1, -1, 256, 10**7, -(10**7), 2**64, 10**5000, 1.0, 0.0, -0.0, NAN, float("inf"), 1j, 1 + 0j,
    complex(0.0, -0.0), "", "1", "a" * 7, "a" * 8, "a" * 100, "\ud800", "\ud83d\ude00", "\U0001f600", b"", b"1",
    b"a" * 100, bytearray(), bytearray(b"1"), array("b", [1]), array("B", [1]), ..., NotImplemented,
    (), (1,), (1, 1), ((1,), 1), (1, (1,)), [], [1], [True], [1.0], ["1"], ["a", "bsc"], ["asb", "c"], [[]], [[], []], [(1,)], [[1, 2], 3], [[1], 2, 3],
    set(), {1}, {1.0}, frozenset(), frozenset({1}), {frozenset({1})}, {}, {1: 1}, {True: 1}, {"1": 1}, {1: "1"}, {1: 1, 2: 2},
    {1: 2, 2: 1}, deque(), deque([1]), deque([1], 3), OrderedDict(), OrderedDict(a=1, b=2), OrderedDict(b=2, a=1), Counter(),
    Counter("a"), defaultdict(list), defaultdict(set), MappingProxyType({}), SimpleNamespace(a=1), Pairs(), Items(), Items([1]),
    range(0), range(1), range(1, 1), slice(1), slice(1, None), Decimal(1), Decimal("1.0"), Decimal("NaN"), Decimal("sNaN"),
    Decimal("-0"), Fraction(1), Fraction(1, 3), UUID(int=1), date(2024, 1, 1), time(1), time(1, fold=1), time(1, tzinfo=UTC),
    MOMENT, MOMENT.replace(fold=1), MOMENT.replace(microsecond=1), MOMENT.replace(tzinfo=UTC),
    MOMENT.replace(tzinfo=timezone(timedelta(0), "Z")), MOMENT.replace(tzinfo=BERLIN), MOMENT.replace(tzinfo=BERLIN, fold=1),
    MOMENT.replace(tzinfo=Nowhere(1)), MOMENT.replace(tzinfo=Nowhere(2)),
    timedelta(1), timedelta(seconds=1), timedelta(microseconds=1), UTC, BERLIN, Path("a"), Path("a/b"), PurePosixPath("a"),
    PureWindowsPath("a"), PureWindowsPath("a:b"), PureWindowsPath("./a:b"), re.compile("a"), re.compile("a", re.IGNORECASE),
    Color.RED, Color.BLUE, Hue.RED, Level.HIGH, Word.YES, Right.READ, Right.READ | Right.WRITE, Right(0),
    Point(1), Point(1.0), Point(1, 1), Place(1), Place((1,)), Pair(1), Pair(1, 1), Named(1), tagged(Named(1), more=1),
    tagged(Point(1), more=1), Person(name="a"), Person(name="a", age=1), Person.model_validate({"name": "a", "extra": 1}), person(),
    Number(1), Text("1"), Plain(1), Plain(2), Plain("1"), Slotted(1), Slotted(2), Proxy(1), Proxy(2), Hammer(),
    TypeAdapter(HttpUrl).validate_python("http://a.b"), SecretStr("abc"), SecretStr("abd"),
    TypeAdapter(datetime).validate_json('"2024-10-27T02:30:00+01:00"'),
    Signal(), Secret("KEY"), Secret("OTHER"), Failure("n", "p", 1, "E", "m", "t"), Failure("n", "p", 2, "E", "m", "t"),
    Message("user", "a"), Message("user", ["a"]), Message("system", "a"), conversation(), conversation("a"),
    ToolCall("a", "b", "{}"), ToolCall("b", "a", "{}"), Image("image/png", b"1"), Image("image/gif", b"1"), Image("image/png", b"2"),
    Message("assistant", "a"), Message("assistant", "a", (ToolCall("a", "b", "{}"),)), Message("tool", "a"),
    Message("tool", "a", tool_call_id="a"), Message("user", "a", pin="a"), Message("user", "a", pin="b"),
    conversation("a", "b"), conversation("ab"), conversation("a", model="m"), conversation("a", variables={"a": 1}),
    int, str, Point, list[int], list[str], int | None, len, str.upper, [].append, [1].append,
]  # fmt: skip

EQUAL: list[tuple[str, Any, Any]] = [
    ("the order of a dict", {"a": 1, "b": [2]}, {"b": [2], "a": 1}),
    ("the order of a set", {0, 8, (1, "a")}, {(1, "a"), 8, 0}),
    ("the order in a model", Person.model_validate({"name": "a", "k": 1, "j": 2}), Person.model_validate({"j": 2, "k": 1, "name": "a"})),
    ("one that is not a number", NAN, -float("nan")),
    ("what is not a number", {NAN: [NAN]}, {float("nan"): [float("nan")]}),
    ("what a cached property computed", Cached(3), tagged(Cached(3), area=9)),
    ("the session", conversation("a", session_id="1"), conversation("a", session_id="2")),
    ("who appended", conversation("a", "b"), conversation("a").append(Message("user", "b"))),
    ("the value of a secret", Secret("KEY"), Secret("KEY", "a value of no concern")),
    ("another object", [[1], [1]], [[1]] * 2),
    ("the order of a union", int | str, str | int),
    ("the class as it is seen from outside", Slotted(1), copy.copy(Slotted(1))),
]  # fmt: skip


def test_different_values_have_different_digests() -> None:
    digests = [digest(value) for value in DIFFERENT]
    assert [value for value, one in zip(DIFFERENT, digests, strict=True) if digests.count(one) > 1] == []
    for wrap in (lambda value: [value], lambda value: {"k": (0, value)}, Plain):
        digests = [digest(wrap(value)) for value in DIFFERENT]
        assert len(set(digests)) == len(digests)


def test_what_does_not_count_changes_nothing() -> None:
    assert [name for name, one, other in EQUAL if digest(one) != digest(other)] == []
    for name, value in VALUES.items():
        assert digest(copy.deepcopy(value)) == digest(value), name
        assert len(digest(value)) <= 33, name
    value = Decimal("1E+400")
    with localcontext() as context:
        context.capitals = 0
        small = digest(value)
    assert small == digest(value)


#: A zone as in a file: UTC, and nothing else.
ZONE = b"TZif" + bytes(16) + struct.pack(">6l", 0, 0, 0, 0, 1, 4) + struct.pack(">lBB", 0, 0, 0) + b"UTC\0"

#: Values without a digest; `tests/messages/values.py` has what is said of each.
NONE: dict[str, Any] = {
    "an object of no class": object(),
    "a lock in a list": {"h": [1, threading.Lock()]},
    "an iterator in a field": {"h": Point(Plain({1: (iter([]),)}))},
    "a module in a set": {1: {threading}},
    "a key": {(object(),): 1},
    "a message of a conversation": conversation("a").append(Message("user", [object()])),
    "an exception": [ValueError("a")],
    "a class that has no hash": Unhashable(),
    "a class that has no hash, in a list": [Unhashable()],
    "a class that has no hash, deeper": [[1], [Unhashable()]],
    "a view of memory": memoryview(b"a"),
    "a class that cannot be read": Misled(),
    "a class written in C": re.match("a", "a"),
    "an item of a deque": deque([object()]),
    "a value of a defaultdict": defaultdict(lambda: 1, a=object()),
    "a zone without a key": ZoneInfo.from_file(io.BytesIO(ZONE)),
}


def test_any_depth_is_looked_at() -> None:
    def nested(inner: Any) -> Any:
        for _ in range(100_000):
            inner = [inner]
        return inner

    assert digest(nested(1)) != digest(nested(1.0))
    with pytest.raises(NoDigest, match=r"^DF0640 (\[0\]){20} and 99,980 more steps: builtins:object "):
        digest(nested(object()))


def test_no_secret_can_be_read_from_a_digest() -> None:
    key = "sk-12345"  # the shortest that a secret may be
    for value in (
        key,
        key.encode(),
        bytearray(key.encode()),
        12345678,
        -12345678,
        Decimal(12345678),
        Path(key),
        Secret(key),
    ):
        for held in (value, [value], {value if not isinstance(value, bytearray) else 1: 1}, (0, value)):
            made = digest(held)
            assert b"12345" not in made
            assert (12345678).to_bytes(4, "little") not in made


def test_processes_with_other_hash_seeds_come_to_the_same() -> None:
    code = (
        "from tests.values.test_digests import DIFFERENT, EQUAL, digest;"
        "print(*[digest(one).hex() for one in (*DIFFERENT, *(one for row in EQUAL for one in row[1:]))])"
    )
    told = {printed_with(seed, code) for seed in ("1", "2", "3")}
    here = " ".join(digest(one).hex() for one in (*DIFFERENT, *(one for row in EQUAL for one in row[1:])))
    assert told == {here}
