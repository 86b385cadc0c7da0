"""JSON is read with the position of each part."""

from __future__ import annotations

import json
import math
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow import FormatError
from dataflow.formats.reader import MOST_BYTES, read
from tests.support.codes import located

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


REFUSED: Final = {
    "": "1:1 DF0104",
    " \n ": "1:1 DF0104",
    '{"a": 1,\n "a": 2}': "2:2 DF0112",
    '{"a": 1,}': "1:9 DF0106",
    "{1: 1}": "1:2 DF0106",
    "[1,]": "1:4 DF0106",
    "[1 2]": "1:4 DF0106",
    '{"a": 1]': "1:8 DF0106",
    "[1": "1:3 DF0106",
    "nul": "1:1 DF0106",
    "01": "1:2 DF0106",
    '"a': "1:1 DF0106",
    '["a\tb"]': "1:4 DF0106",
    '"\\x"': "1:2 DF0106",
    '["\\ud800"]': "1:2 DF0107",
    "[" + "9" * 1001 + "]": "1:2 DF0117",
    "[" + "9" * 5000 + "]": "1:2 DF0117",
    "[" * 10_000: "1:101 DF0116",
    '{"a":' * 10_000: "1:501 DF0116",
    '{"a": *x}': "1:7 DF0106",
}


def refusal(text: str) -> FormatError:
    with pytest.raises(FormatError) as caught:
        read(text, "flow.json")
    return caught.value


def test_invalid_text_is_refused_at_its_position() -> None:
    assert {text: located(refusal(text))[0] for text in REFUSED} == REFUSED


def test_every_part_has_a_position() -> None:
    _, positions = read('{"a": [1,\n  {"b": 2}]}', "flow.json")
    found = positions.find(("a", 1, "b"))
    assert (found.line, found.column) == (2, 4)


def test_ten_megabytes_are_read_and_no_more() -> None:
    text = '["' + "é" * ((MOST_BYTES - 4) // 2) + '"]'
    for name in ("flow.json", "flow.yaml"):
        assert len(read(text, name)[0][0]) == (MOST_BYTES - 4) // 2
        with pytest.raises(FormatError, match="DF0103") as caught:
            read("\n" + text, name)
        assert (caught.value.line, caught.value.column) == (2, (MOST_BYTES - 4) // 2 + 4)
