# ruff: noqa: UP006, UP044 - old spellings are tested too
# mypy: disable-error-code="valid-type, misc"
"""Which types may feed which, and what a map goes over (S1.7)."""

from __future__ import annotations

import collections
import collections.abc as abc
import typing
from inspect import Parameter
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    Never,
    Protocol,
    Union,
    Unpack,
)

import pytest
import typing_extensions
from hypothesis import given
from hypothesis import strategies as st
from pydantic import EmailStr

from dataflow.types.agreement import NOT_ITERABLE, agrees, element_type, is_any
from tests.types import example_types as ex

#: What a target accepts, and what it does not accept.
TARGETS: list[tuple[object, list[object], list[object]]] = [
    (int, [int, bool, Any, Parameter.empty, Never, ex.UserId, "str", 5, ex.Arguments, ex.Nothing], []),
    (int, [], [str, float, object, None, int | str, int | None, Any | None, ex.Movie, abc.Callable[[], int]]),
    (int, [], [ex.Maybe[int], ex.Same[str]]),
    (float, [int, bool, Literal[1], ex.Same[int], ex.UserId], []),
    (Never, [Any], [int]), (object, [int, object, int | str], []), (int | str, [int, Literal["a", 1]], []),
    (float | None, [int, ex.Maybe[int]], []), (str | float, [int | str], []),
    (str, [Literal["a"], typing.LiteralString, EmailStr], [Literal["a", 1], ex.UserId]),
    (Literal["a", "b"], [Literal["a"]], []), (str | None, [Literal["a", None]], []),
    (ex.Color, [Literal[ex.Color.RED]], []), (Literal[True, False], [bool], []),
    (Literal[ex.Color.RED, ex.Color.BLUE], [ex.Color], []),
    (Literal["a", None], [None], []),
    (Literal["a"], [ex.Item], [Literal["a", "b"], str, None]),
    (list[float], [list[int], ex.Shelf[int], ex.Same[list[int]]], []),
    (list, [list[int]], []),
    (list[int], [list, list[Annotated[int, "deep"]]], []),
    (list[int], [], [list[str], list[float], list[object], abc.Sequence[int], ex.Shelf[str], ex.Words]),
    (abc.Iterable[abc.Sequence[float]], [list[list[bool]]], []),
    (abc.Set[float], [set[int]], []),
    (abc.Iterable[int], [frozenset[int]], [dict[str, int], ex.Text]),
    (abc.Mapping[str, float], [dict[str, int], ex.Table[int]], []),
    (abc.Iterable[str], [dict[str, int], abc.KeysView[str], ex.Text, ex.HasIteration], []),
    (abc.Iterable[str], [], [abc.ItemsView[str, int]]),
    (dict[str, int], [collections.defaultdict[str, int], ex.Movie], [ex.Model]),
    (abc.Mapping[str, int], [collections.Counter[str]], [ex.Table[str]]),
    (abc.Sequence[int], [collections.deque[int], bytes, tuple[int, Unpack[tuple[str, ...]]], ex.Point], []),
    (abc.Sequence[int], [ex.Untyped], []),
    (abc.Sequence[int], [], [str, tuple[int, str]]),
    (abc.Iterable[tuple[str, int]], [abc.ItemsView[str, int]], []),
    (abc.Sequence[str], [str], [bytes]),
    (tuple[float, str], [tuple[int, str]], []),
    (tuple[float, ...], [tuple[int, bool], tuple[int, ...]], []),
    (tuple[int, ...], [tuple[()]], [list[int], tuple[int, str]]),
    (tuple[()], [tuple[()]], [tuple[int, ...]]),
    (tuple, [typing.Tuple[int, str], ex.Point], []),
    (tuple[int, str], [tuple, tuple[int, Unpack[tuple[str, ...]]]], []),
    (abc.Sequence[int | str], [tuple[int, str]], []),
    (abc.Iterable[float], [tuple[int, ...], ex.Shelf[int]], []),
    (tuple[Unpack[ex.Items]], [tuple[int]], []),
    (tuple[typing_extensions.Unpack[tuple[str, ...]]], [tuple[int]], []),
    (tuple[float, int], [ex.Point], []),
    (tuple[str, int], [ex.Pair[str]], []),
    (tuple[int, int], [ex.Untyped], [tuple[int, str], tuple[int, ...], ex.Pair[str]]),
    (ex.Box[float], [ex.Box[int], ex.SmallBox[int]], []),
    (ex.Box[int], [ex.Box, ex.SmallBox], [ex.Box[str], ex.SmallBox[str]]),
    (list[str], [ex.Words], [str, ex.Titled]),
    (ex.GenericModel[int], [ex.GenericModel[bool], ex.GenericModel], [ex.GenericModel[str]]),
    (ex.GenericModel[float], [ex.IntModel], []),
    (type[ex.Animal], [type[ex.Dog]], []),
    (type[ex.Dog], [type], [type[ex.Animal]]),
    (Annotated[float, "target"], [Annotated[int, "source"]], []),
    (ex.UserId, [ex.UserId, ex.AdminId, ex.Item], [int]),
    (int | None, [ex.AdminId], [str]),
    (ex.Named, [ex.Person, ex.Ship, ex.Named], [ex.Animal]),
    (ex.Hashes, [tuple[int]], [list[int]]), (dict, [ex.Movie], []),
    (abc.Mapping[str, object], [ex.Movie], []), (ex.Movie, [ex.Film], [ex.Titled, int]),
    (ex.Titled, [ex.Movie, ex.Rated[int], dict[str, str], ex.Item], []),
    (ex.Links, [ex.Chain], []), (ex.Chain, [ex.Unresolved], []), (ex.Unresolved, [ex.Chain], []),
    (ex.Rated[float], [ex.Rated[int]], []),
    (abc.Callable[[str], int], [abc.Callable[[int], str]], []),
    (ex.Item, [ex.Dog], []), (ex.Dog, [ex.Item], [ex.Animal]), (list[ex.Item], [list[int]], []),
    ("str", [int], []), (5, [int], []), (EmailStr, [str], [object]),
    (ex.Floats, [ex.Ints, list[ex.Ints]], []), (ex.Nest[float], [ex.Nest[int]], []), (bool, [], [int]),
    (Literal[True], [], [Literal[1], bool]), (Literal[ex.Color.RED], [], [ex.Color]),
    (abc.Mapping[str, str], [], [dict[str, int], collections.Counter[str]]),
    (abc.Iterator[int], [], [abc.Generator[str, None, None]]),
    (tuple[int], [], [tuple[int, str], ex.Point]),
    (ex.GenericModel[str], [], [ex.IntModel]),
    (ex.Calls, [], [ex.Dog]), (ex.Person, [], [ex.Named]), (ex.Film, [], [ex.Movie]),
    (ex.TextLinks, [], [ex.Chain]), (ex.Rated[int], [], [ex.Rated[str]]), (ex.Texts, [], [ex.Ints]),
]  # fmt: skip


def test_targets_accept_the_sources_whose_values_they_can_take() -> None:
    for target, accepted, refused in TARGETS:
        assert [source for source in accepted if not agrees(source, target)] == []
        assert [source for source in refused if agrees(source, target)] == []


def test_every_type_agrees_with_itself() -> None:
    for target, accepted, refused in TARGETS:
        for kind in (target, *accepted, *refused):
            assert agrees(kind, kind)
            assert agrees(list.__class_getitem__(kind), list.__class_getitem__(kind))


def test_a_hint_that_names_no_class_leaves_a_named_tuple_undecided() -> None:
    assert agrees(ex.Lost, tuple[int])


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


@pytest.mark.timeout(20)
def test_types_nested_without_bound_are_not_decided_without_bound() -> None:
    deep: Any = int
    for _ in range(5000):
        deep = list.__class_getitem__(deep)
    assert agrees(deep, list[Any])
    assert agrees(deep, list.__class_getitem__(deep))


class Hostile(type):
    """A metaclass whose classes raise whatever they are asked."""

    def __instancecheck__(cls, value: object) -> bool:
        raise RuntimeError

    def __subclasscheck__(cls, kind: type) -> bool:
        raise KeyError

    def __hash__(cls) -> int:
        raise TypeError

    def __eq__(cls, other: object) -> bool:
        raise OSError


class Posing:
    """An object that raises when asked for its class."""

    @property
    def __class__(self) -> Any:
        raise RuntimeError

    @__class__.setter
    def __class__(self, kind: type) -> None: ...


ODD: list[Any] = [
    *(5, "int", "no ( type", b"", ..., NotImplemented, [int], {"a": int}, len, ex.Item, ex.Arguments),
    *(vars(typing)["ParamSpecArgs"](ex.Arguments), ex.Items, Generic, Protocol, Union, Literal, Annotated),
    *(NamedTuple, typing_extensions.TypedDict, Literal[[]], Annotated[int, []], abc.Callable, ex.Nothing),
    *(ex.Nest, ex.Untyped, ex.GenericModel),
]


def wrapped(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        inner.map(list.__class_getitem__),
        st.tuples(inner, inner).map(tuple.__class_getitem__),
        st.tuples(inner, inner).map(dict.__class_getitem__),
    )


ODD_TYPES = st.recursive(st.sampled_from(ODD), wrapped, max_leaves=6)


PLAIN = [int, object, list[int], dict[str, int], ex.Person, ex.Named, ex.Movie, ex.Point, ex.Ints]


@given(ODD_TYPES, ODD_TYPES | st.sampled_from(PLAIN))
def test_no_question_about_a_type_ever_raises(one: object, other: object) -> None:
    assert agrees(one, one) is True
    assert isinstance(agrees(one, other), bool)
    assert isinstance(agrees(other, one), bool)
    assert isinstance(is_any(one), bool)
    element_type(one)


def test_what_raises_when_inspected_agrees() -> None:
    for odd in (Hostile("hostile", (), {}), Posing()):
        for kind in (odd, list.__class_getitem__(odd)):
            assert agrees(list[int], kind)
            assert agrees(kind, kind)
            assert not is_any(kind)
            element_type(kind)
