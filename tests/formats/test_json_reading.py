"""JSON with places."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow import FormatError
from dataflow.formats.reader import MOST_BYTES, read

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def value(text: str) -> Any:
    return read(text, "flow.JSON")[0]


@given(values, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_what_json_writes_is_read_the_same(data: object, indent: int | str | None, ascii_only: bool) -> None:
    found = value(json.dumps(data, indent=indent, ensure_ascii=ascii_only))
    assert json.dumps(found) == json.dumps(data)


def test_all_of_json_is_read() -> None:
    text = '\t{"a" :\r\n[ 1, 2.5e3, -0, {}, [] ],"b":"\\ud83d\\ude00\\/\\u00e9\x7f\u2028", "":null }\n'
    found = value(text)
    assert found == {"a": [1, 2500.0, 0, {}, []], "b": "😀/é\x7f\u2028", "": None}


def test_infinity_and_nan_are_read_as_python_writes_them() -> None:
    found = value("[Infinity, -Infinity, NaN]")
    assert found[:2] == [math.inf, -math.inf]
    assert math.isnan(found[2])


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("", (1, 1), "is empty"),
        (" \n ", (1, 1), "is empty"),
        ('{"a": 1,\n "a": 2}', (2, 2), "key 'a' stands here for the second time; the first is in line 1"),
        ('{"a": 1,}', (1, 9), "expected a key in double quotes"),
        ("{a: 1}", (1, 2), "expected a key in double quotes"),
        ("{1: 1}", (1, 2), "expected a key in double quotes"),
        ('{"a" 1}', (1, 6), "expected `:`"),
        ('{"a":}', (1, 6), "expecting value"),
        ("[1,]", (1, 4), "expecting value"),
        ("[1 2]", (1, 4), "expected `,` or `]`"),
        ('{"a": 1]', (1, 8), "expected `,` or `}`"),
        ("[1", (1, 3), "expected `,` or `]`"),
        ("[1] x", (1, 5), "nothing may follow the document"),
        ("nul", (1, 1), "expecting value"),
        ("01", (1, 2), "nothing may follow"),
        ('"a', (1, 1), "unterminated string"),
        ('["a\tb"]', (1, 4), "invalid control character"),
        ('"\\x"', (1, 2), "invalid \\escape"),
        ('["\\ud800"]', (1, 2), "half of a surrogate pair is no character"),
        ("[" + "9" * 1001 + "]", (1, 2), "a number has more than 1000 digits"),
        ("[" + "9" * 5000 + "]", (1, 2), "a number has more than 1000 digits"),
        ("[" * 10_000, (1, 101), "nests deeper than 100 levels"),
        ('{"a":' * 10_000, (1, 501), "nests deeper than 100 levels"),
        ('{"a": *x}', (1, 7), "expecting value"),
    ],
)
def test_what_is_refused_is_told_with_its_place(text: str, where: tuple[int, int], words: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text, "flow.json")
    assert words in caught.value.reason
    assert (caught.value.line, caught.value.column) == where


def test_every_part_has_a_place() -> None:
    _, positions = read('{"a": [1,\n  {"b": 2}]}', "flow.json")
    assert positions.find(("a", 1, "b")) == (2, 4)


@pytest.mark.parametrize("name", ["flow.json", "flow.yaml"])
def test_ten_megabytes_are_read_and_no_more(name: str) -> None:
    text = '["' + "é" * ((MOST_BYTES - 4) // 2) + '"]'
    assert len(read(text, name)[0][0]) == (MOST_BYTES - 4) // 2
    with pytest.raises(FormatError, match="DF0103") as caught:
        read("\n" + text, name)
    assert (caught.value.line, caught.value.column) == (2, (MOST_BYTES - 4) // 2 + 4)
