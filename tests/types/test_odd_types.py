"""Questions about types that refer to themselves, raise, or are no types at all."""

from __future__ import annotations

import collections.abc as abc
import typing
from typing import Annotated, Any, Generic, Literal, NamedTuple, Protocol, Union

import pytest
import typing_extensions
from hypothesis import given
from hypothesis import strategies as st

from dataflow.types.agreement import agrees, element_type, is_any
from tests.types.example_types import (
    Arguments,
    GenericModel,
    Ints,
    Item,
    Items,
    Movie,
    Named,
    Nest,
    Nothing,
    Person,
    Point,
    Untyped,
    endless,
)


def test_unions_of_aliases_that_refer_to_themselves_come_to_an_end() -> None:
    one = endless("one", "list[one] | set[one] | tuple[one] | int")
    other = endless("other", "list[other] | set[other] | tuple[other] | str | Nest[other]")
    assert agrees(one, other) in (True, False)


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
    5,
    "int",
    "no ( type",
    b"",
    ...,
    NotImplemented,
    [int],
    {"a": int},
    len,
    Item,
    Arguments,
    vars(typing)["ParamSpecArgs"](Arguments),
    Items,
    Generic,
    Protocol,
    Union,
    Literal,
    Annotated,
    NamedTuple,
    typing_extensions.TypedDict,
    Literal[[]],
    Annotated[int, []],
    abc.Callable,
    Nothing,
    Nest,
    Untyped,
    GenericModel,
]


def wrapped(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        inner.map(list.__class_getitem__),
        st.tuples(inner, inner).map(tuple.__class_getitem__),
        st.tuples(inner, inner).map(dict.__class_getitem__),
    )


ODD_TYPES = st.recursive(st.sampled_from(ODD), wrapped, max_leaves=6)


@given(
    ODD_TYPES,
    ODD_TYPES | st.sampled_from([int, object, list[int], dict[str, int], Person, Named, Movie, Point, Ints]),
)
def test_no_question_about_a_type_ever_raises(one: object, other: object) -> None:
    assert agrees(one, one) is True
    assert isinstance(agrees(one, other), bool)
    assert isinstance(agrees(other, one), bool)
    assert isinstance(is_any(one), bool)
    element_type(one)


@pytest.mark.parametrize("wrap", [lambda odd: odd, list.__class_getitem__], ids=["bare", "in a list"])
@pytest.mark.parametrize("make", [lambda: Hostile("hostile", (), {}), Posing], ids=["class", "object"])
def test_what_raises_when_looked_at_agrees(
    make: abc.Callable[[], Any], wrap: abc.Callable[[Any], Any]
) -> None:
    odd = wrap(make())
    assert agrees(list[int], odd)
    assert agrees(odd, odd)
    assert not is_any(odd)
    element_type(odd)
