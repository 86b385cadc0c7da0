"""Values of every type that is stored, and how two values are held to be the same."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag, IntEnum, StrEnum, auto
from functools import cached_property
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Final, Generic, NamedTuple, TypedDict, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, PrivateAttr, field_validator

from dataflow import ExecutionContext, Failure, Image, Message, Secret, Signal, ToolCall
from dataflow.values.classes import Classes, classes_of

T = TypeVar("T")


class Color(Enum):
    RED = 1
    GREEN = (2, "g")
    ROT = 1  # noqa: PIE796 - another name of the first


class Kind(str, Enum):  # noqa: UP042 - as people write it
    A = "a"


class Word(StrEnum):
    YES = "yes"


class Level(IntEnum):
    HIGH = 3


class Right(Flag):
    READ = auto()
    WRITE = auto()


@dataclass
class Item:
    color: Color
    tags: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Frozen:
    number: int
    twice: int = field(init=False)
    calls: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "twice", 2 * self.number)
        object.__setattr__(self, "calls", self.calls + 1)


@dataclass
class Late:
    name: str = field(init=False)
    given: int = 1


@dataclass
class Cached:
    side: int

    @cached_property
    def area(self) -> int:
        return self.side**2


@dataclass
class Box(Generic[T]):
    content: T


@dataclass
class Tree:
    name: str
    children: list[Tree] = field(default_factory=list)
    parent: Tree | None = None


class Point(NamedTuple):
    x: float
    y: float = 0.0


class Named(Point):
    """A named tuple that can hold more than its fields."""


class Address(BaseModel):
    street: str
    number: int = 1


class Person(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str
    address: Address | None = None
    _seen: int = PrivateAttr(default=0)

    @field_validator("name")
    @classmethod
    def _greeted(cls, name: str) -> str:
        return f"Dear {name}"


class Wrapped(BaseModel, Generic[T]):
    inner: T


class Outer:
    class Inner(Enum):
        ONE = 1


class Note(TypedDict):
    box: Box[Level]
    also: tuple[Named, ...]


def named(x: float) -> Named:
    made = Named(x)
    vars(made)["seen"] = True
    return made


def tagged(value: Any, **attributes: object) -> Any:
    vars(value).update(attributes)
    return value


def person() -> Person:
    made = Person(name="Ann", address=Address(street="High"), hobby={"chess"})  # type: ignore[call-arg]
    made._seen = 3
    return made


def conversation() -> ExecutionContext:
    first = ExecutionContext("c", model="m", variables={"a": (1,)}, message_history=[Message("user", "hi")])
    return first.append(Message("assistant", {"text": b"x"})).append(Message("user", Color.RED))


#: The types of the ports that these values go through.
TYPES: Final[list[object]] = [
    Color, Kind, Word, Level | None, list[Right], dict[str, Item], Frozen, Late, Cached, Tree, Note, Person,
    Point, Wrapped[int], Outer.Inner,
]  # fmt: skip
CLASSES: Final[Classes] = classes_of(TYPES)

VALUES: Final[dict[str, Any]] = {
    "nothing": None,
    "booleans": [True, False],
    "integers": [0, -1, 2**53 + 1, 2**70],
    "long integers": [10**5000, -(16**3000)],
    "numbers": [0.0, -0.0, 0.1, 1e308, 5e-324, 1.0],
    "not a number": math.nan,
    "infinities": [math.inf, -math.inf],
    "texts": ["", "é🙂", "a\0b", "\n", "\u2028"],
    "half surrogates": ["\ud800", "\\ud800\udc00", "\ud83d\ude00", {"\udfff": 1}],
    "long text": ["x" * 4_096, "x" * 4_097, "é" * 10_000, "\udc00" * 20_000],
    "empty": ["", 0, False, [], {}, (), set()],
    "lists": [[1, "a", None], [[[]]], [1.5, 2.5], ["a", "b"]],
    "tuples": ((1, 2), (), ("a", (None,))),
    "sets": [{3, 1}, frozenset({"b", "a"}), {(1, 2), None}],
    "dict of numbers": {1: "a", None: 2, (1, 2): [3], 1.5: {}, False: 0},
    "keys with $": {"$": 1, "$$": 2, "$a": 3, "a$": 4, "": {"$": "tuple", "v": []}},
    "keys in any script": {"ключ": 1, "🙂": 2},
    "bytes": [b"", b"\x00\xff", b"x" * 1_025, bytes(range(256)) * 10],
    "bytearray": [bytearray(b"\x00\xff"), bytearray(5_000)],
    "dates": [date(2024, 2, 29), date.min, date.max],
    "times": [time(1, 2, 3, 4), time(1, tzinfo=UTC), time(2, fold=1)],
    "moments": [
        datetime(2024, 5, 17, 8, 30, tzinfo=timezone(timedelta(hours=2))),
        datetime(2024, 5, 17, 8, 30, tzinfo=UTC),
        datetime(2024, 5, 17, 8, 30, tzinfo=timezone(timedelta(seconds=-1, microseconds=5), "odd")),
        datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1),
        datetime(2024, 5, 17, 8, 30, 0, 1, fold=1),  # noqa: DTZ001 - without a zone on purpose
    ],
    "durations": [timedelta(days=-1, microseconds=7), timedelta.max],
    "decimals": [Decimal("1.10"), Decimal("-0"), Decimal("1E+400"), Decimal("Infinity"), Decimal("1" * 5000)],
    "decimals that are none": [Decimal("NaN"), Decimal("sNaN"), Decimal("-NaN123")],
    "paths": [Path("a/b"), Path(), Path("/"), PurePosixPath("//a"), PureWindowsPath(r"c:\a")],
    "a path of bytes": Path("\udcff"),
    "ids": UUID(int=7),
    "enums": [Color.RED, Color.GREEN, Color.ROT, Kind.A, Word.YES, Level.HIGH, Outer.Inner.ONE],
    "flags": [Right.READ | Right.WRITE, Right(0)],
    "enum keys": {Kind.A: Kind.A, "b": 1},
    "dataclasses": [Item(Color.RED, ["x"]), Frozen(3), Late(), Tree("a", [Tree("b")]), Box(Level.HIGH)],
    "a cached property": tagged(Cached(3), area=9),
    "more than the fields": [tagged(Item(Color.RED), seen=(1,)), named(2)],
    "named tuples": [Point(1.5), named(1)],
    "models": [person(), Address.model_construct(), Wrapped[int](inner=1), Wrapped(inner="a")],
    "a context": conversation(),
    "tool calls": Message("assistant", "", (ToolCall("c1", "add", '{"a": 1, ('), ToolCall("c2", "sub", ""))),
    "the result of a tool": Message("tool", "3", tool_call_id="c1"),
    "images": Message("user", ("what?", Image("image/png", b"x"), Image("image/jpeg", bytes(2_000)))),
    "a pinned message": Message("system", "ok", pin="rules"),
    "own classes": [Failure("n", "p", 1, "E", "m", "t"), Signal(), Secret("TOKEN"), Message("user", [1])],
}


def same(one: Any, other: Any) -> bool:
    """Tell whether two values are of the same type, and so is all that they hold."""
    if type(one) is not type(other):
        return False
    if isinstance(one, Signal):
        return True
    if isinstance(one, float | Decimal):
        return repr(one) == repr(other)
    if isinstance(one, datetime | time):
        return (one, one.fold, repr(one.tzinfo)) == (other, other.fold, repr(other.tzinfo))
    if isinstance(one, BaseModel):
        return same(_state(one), _state(other))
    if is_dataclass(one):
        names = [each.name for each in fields(one)]
        held = [{name: getattr(it, name) for name in names if hasattr(it, name)} for it in (one, other)]
        return same(*held) and same(_more(one), _more(other))
    if isinstance(one, dict):
        return len(one) == len(other) and all(
            same(key, twin) and same(one[key], other[twin]) for key, twin in zip(one, other, strict=True)
        )
    if isinstance(one, set | frozenset):
        return len(one) == len(other) and all(any(same(item, twin) for twin in other) for item in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other)) and same(_more(one), _more(other))
    return bool(one == other)


def _more(value: object) -> dict[str, Any]:
    return {
        name: held
        for name, held in getattr(value, "__dict__", {}).items()
        if not isinstance(getattr(type(value), name, None), cached_property)
    }


def _state(model: BaseModel) -> list[Any]:
    return [
        dict(vars(model)), model.model_fields_set, model.__pydantic_extra__, model.__pydantic_private__,
    ]  # fmt: skip
