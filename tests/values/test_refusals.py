"""What a type tells of its values before there are any (S12.3)."""

from __future__ import annotations

import io
import re
from abc import ABC
from collections import OrderedDict, deque
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import IO, Any, Literal, NotRequired, Protocol, TextIO, TypedDict, TypeVar

from pydantic import BaseModel, EmailStr
from typing_extensions import TypeAliasType

from dataflow import ExecutionContext, Failure, Image, Message, Secret, Signal, ToolCall, Tools
from dataflow.values.classes import unstorable
from tests.values.examples import TYPES, Item, Note

T = TypeVar("T")


class Plain:
    pass


class Shape(ABC):  # noqa: B024 - a base without methods
    pass


@dataclass
class Circle(Shape):
    radius: float


@dataclass
class Job:
    run: Callable[[], None]


@dataclass
class Node:
    next: Node | None = None


class Model(BaseModel):
    model_config = {"arbitrary_types_allowed": True}
    plain: Plain


class Text(str):
    __slots__ = ()


class Reads(Protocol):
    def read(self) -> str: ...


class Keys(TypedDict):
    plain: NotRequired[Plain]


class Must(TypedDict):
    plain: Plain


Nested = TypeAliasType("Nested", "list[Nested] | int")

TELLING = [
    Callable, Callable[[int], str], Plain, list[Plain], dict[str, Plain], tuple[int, Plain], Plain | Text,
    Job, Model, Must, Text, TextIO, IO[str], io.StringIO, io.TextIOWrapper, Generator[int, None, None],
    Iterator[int], AsyncIterator[int], Awaitable[int], tzinfo, type[int], type, ValueError, memoryview,
]  # fmt: skip
OPEN = [
    Any, object, T, Reads, int, str, None, list, list[int], list[Any], dict, dict[str, int], tuple[()],
    set[str], Plain | None, int | Plain, Iterable[int], Sequence[int], Mapping[str, int], Shape, Circle, Node,
    Nested, Keys, Literal["a"], datetime, Path, EmailStr, ExecutionContext, Failure, Image, Message, Secret,
    Signal, ToolCall, Tools, Item, Note, "Unknown", re.Pattern[str], OrderedDict[str, int], deque[int],
    complex, range, *TYPES,
]  # fmt: skip


def test_a_type_shows_whether_its_values_can_be_stored() -> None:
    assert [annotation for annotation in TELLING if unstorable(annotation) is None] == []
    assert [annotation for annotation in OPEN if unstorable(annotation)] == []
    problem = unstorable(list[Plain])
    assert problem is not None
    assert (problem.code, problem.found) == ("DF0620", "Plain")
