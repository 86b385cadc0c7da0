"""The types of the control pack for texts."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow_control import join_text, parse_json, replace_text, split_lines, split_text, write_json
from dataflow_control.bounds import MOST_CHARACTERS
from tests.packs.playing import played
from tests.packs.values import json_values, typed

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


async def test_an_empty_text_has_no_lines() -> None:
    assert await played(split_lines, text="") == []


@given(st.lists(texts))
async def test_texts_without_a_separator_are_put_one_after_the_other(parts: list[str]) -> None:
    assert await played(join_text, texts=parts) == "".join(parts)


@given(texts, st.text(st.sampled_from("ab,"), min_size=1, max_size=2), texts)
async def test_every_place_of_a_text_is_replaced_from_the_left(text: str, old: str, new: str) -> None:
    assert await played(replace_text, text=text, old=old, new=new) == new.join(text.split(old))


@given(json_values, st.booleans())
async def test_reading_gives_what_was_written_as_json(value: Any, indented: bool) -> None:
    text = await played(write_json, value=value, indented=indented)
    assert typed(await played(parse_json, text=text)) == typed(value)
    assert text == json.dumps(value, ensure_ascii=False, indent=2 if indented else None)


@pytest.mark.parametrize("text", ["", "{", "NaN", "[Infinity]", "-Infinity", "01", "'a'", "[1,]", "\ufeff1"])
async def test_what_is_no_json_is_not_read(text: str) -> None:
    assert isinstance(await played(parse_json, text=text), ValueError)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 1_000_000, "the JSON is nested too deep"),
        ("1" * 10_000, "Exceeds the limit"),
        (
            " " * (MOST_CHARACTERS + 1),
            "10,000,001 characters; expected at most",
        ),
    ],
)
async def test_json_that_is_too_much_is_told(text: str, words: str) -> None:
    with pytest.raises(ValueError) as caught:
        await parse_json(text)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (float("nan"), "Out of range float values are not JSON compliant"),
        ({1, 2}, "set is not JSON serializable"),
        (ITSELF, "Circular reference"),
        (DEEP, "the value is nested too deep for JSON"),
        (LAUGHS, "expected at most 10,000,000"),
    ],
    ids=["nan", "set", "itself", "deep", "laughs"],
)
async def test_a_value_that_json_cannot_carry_is_told(value: Any, words: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        await write_json(value)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("function", "inputs", "words"),
    [
        (
            split_text,
            {"text": "a", "separator": ""},
            "the separator is empty; expected at least one character",
        ),
        (
            split_text,
            {"text": "," * 1_000_000, "separator": ","},
            "1,000,001 items; expected at most 1,000,000",
        ),
        (split_lines, {"text": "\n" * 1_000_001}, "1,000,001 items; expected at most 1,000,000"),
        (join_text, {"texts": [""] * 1_001, "separator": "a" * 10_001}, "10,001,000 characters"),
        (join_text, {"texts": ["a" * 10_000_001]}, "10,000,001 characters"),
        (replace_text, {"text": "a", "old": "", "new": "b"}, "the text to replace is empty"),
        (replace_text, {"text": "a" * 10_001, "old": "a", "new": "b" * 1_000}, "10,001,000 characters"),
    ],
    ids=range(7),
)
async def test_what_would_be_too_much_or_endless_is_refused(
    function: Any, inputs: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError) as caught:
        await function(**inputs)
    assert words in str(caught.value)
