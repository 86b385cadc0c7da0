# mypy: disable-error-code="arg-type"
"""The types of the control pack that look at each item of a list."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow import Expression, ExpressionError
from dataflow_control import Filter, Sort, Unique, filter_list, sort_list, unique_list
from dataflow_control.limits import A_TURN
from tests.nodes.control.values import typed
from tests.nodes.playing import played

whole = st.integers(-5, 5)
records = st.lists(st.fixed_dictionaries({"key": whole, "rest": st.text(max_size=2)}))
scalars = st.lists(st.none() | st.booleans() | whole | st.floats(-3, 3) | st.sampled_from(["", "1", "true"]))


@given(st.lists(whole), whole)
async def test_the_items_for_which_a_condition_holds_are_kept(items: list[int], least: int) -> None:
    config = Filter(condition=Expression("item >= least"))
    assert await played(filter_list, config, items=items, least=least) == [x for x in items if x >= least]


@given(records, st.booleans())
async def test_items_with_equal_keys_keep_their_order(items: list[Any], descending: bool) -> None:
    config = Sort(key=Expression("item.key"), descending=descending)
    expected = sorted(items, key=lambda item: item["key"], reverse=descending)
    assert await played(sort_list, config, items=items) == expected


@given(scalars)
async def test_the_first_of_equal_items_is_kept(items: list[Any]) -> None:
    expected: list[Any] = []
    for item in items:
        if not any(item == one and isinstance(item, bool) is isinstance(one, bool) for one in expected):
            expected.append(item)
    assert typed(await played(unique_list, Unique(), items=items)) == typed(expected)


async def test_items_that_cannot_be_compared() -> None:
    by_a = Sort(key=Expression("item.a"))
    for function, config, items, problem in (
        (filter_list, Filter(condition=Expression("item")), [1], None),
        (filter_list, Filter(condition=Expression("item.a")), [{}], None),
        (sort_list, by_a, [{}], None),
        (sort_list, Sort(), [1, "a"], ("DF3005", "a number and a string")),
        (sort_list, Sort(), [True, False], ("DF3005", "a boolean")),
        (sort_list, Sort(), [None], ("DF3005", "null")),
        (sort_list, Sort(), [0.0, float("nan")], ("DF3004", "nan")),
        (sort_list, Sort(), [object()], ("DF3004", "a value of type object")),
        (sort_list, by_a, [{"a": [1]}], ("DF3004", "a list")),
        (unique_list, Unique(), [1, {}], ("DF3004", "a mapping")),
    ):
        error = await played(function, config, items=items)
        if problem is None:
            assert isinstance(error, ExpressionError)
        else:
            assert (error.code, error.diagnostics[0].found) == problem


async def test_a_long_list_is_sorted_like_a_short_one() -> None:
    for count in (0, 1, 2, 999, 1_000, 1_001, 2_001, 3_500):
        items = [{"key": position * 7_919 % 101, "at": position} for position in range(count)]
        for descending in (False, True):
            expected = sorted(items, key=lambda item: item["key"], reverse=descending)
            config = Sort(key=Expression("item.key"), descending=descending)
            assert await sort_list(items, config) == expected


async def turns_during(work: Awaitable[object]) -> int:
    """Count the turns that others have while some work is done."""
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await anyio.lowlevel.checkpoint()
            turns += 1

    async with anyio.create_task_group() as group:
        group.start_soon(others)
        await work
        group.cancel_scope.cancel()
    return turns


async def test_others_have_their_turn_for_each_item_that_takes_long() -> None:
    lists = {"a": [0] * A_TURN, "b": [0.0] * A_TURN}
    for function, config in (
        (filter_list, Filter(condition=Expression("a == b"))),
        (sort_list, Sort(key=Expression("1 if a == b else 2"))),
        (unique_list, Unique(key=Expression("a == b"))),
    ):
        assert await turns_during(function([1] * 20, config, **lists)) > 10


#: Two texts that are equal, but not the same; reading one takes a million steps.
LONG, AS_LONG = (f"{'a' * 10_000_000}{end}" for end in ("b", "b"))


async def test_all_the_work_of_a_node_has_a_bound() -> None:
    same = Expression("a == item")
    for function, settings in (
        (filter_list, {"config": Filter(condition=same), "a": AS_LONG}),
        (sort_list, {}),
        (sort_list, {"config": Sort(key=same), "a": AS_LONG}),
        (unique_list, {}),
        (unique_list, {"config": Unique(key=same), "a": AS_LONG}),
    ):
        with pytest.raises(ValueError, match="DF3007"):
            await function([LONG] * 1_100, **settings)
