"""The types of the control pack for whole lists and for texts."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow import ArgumentInvalid, Flow
from dataflow_control import (
    flatten_list,
    join_lists,
    join_text,
    numbers,
    parse_json,
    replace_text,
    slice_list,
    split_lines,
    split_text,
    write_json,
)
from dataflow_control.limits import MOST_CHARACTERS
from tests.nodes.control.values import json_values, typed
from tests.nodes.playing import played

lists = st.lists(json_values, max_size=6)
small = st.integers(-30, 30)


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


@given(texts, st.text(st.sampled_from("ab,"), min_size=1, max_size=2), texts)
async def test_every_place_of_a_text_is_replaced_from_the_left(text: str, old: str, new: str) -> None:
    assert await played(replace_text, text=text, old=old, new=new) == new.join(text.split(old))


@given(json_values, st.booleans())
async def test_reading_gives_what_was_written_as_json(value: Any, indented: bool) -> None:
    text = await played(write_json, value=value, indented=indented)
    assert typed(await played(parse_json, text=text)) == typed(value)
    assert text == json.dumps(value, ensure_ascii=False, indent=2 if indented else None)


async def problem_of(work: Any) -> tuple[str, str]:
    """Return the code of a problem, and what was found."""
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
