"""The types of the control pack that look at each item of a list."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow import Expression, ExpressionError
from dataflow_control import Filter, Sort, Unique, filter_list, sort_list, unique_list
from dataflow_control.items import AT_ONCE
from tests.packs.playing import played, problems_of
from tests.packs.values import typed

whole = st.integers(-5, 5)
numbers = st.lists(whole | st.floats(-5, 5))
texts = st.lists(st.text(max_size=3))
records = st.lists(st.fixed_dictionaries({"key": whole, "rest": st.text(max_size=2)}))
scalars = st.lists(st.none() | st.booleans() | whole | st.floats(-3, 3) | st.sampled_from(["", "1", "true"]))


@given(st.lists(whole), whole)
async def test_the_items_for_which_a_condition_holds_are_kept(items: list[int], least: int) -> None:
    config = Filter(condition=Expression("item >= least"))
    assert await played(filter_list, config, items=items, least=least) == [x for x in items if x >= least]


@given(numbers | texts, st.booleans())
async def test_items_are_sorted_by_themselves(items: list[Any], descending: bool) -> None:
    found = await played(sort_list, Sort(descending=descending), items=items)
    assert typed(found) == typed(sorted(items, reverse=descending))


@given(records, st.booleans())
async def test_items_with_equal_keys_keep_their_order(items: list[Any], descending: bool) -> None:
    config = Sort(key=Expression("item.key"), descending=descending)
    expected = sorted(items, key=lambda item: item["key"], reverse=descending)
    assert await played(sort_list, config, items=items) == expected


@given(records, whole)
async def test_a_key_may_read_other_inputs(items: list[Any], middle: int) -> None:
    config = Sort(key=Expression("(item.key - middle) ** 2"))
    expected = sorted(items, key=lambda item: (item["key"] - middle) ** 2)
    assert await played(sort_list, config, items=items, middle=middle) == expected


@given(scalars)
async def test_the_first_of_equal_items_is_kept(items: list[Any]) -> None:
    expected: list[Any] = []
    for item in items:
        if not any(item == one and isinstance(item, bool) is isinstance(one, bool) for one in expected):
            expected.append(item)
    assert typed(await played(unique_list, Unique(), items=items)) == typed(expected)


@given(records)
async def test_the_first_item_of_each_key_is_kept(items: list[Any]) -> None:
    expected: dict[int, Any] = {}
    for item in items:
        expected.setdefault(item["key"], item)
    found = await played(unique_list, Unique(key=Expression("item.key")), items=items)
    assert found == list(expected.values())


@pytest.mark.parametrize(
    ("function", "config", "items", "kind", "words"),
    [
        (filter_list, Filter(condition=Expression("item")), [1], ExpressionError, "expected a boolean"),
        (filter_list, Filter(condition=Expression("item.a")), [{}], ExpressionError, "no key 'a'"),
        (sort_list, Sort(), [1, "a"], ValueError, "found a number and a text to sort by"),
        (sort_list, Sort(), [True, False], ValueError, "found a boolean to sort by"),
        (sort_list, Sort(), [0.0, float("nan")], ValueError, "item 1 is nan; expected a number or a text"),
        (sort_list, Sort(key=Expression("item.a")), [{"a": [1]}], ValueError, "the key of item 0 is a list"),
        (sort_list, Sort(key=Expression("item.a")), [{}], ExpressionError, "no key 'a'"),
        (unique_list, Unique(), [1, {}], ValueError, "item 1 is a dict; expected a number or"),
    ],
)  # fmt: skip
async def test_what_cannot_be_compared_is_told(
    function: Any, config: Any, items: list[Any], kind: type[Exception], words: str
) -> None:
    error = await played(function, config, items=items)
    assert isinstance(error, kind)
    assert words in str(error)


@pytest.mark.parametrize(
    ("function", "config", "problem"),
    [
        (filter_list, {}, "config condition: is missing"),
        (filter_list, {"condition": "item >"}, "config condition: expression 'item >': "),
        (filter_list, {"condition": "items > 1"}, "config condition: the name 'items' is taken by the node"),
        (filter_list, {"condition": "item > least"}, "least' is required and has neither an edge"),
        (sort_list, {"key": "config"}, "config key: the name 'config' is taken by the node itself"),
        (sort_list, {"descending": 1}, "config descending: expected a valid boolean"),
        (unique_list, {"key": "item ~"}, "config key: expression 'item ~': "),
    ],
)  # fmt: skip
def test_a_config_that_cannot_be_is_a_problem(function: Any, config: Any, problem: str) -> None:
    (found,) = problems_of(function, config, items=[1])
    assert problem in found


async def test_others_have_their_turn_while_a_long_list_is_looked_at() -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await anyio.lowlevel.checkpoint()
            turns += 1

    async with anyio.create_task_group() as group:
        group.start_soon(others)
        await filter_list([1] * (10 * AT_ONCE), Filter(condition=Expression("item > 0")))
        group.cancel_scope.cancel()
    assert turns > 5
