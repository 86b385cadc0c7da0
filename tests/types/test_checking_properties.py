"""What holds for checks of any value against any type (S1.7)."""

from __future__ import annotations

import collections.abc as abc
from typing import Annotated, Any, Literal, get_args, get_origin

from hypothesis import given
from hypothesis import strategies as st

from dataflow.errors import ValueMismatch
from dataflow.types.agreement import agrees
from dataflow.types.validation import check_value
from tests.types.example_types import Color, UserId

LEAVES = st.sampled_from(
    [int, float, str, bool, type(None), Literal["a", "b"], Literal[1, True], UserId, Color]
)


# What makes types at run time is nothing to a type checker.
ITERABLE: Any = abc.Iterable
SEQUENCE: Any = abc.Sequence
MAPPING: Any = abc.Mapping


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        inner.map(list.__class_getitem__),
        inner.map(SEQUENCE.__class_getitem__),
        inner.map(lambda item: tuple.__class_getitem__((item, ...))),
        pairs.map(tuple.__class_getitem__),
        inner.map(lambda item: dict.__class_getitem__((str, item))),
        inner.map(lambda item: MAPPING.__class_getitem__((str, item))),
        pairs.map(lambda pair: pair[0] | pair[1] if isinstance(pair[0], type) else pair[0]),
        inner.map(lambda item: Annotated[item, "a note"]),
    )


TYPES = st.recursive(LEAVES, containers, max_leaves=4)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3), st.tuples(inner, inner)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_every_value_is_of_its_own_type(value: object) -> None:
    assert check_value(value, type(value)) is value


@given(VALUES, TYPES)
def test_a_check_gives_the_value_itself_its_float_or_a_mismatch(value: object, expected: object) -> None:
    try:
        result = check_value(value, expected)
    except ValueMismatch:
        return
    assert result is value or (isinstance(value, int) and result == float(value))


def widened(kind: Any) -> Any:
    """Make a type that takes all values of another, and more."""
    wider = {list: ITERABLE, abc.Sequence: ITERABLE, tuple: tuple, dict: MAPPING}.get(get_origin(kind))
    if wider is not None:
        return wider[tuple(map(widened, get_args(kind)))]
    return kind if kind is ... else {bool: int, int: float, UserId: int}.get(kind, kind | None)


@given(st.data(), TYPES, TYPES)
def test_what_passes_for_a_source_passes_for_each_target_that_agrees(
    data: st.DataObject, source: Any, other: Any
) -> None:
    target = data.draw(st.sampled_from([other, source | other, widened(source)]))
    checked = check_value(data.draw(st.from_type(source)), source)
    if agrees(source, target):
        check_value(checked, target)


@given(TYPES, TYPES)
def test_a_type_agrees_with_what_is_wider(source: Any, other: Any) -> None:
    assert agrees(source, widened(source))
    assert agrees(source, source | other)
