"""What a map goes over, and which types are Any."""

from __future__ import annotations

import collections
import collections.abc as abc
import typing
from inspect import Parameter
from typing import Annotated, Any, Literal

import pytest

from dataflow.types.agreement import NOT_ITERABLE, element_type, is_any
from dataflow.types.shapes import flattened
from tests.types.example_types import (
    Color,
    HasIteration,
    Item,
    Maybe,
    Model,
    Movie,
    Named,
    Names,
    Nothing,
    Point,
    Same,
    Shelf,
    Text,
    UserId,
    Words,
)


@pytest.mark.parametrize(
    ("container", "element"),
    [
        (list[int], int),
        (typing.List[int], int),  # noqa: UP006
        (abc.Sequence[str], str),
        (abc.Iterable[str], str),
        (abc.Collection[str], str),
        (tuple[int, ...], int),
        (tuple[int, str], int | str),
        (tuple[()], Any),
        (collections.deque[int], int),
        (range, int),
        (Point, int),
        (Words, str),
        (Shelf[int], int),
        (Names, str),
        (Annotated[list[int], "a note"], int),
        (list[int] | tuple[str, ...], int | str),
        (list[int] | list[Any], Any),
        (Same[list[int]], int),
        (Any, Any),
        (list, Any),
        (tuple, Any),
        (HasIteration, Any),
        (Item, Any),
        (Named, Any),
        ("list[int]", Any),
        (Nothing, Any),
        (str, NOT_ITERABLE),
        (bytes, NOT_ITERABLE),
        (Text, NOT_ITERABLE),
        (Literal["a"], NOT_ITERABLE),
        (int, NOT_ITERABLE),
        (None, NOT_ITERABLE),
        (object, NOT_ITERABLE),
        (dict[str, int], NOT_ITERABLE),
        (set[int], NOT_ITERABLE),
        (frozenset[int], NOT_ITERABLE),
        (abc.Iterator[str], NOT_ITERABLE),
        (abc.Mapping[str, int], NOT_ITERABLE),
        (Movie, NOT_ITERABLE),
        (Model, NOT_ITERABLE),
        (Color, NOT_ITERABLE),
        (abc.AsyncIterator[int], NOT_ITERABLE),
        (abc.Container[int], NOT_ITERABLE),
        (list[int] | None, NOT_ITERABLE),
        (list[int] | str, NOT_ITERABLE),
    ],
    ids=str,
)
def test_a_map_goes_over_the_elements_of_list_like_types_only(container: object, element: object) -> None:
    assert element_type(container) == element


@pytest.mark.parametrize("annotation", [Any, Annotated[Any, "a note"], Parameter.empty], ids=str)
def test_any_is_known_behind_its_annotations(annotation: object) -> None:
    assert is_any(annotation)


@pytest.mark.parametrize("annotation", [object, int, "Any", Any | None, None], ids=str)
def test_nothing_else_is_any(annotation: object) -> None:
    assert not is_any(annotation)


def test_a_union_is_flattened_behind_aliases_and_new_types() -> None:
    assert flattened(Maybe[UserId] | str) == [int, type(None), str]


def test_an_alias_for_itself_is_flattened_to_nothing() -> None:
    assert flattened(Nothing) == []
