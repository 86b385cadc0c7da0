# ruff: noqa: E501 - many short values are on a line of the table
"""Digests of any values: equal exactly if the values are, as the codec and their types tell (S13.2)."""

from __future__ import annotations

import copy
import json
import math
import pickle
import random
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from dataflow import ExecutionContext, Message, Secret, Signal
from dataflow.values.classes import classes_of
from dataflow.values.digests import digest
from dataflow.values.writer import Writer
from tests.values.examples import Color, Frozen, Item, Kind, Level, Person, Point, Right, Tree, Word

CLASSES = classes_of([Color, Frozen, Item, Kind, Level, Person, Point, Right, Tree, Word])

#: Values that are easily taken for one another.
ALIKE: list[Any] = [
    None, False, True, 0, 1, 0.0, -0.0, 1.0, math.nan, "", "0", "1", "None", b"", b"1", Decimal(1), Decimal("1.0"), (), "a" * 9,
    b"a" * 9, Color.RED, Kind.A, "a", Word.YES, "yes", Level.HIGH, 3, Right.READ, Right(0), Signal(), Secret("a"), UUID(int=1),
    date(2024, 1, 1), "2024-01-01", datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=ZoneInfo("UTC")), timedelta(1),
    PurePosixPath("a"), PureWindowsPath("a"), frozenset(), frozenset({1}), frozenset({1.0}), (1,), ("1",), "\ud800", "\\ud800",
]  # fmt: skip

LEAVES = st.one_of(
    st.sampled_from(ALIKE),
    st.integers(),
    st.floats(),
    st.text(st.characters(exclude_categories=())),
    st.binary(),
    st.decimals(),
    st.datetimes(
        timezones=st.sampled_from([None, UTC, timezone(timedelta(hours=1)), ZoneInfo("Europe/Berlin")])
    ),
)
KEYS = st.one_of(st.sampled_from(ALIKE), st.text(max_size=3), st.tuples(st.sampled_from(ALIKE)))


def containers(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    few = st.lists(parts, max_size=3)
    return st.one_of(
        few,
        few.map(tuple),
        st.lists(KEYS, max_size=3).map(set),
        st.lists(KEYS, max_size=3).map(frozenset),
        st.dictionaries(KEYS, parts, max_size=3),
        st.builds(Item, st.sampled_from(Color), few),
        st.builds(Tree, st.text(max_size=2), few),
        st.builds(Point, parts, parts),
        st.builds(lambda name, more: Person.model_construct(name=name, hobby=more), parts, parts),
        few.map(
            lambda contents: ExecutionContext("c", message_history=[Message("user", one) for one in contents])
        ),
        st.dictionaries(st.text(max_size=2), parts, max_size=2).map(
            lambda held: ExecutionContext("c", variables=held)
        ),
    )


VALUES = st.recursive(LEAVES, containers, max_leaves=8)
#: Few values, so that two of them are often equal.
SMALL = st.recursive(st.sampled_from(ALIKE[:12]), containers, max_leaves=3)


def told(value: Any) -> str:
    """Tell a value as the codec writes it, with dicts in the order of their keys."""
    blobs: dict[str, bytes] = {}
    written = Writer(CLASSES, blobs.__setitem__).write(value, "a.out")
    return json.dumps([_in_order(written), sorted(blobs)], sort_keys=True)


def _in_order(written: Any) -> Any:
    if isinstance(written, list):
        return [_in_order(one) for one in written]
    if not isinstance(written, dict):
        return written
    ordered = {key: _in_order(one) for key, one in written.items()}
    if ordered.get("$") == "dict":
        ordered["v"].sort(key=json.dumps)
    return ordered


def shuffled(value: Any, order: random.Random) -> Any:
    """Build a value once more, its dicts and sets in another order."""
    match value:
        case dict():
            pairs = [(key, shuffled(one, order)) for key, one in value.items()]
            order.shuffle(pairs)
            return dict(pairs)
        case set() | frozenset():
            items = list(value)
            order.shuffle(items)
            return type(value)(items)
        case list():
            return [shuffled(one, order) for one in value]
        case Item() | Tree():
            made = copy.copy(value)
            vars(made).update((name, shuffled(one, order)) for name, one in vars(value).items())
            return made
        case _:
            return copy.deepcopy(value)


@given(VALUES, st.randoms(use_true_random=False))
def test_equal_values_have_equal_digests(value: Any, order: random.Random) -> None:
    assert digest(shuffled(value, order)) == digest(value)
    assert digest(copy.deepcopy(value)) == digest(value)
    assert digest(pickle.loads(pickle.dumps(value))) == digest(value)


@given(SMALL, SMALL)
def test_digests_are_equal_exactly_if_values_are(one: Any, other: Any) -> None:
    assert (digest(one) == digest(other)) == (told(one) == told(other))
