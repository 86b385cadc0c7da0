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
from tests.types import example_types as ex


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
    ex.Item,
    ex.Arguments,
    vars(typing)["ParamSpecArgs"](ex.Arguments),
    ex.Items,
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
    ex.Nothing,
    ex.Nest,
    ex.Untyped,
    ex.GenericModel,
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
