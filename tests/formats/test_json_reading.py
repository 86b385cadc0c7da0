"""JSON is read with the position of each part."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow import FormatError
from dataflow.formats.reader import read
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


REFUSED: Final = {
    "": "1:1 DF0104", " \n ": "1:1 DF0104", '{"a": 1,\n "a": 2}': "2:2 DF0112", '{"a": 1,}': "1:9 DF0106",
    "{1: 1}": "1:2 DF0106", "[1,]": "1:4 DF0106", "[1 2]": "1:4 DF0106", '{"a": 1]': "1:8 DF0106",
    "[1": "1:3 DF0106", "nul": "1:1 DF0106", "01": "1:2 DF0106", '"a': "1:1 DF0106", '["a\tb"]': "1:4 DF0106",
    '"\\x"': "1:2 DF0106", '["\\ud800"]': "1:2 DF0107", "[" + "9" * 1001 + "]": "1:2 DF0117",
    "[" + "9" * 5000 + "]": "1:2 DF0117", "[" * 10_000: "1:101 DF0116", '{"a":' * 10_000: "1:501 DF0116",
    '{"a": *x}': "1:7 DF0106",
}  # fmt: skip


def refusal(text: str) -> FormatError:
    with pytest.raises(FormatError) as caught:
        read(text, "flow.json")
    return caught.value


def test_invalid_text_is_refused_at_its_position() -> None:
    assert {text: located(refusal(text))[0] for text in REFUSED} == REFUSED
