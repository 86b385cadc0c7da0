"""What a map goes over, and which types are Any."""

from __future__ import annotations

import collections
import collections.abc as abc
from inspect import Parameter
from typing import Annotated, Any, Literal

from dataflow.types.agreement import NOT_ITERABLE, element_type, is_any
from tests.types import example_types as ex

#: The types of items, with types that have such items.
ELEMENTS: list[tuple[object, list[object]]] = [
    (int, [list[int], list[int], tuple[int, ...], collections.deque[int], range, ex.Point]),
    (int, [ex.Shelf[int], Annotated[list[int], "a note"], ex.Same[list[int]]]),
    (str, [abc.Sequence[str], abc.Iterable[str], abc.Collection[str], ex.Words, ex.Names]),
    (int | str, [tuple[int, str], list[int] | tuple[str, ...]]),
    (Any, [tuple[()], list[int] | list[Any], Any, list, tuple, ex.HasIteration, ex.Item, ex.Named]),
    (Any, ["list[int]", ex.Nothing]),
    (NOT_ITERABLE, [str, bytes, ex.Text, Literal["a"], int, None, object, dict[str, int], set[int]]),
    (NOT_ITERABLE, [ex.Movie]),
    (NOT_ITERABLE, [frozenset[int], abc.Iterator[str], abc.Mapping[str, int], ex.Model, ex.Color]),
    (NOT_ITERABLE, [list[int] | str]),
    (NOT_ITERABLE, [abc.AsyncIterator[int], abc.Container[int], list[int] | None]),
]


def test_a_map_iterates_over_the_elements_of_list_like_types_only() -> None:
    for element, containers in ELEMENTS:
        assert [one for one in containers if element_type(one) != element] == []


def test_only_any_is_any_also_behind_annotations() -> None:
    kinds = [Any, Annotated[Any, "a note"], Parameter.empty, object, int, "Any", Any | None, None]
    assert [is_any(kind) for kind in kinds] == [True] * 3 + [False] * 5
