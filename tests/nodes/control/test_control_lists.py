"""The types of the control pack for whole lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow import ArgumentInvalid, Flow
from dataflow_control import flatten_list, join_lists, numbers, slice_list
from tests.nodes.control.values import json_values, typed
from tests.nodes.playing import played

lists = st.lists(json_values, max_size=6)
small = st.integers(-30, 30)


class Short(list[Any]):
    """A list that says that it is short."""

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[Any]:
        return iter(["lie"])

    def __getitem__(self, _: object) -> Any:
        return ["lie"]


@given(small, small, small.filter(bool))
async def test_numbers_are_those_of_a_range(start: int, stop: int, step: int) -> None:
    assert await played(numbers, start=start, stop=stop, step=step) == list(range(start, stop, step))


@given(st.lists(lists, min_size=1, max_size=4))
async def test_lists_are_joined_in_the_order_of_their_edges(parts: list[list[Any]]) -> None:
    with Flow() as flow:
        ports = [flow.input(f"list_{number}", list[Any]) for number in range(len(parts))]
        flow.output("out", flow.add(join_lists, *ports).out)
    flowing = await flow.run(**{f"list_{number}": part for number, part in enumerate(parts)})
    expected = typed([item for part in parts for item in part])
    assert typed(flowing["out"]) == typed(await join_lists(*parts)) == expected


async def test_a_list_that_does_not_come_is_left_out() -> None:
    with Flow() as flow:
        given_list = flow.when(flow.input("items", list[int]), lambda items: len(items) > 1)
        flow.output("out", flow.add(join_lists, [0], given_list.yes, [9]).out)
    assert [(await flow.run(items=items))["out"] for items in ([1], [1, 2])] == [[0, 9], [0, 1, 2, 9]]


@given(st.lists(lists, max_size=4))
async def test_a_list_of_lists_is_flattened_by_one_level(parts: list[list[Any]]) -> None:
    assert typed(await played(flatten_list, lists=parts)) == typed([item for part in parts for item in part])


@given(lists, small, small | st.none())
async def test_a_slice_has_the_items_that_python_takes(
    items: list[Any], start: int, stop: int | None
) -> None:
    found = await played(slice_list, items=items, start=start, stop=stop)
    assert typed(found) == typed(items[start:stop])


async def test_what_would_be_too_much_is_refused() -> None:
    for function, inputs, code, found in (
        (numbers, {"stop": 3, "step": 0}, "DF3009", ""),
        (numbers, {"stop": 1_000_001}, "DF3006", "1,000,001"),
        (numbers, {"stop": -(10**30), "step": -1}, "DF3006", f"{10**30:,}"),
        (numbers, {"stop": 2**256}, "DF3006", "257"),
        (numbers, {"start": -(2**16_609), "stop": 0}, "DF3006", "16,610"),
        (flatten_list, {"lists": [Short([0] * 1_001)] * 1_000}, "DF3006", "1,001,000"),
        (flatten_list, {"lists": Short([[0] * 1_001] * 1_000)}, "DF3006", "1,001,000"),
        (flatten_list, {"lists": [[0] * 1_001] * 1_000}, "DF3006", "1,001,000"),
    ):
        with pytest.raises(ArgumentInvalid, match=code) as caught:
            await function(**inputs)
        assert caught.value.diagnostics[0].found == found
    with pytest.raises(ValueError, match="DF3006"):
        await join_lists(*[Short([0] * 1_001)] * 1_000)


async def test_as_many_numbers_as_are_allowed_are_listed() -> None:
    assert len(await numbers(1_000_000)) == len(await numbers(0, 3_000_000, -3)) == 1_000_000


async def test_of_a_class_of_its_own_the_items_that_are_there_count() -> None:
    assert typed(await flatten_list(lists=Short([Short([1, 2]), [3]]))) == typed([1, 2, 3])
    assert typed(await slice_list(items=Short([1, 2, 3]), start=1)) == typed([2, 3])
    assert await join_lists(Short([1, 2]), [3]) == [1, 2, 3]
