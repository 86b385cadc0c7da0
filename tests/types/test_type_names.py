"""Names of types in messages."""

from __future__ import annotations

import collections.abc
import inspect
import typing
from enum import Enum
from typing import Annotated, Any, ForwardRef, Literal, NewType, Optional, TypeVar, Union

import typing_extensions

from dataflow.types.shapes import type_name

Item = TypeVar("Item")
UserId = NewType("UserId", int)
Json = typing_extensions.TypeAliasType("Json", "int | list[Json]")


class Color(Enum):
    RED = "red"


class Outer:
    class Inner:
        pass


class Nameless(type):
    def __getattribute__(cls, name: str) -> object:
        raise RuntimeError(name)


NAMES: list[tuple[object, str]] = [
    (str, "str"),
    (list[str], "list[str]"),
    (typing.List[str], "list[str]"),  # noqa: UP006 - the old spelling is what is tested
    (typing.List, "list"),  # noqa: UP006 - as above
    (str | None, "str | None"),
    (Optional[str], "str | None"),  # noqa: UP045 - as above
    (Union[int, "Nowhere"], "int | Nowhere"),  # noqa: F821 - as above
    (None, "None"), (Any, "Any"), (inspect.Parameter.empty, "Any"), (object, "object"),
    (Literal["a", 1, None], "Literal['a', 1, None]"),
    (Literal[Color.RED], "Literal[Color.RED]"),
    (Annotated[int, "a note"], "int"),
    (Outer.Inner, "Outer.Inner"),
    (tuple[int, ...], "tuple[int, ...]"),
    (dict[str, list[int | None]], "dict[str, list[int | None]]"),
    (collections.abc.Callable[[int, str], bool], "Callable[[int, str], bool]"),
    (collections.abc.Callable[..., bool], "Callable[..., bool]"),
    (collections.abc.Sequence, "Sequence"),
    (type[int], "type[int]"), (UserId, "UserId"), (Item, "Item"), (Json, "Json"), ("Parts", "Parts"),
    (ForwardRef("Parts"), "Parts"), (5, "5"),
]  # fmt: skip


def test_a_type_has_a_short_name() -> None:
    assert [type_name(annotation) for annotation, _ in NAMES] == [name for _, name in NAMES]


def test_what_cannot_be_named_raises_nothing() -> None:
    odd = Nameless("odd", (), {})
    assert type_name(odd) == "an unnamed type"
