# mypy: disable-error-code="arg-type"
"""The types of the control pack for whole lists, for each item of one, and for texts."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from typing import Any, Final

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow import ArgumentInvalid, Expression, ExpressionError
from dataflow_control import (
    Filter,
    Sort,
    Unique,
    filter_list,
    flatten_list,
    join_lists,
    join_text,
    numbers,
    parse_json,
    replace_text,
    slice_list,
    sort_list,
    split_lines,
    split_text,
    unique_list,
    write_json,
)
from dataflow_control.limits import A_TURN, MOST_CHARACTERS
from tests.nodes.control.values import json_values, typed
from tests.nodes.playing import played

lists = st.lists(json_values, max_size=6)
small = st.integers(-30, 30)


@given(small, small, small.filter(bool))
async def test_numbers_are_those_of_a_range(start: int, stop: int, step: int) -> None:
    assert await played(numbers, start=start, stop=stop, step=step) == list(range(start, stop, step))


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
        (flatten_list, {"lists": [[0] * 1_001] * 1_000}, "DF3006", "1,001,000"),
    ):
        with pytest.raises(ArgumentInvalid, match=code) as caught:
            await function(**inputs)
        assert caught.value.diagnostics[0].found == found
    with pytest.raises(ValueError, match="DF3006"):
        await join_lists(*[[0] * 1_001] * 1_000)


texts = st.text(st.sampled_from("ab,\n\r "), max_size=30)
lines = st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])), min_size=1)
LAUGHS: Final[list[Any]] = ["ha" * 1_000]
for _ in range(40):
    LAUGHS[:] = [LAUGHS[:]] * 10
ITSELF: Final[list[Any]] = []
ITSELF.append(ITSELF)
DEEP: Final[list[Any]] = []
for _ in range(100_000):
    DEEP[:] = [DEEP[:]]


@given(texts, st.text(st.sampled_from("ab,"), min_size=1, max_size=2))
async def test_joining_puts_together_what_splitting_took_apart(text: str, separator: str) -> None:
    pieces = await played(split_text, text=text, separator=separator)
    assert not [piece for piece in pieces if separator in piece]
    assert await played(join_text, texts=pieces, separator=separator) == text


@given(lines, st.sampled_from(["\n", "\r", "\r\n"]), st.booleans())
async def test_the_lines_of_a_text_are_found_with_any_end(parts: list[str], end: str, ends: bool) -> None:
    text = end.join(parts) + end if ends or not parts[-1] else end.join(parts)
    assert await played(split_lines, text=text) == parts
    assert await split_lines("") == []


@given(texts, st.text(st.sampled_from("ab,"), min_size=1, max_size=2), texts)
async def test_every_place_of_a_text_is_replaced_from_the_left(text: str, old: str, new: str) -> None:
    assert await played(replace_text, text=text, old=old, new=new) == new.join(text.split(old))


@given(json_values, st.booleans())
async def test_reading_gives_what_was_written_as_json(value: Any, indented: bool) -> None:
    text = await played(write_json, value=value, indented=indented)
    assert typed(await played(parse_json, text=text)) == typed(value)
    assert text == json.dumps(value, ensure_ascii=False, indent=2 if indented else None)


async def problem_of(work: Any) -> tuple[str, str]:
    with pytest.raises(ArgumentInvalid) as caught:
        await work
    return caught.value.code, caught.value.diagnostics[0].found


async def test_json_that_is_too_much_or_cannot_represent_a_value() -> None:
    for text, problem in (
        ("[" * 1_000_000, ("DF3010", "")),
        ("1" * 10_000, ("DF3006", "10,000")),
        ("[-" + "1" * 5_000 + "]", ("DF3006", "5,000")),
        ("1e999", ("DF3006", "")),
        ("1" * 400 + ".5", ("DF3006", "")),
        (" " * (MOST_CHARACTERS + 1), ("DF3006", "10,000,001")),
    ):
        assert await problem_of(parse_json(text)) == problem
    for value, code in (
        (float("nan"), "DF3012"),
        (ITSELF, "DF3012"),
        ([10**5_000], "DF3006"),
        (DEEP, "DF3010"),
        (LAUGHS, "DF3006"),
    ):
        assert (await problem_of(write_json(value)))[0] == code
    with pytest.raises(TypeError, match="set is not JSON serializable"):
        await write_json({1, 2})
    for work, problem in (
        (split_text("a", ""), ("DF3008", "")),
        (replace_text("a", "", "b"), ("DF3008", "")),
        (split_text("," * 1_000_000, ","), ("DF3006", "1,000,001")),
        (split_lines("\n" * 1_000_001), ("DF3006", "1,000,001")),
        (join_text([""] * 1_001, "a" * 10_001), ("DF3006", "10,001,000")),
        (join_text(["a" * 10_000_001]), ("DF3006", "10,000,001")),
        (replace_text("a" * 10_001, "a", "b" * 1_000), ("DF3006", "10,001,000")),
    ):
        assert await problem_of(work) == problem


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
