"""The types of the control pack for texts."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow_control import join_text, parse_json, replace_text, split_lines, split_text, write_json
from dataflow_control.limits import MOST_CHARACTERS
from tests.nodes.control.values import json_values, typed
from tests.nodes.playing import played

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


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "NaN",
        "[Infinity]",
        "-Infinity",
        "01",
        "'a'",
        "[1,]",
        "\ufeff1",
        "1e999",
        "[-1e999]",
        '{"a": [1E+400]}',
    ],
)
async def test_what_is_no_json_is_not_read(text: str) -> None:
    assert isinstance(await played(parse_json, text=text), ValueError)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 1_000_000, "the JSON is nested too deep"),
        ("1" * 10_000, "an integer has 10,000 digits; expected at most 4,300"),
        ("[-" + "1" * 5_000 + "]", "an integer has 5,000 digits; expected at most 4,300"),
        ("1e999", "the number 1e999 is too large; expected one of a magnitude below 1.8e308"),
        ("1" * 400 + ".5", "the number 11111111111111111... is too large"),
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
        (float("nan"), "the value has nan or infinity, which JSON has not"),
        ({1, 2}, "set is not JSON serializable"),
        (ITSELF, "the value holds itself, which JSON cannot"),
        ([10**5_000], "an integer has more than 4,300 digits"),
        (DEEP, "the value is nested too deep for JSON"),
        (LAUGHS, "expected at most 10,000,000"),
    ],
    ids=["nan", "set", "itself", "digits", "deep", "laughs"],
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
)
async def test_what_would_be_too_much_or_endless_is_refused(
    function: Any, inputs: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError) as caught:
        await function(**inputs)
    assert words in str(caught.value)


class Short(str):
    """A text that says that it is short."""

    __slots__ = ()

    def __len__(self) -> int:
        return 1

    def __str__(self) -> str:
        return "lie"

    def split(self, *_: object) -> Any:
        return ["lie"]

    def replace(self, *_: object) -> Any:
        return "lie"

    def count(self, *_: object) -> int:
        return 0


@pytest.mark.parametrize(
    ("function", "inputs", "value"),
    [
        (split_text, {"text": Short("a,b"), "separator": ","}, ["a", "b"]),
        (split_lines, {"text": Short("a\nb")}, ["a", "b"]),
        (join_text, {"texts": [Short("a"), "b"], "separator": Short(", ")}, "a, b"),
        (replace_text, {"text": Short("abc"), "old": Short("b"), "new": Short("xy")}, "axyc"),
        (parse_json, {"text": Short("[12]")}, [12]),
        (write_json, {"value": Short("ab")}, '"ab"'),
    ],
)
async def test_of_a_class_of_its_own_the_text_that_is_there_counts(
    function: Any, inputs: dict[str, Any], value: Any
) -> None:
    assert typed(await played(function, **inputs)) == typed(value)


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (split_text, {"text": Short("," * 1_000_001), "separator": ","}),
        (split_lines, {"text": Short("\n" * 1_000_001)}),
        (join_text, {"texts": [Short("a" * 10_000_001)]}),
        (replace_text, {"text": Short("a" * 10_001), "old": "a", "new": "b" * 1_000}),
        (parse_json, {"text": Short(" " * 10_000_001)}),
        (write_json, {"value": Short("a" * 10_000_001)}),
    ],
)
async def test_no_bound_is_passed_by_a_class_of_its_own(function: Any, inputs: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected at most"):
        await function(**inputs)
