"""Types of every kind, for the tests of what reads types."""

from __future__ import annotations

import collections
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, NamedTuple, NewType, ParamSpec, Protocol, TypeVar, TypeVarTuple

import typing_extensions
from pydantic import BaseModel

Item = TypeVar("Item")
Other = TypeVar("Other")
Items = TypeVarTuple("Items")
Arguments = ParamSpec("Arguments")
UserId = NewType("UserId", int)
AdminId = NewType("AdminId", UserId)
Names = NewType("Names", list[str])


class Animal:
    pass


class Dog(Animal):
    pass


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Named(Protocol):
    name: str

    def rename(self, name: str) -> None: ...


class Calls(Protocol):
    def __call__(self) -> int: ...


class Hashes(Protocol):
    def __hash__(self) -> int: ...


@dataclass
class Person:
    name: str

    def rename(self, name: str) -> None:
        self.name = name


class Ship:
    def __init__(self, name: str) -> None:
        self.name = name

    def rename(self, name: str) -> None:
        self.name = name


class Point(NamedTuple):
    x: int
    y: int


class Pair(NamedTuple, Generic[Item]):
    left: Item
    right: int


class Lost(NamedTuple):
    x: Unknown  # type: ignore[name-defined]  # noqa: F821 - what is tested


class Box(Generic[Item]):
    pass


class SmallBox(Box[Item]):
    pass


class Shelf(list[Item], Generic[Item]):
    pass


class Table(dict[str, Item], Generic[Item]):
    pass


class Words(list[str]):
    pass


class Text(str):
    __slots__ = ()


class HasIteration:
    def __iter__(self) -> Iterator[int]:
        return iter(())


class Model(BaseModel):
    x: int


class GenericModel(BaseModel, Generic[Item]):
    x: Item


class IntModel(GenericModel[int]):
    pass


class Movie(typing_extensions.TypedDict, total=False):
    title: typing_extensions.Required[str]
    year: int


class Film(Movie):
    length: int


class Titled(typing_extensions.TypedDict):
    title: str
    year: typing_extensions.ReadOnly[typing_extensions.NotRequired[float]]


class Rated(typing_extensions.TypedDict, Generic[Item]):
    title: str
    rating: Item


class Chain(typing_extensions.TypedDict):
    value: int
    rest: Chain | None


class Links(typing_extensions.TypedDict):
    value: float
    rest: Links | None


class TextLinks(typing_extensions.TypedDict):
    value: str
    rest: TextLinks | None


class Unresolved(typing_extensions.TypedDict):
    value: Unknown  # type: ignore[name-defined]  # noqa: F821 - what is tested


Untyped = collections.namedtuple("Untyped", "x y")  # noqa: PYI024 - fields without types are what is tested
Maybe = typing_extensions.TypeAliasType("Maybe", Item | None, type_params=(Item,))
Same = typing_extensions.TypeAliasType("Same", Item, type_params=(Item,))


def endless(name: str, text: str, parameter: str = "") -> Any:
    """Make an alias that refers to itself, as the statement `type` does from Python 3.12 on."""
    if sys.version_info >= (3, 12):
        names = dict(globals())
        exec(f"type {name}{parameter and f'[{parameter}]'} = {text}", names)
        return names[name]
    make: Any = typing_extensions.TypeAliasType
    alias = make(name, int, type_params=(Item,) if parameter else ())
    vars(alias)["__value__"] = eval(text, {**globals(), name: alias})
    return alias


Ints = endless("Ints", "int | list[Ints]")
Floats = endless("Floats", "float | list[Floats]")
Texts = endless("Texts", "str | list[Texts]")
Nest = endless("Nest", "Item | list[Nest[list[Item]]]", "Item")
Nothing = endless("Nothing", "Nothing")
