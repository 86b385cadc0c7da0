"""`--json` and `--stream` on the command line."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from dataflow.cli.json_output import json_line
from dataflow.cli.output import Refused, is_terminal, shout, tell, tolerant, write
from dataflow.inspection.json_values import json_value, shortened_repr


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclass
class Record:
    name: str
    parts: tuple[int, ...]


class Model(BaseModel):
    path: Path


class Colour(Enum):
    RED = "red"


class Number(IntEnum):
    ONE = 1


class Failing:
    def __repr__(self) -> str:
        raise LookupError


class FailingDict(dict[str, int]):
    def items(self) -> Any:
        raise LookupError


looped: list[Any] = [1]
looped.append(looped)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.dates(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.tuples(inner),
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (0, 0),
        ("", ""),
        ([1, (2, [])], [1, [2, []]]),
        ({"a": {}}, {"a": {}}),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({"b", "a"}), ["a", "b"]),
        (Pair(1, Pair(2, 3)), {"left": 1, "right": {"left": 2, "right": 3}}),
        (Record("a", (1,)), {"name": "a", "parts": [1]}),
        (Model(path=Path("a/b")), {"path": "a/b"}),
        (Colour.RED, "red"),
        (Number.ONE, 1),
        (date(2026, 1, 2), "2026-01-02"),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00+00:00"),
        (time(1, 2), "01:02:00"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Decimal("1.50"), "1.50"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (b"ab", "b'ab'"),
        ({1: "a", None: 2, (1, 2): 3}, {"1": "a", "null": 2, "[1, 2]": 3}),
        ({1: "a", "1": 2}, [[1, "a"], ["1", 2]]),
        (Record, "<class 'tests.cli.test_json_output.Record'>"),
        (Failing(), "<Failing, whose repr raises LookupError>"),
        ([Failing()], ["<Failing, whose repr raises LookupError>"]),
        ({"a": FailingDict(b=1)}, {"a": "{'b': 1}"}),
        (looped, [1, "[1, [...]]"]),
    ],
)
def test_a_value_is_carried_by_rule(value: object, expected: object) -> None:
    assert json_value(value) == expected


def test_a_number_that_python_does_not_write_is_described() -> None:
    assert json_value([10**5000]) == ["<int of 16610 bits>"]


@given(VALUES)
def test_whatever_the_value_it_becomes_json(value: object) -> None:
    line = json_line(json_value(value), "ascii")
    assert line.isascii()
    assert "\n" not in line
    json.loads(line)


def test_what_is_shown_is_short() -> None:
    assert shortened_repr("a" * 1000) == "'" + "a" * 196 + "..."
    assert shortened_repr(b"a" * 1000) == f"{b'a' * 100!r}... (1000 bytes)"
    assert shortened_repr(bytearray(2)) == repr(bytearray(2))


def test_text_stays_readable_where_the_encoding_has_it() -> None:
    assert json_line({"name": "Zoë"}, "UTF-8") == '{"name": "Zoë"}'
    assert json_line({"name": "Zoë"}, "latin-1") == '{"name": "Zo\\u00eb"}'
    assert json_line("ë", None) == '"\\u00eb"'


def test_what_an_encoding_lacks_is_written_as_an_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with tolerant():
        assert write(sys.stdout, "Zoë \udcff")
    assert raw.getvalue() == b"Zo\\xeb \\udcff\n"
    assert sys.stdout.errors == "strict"


def test_what_cannot_be_written_is_refused() -> None:
    with Path("/dev/full").open("w") as stream, pytest.raises(Refused, match="No space left on device"):
        write(stream, "text")


def test_without_standard_error_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    tell("text")
    shout("text")
    assert not write(None, "text")


def test_a_closed_stream_is_no_terminal() -> None:
    stream = io.StringIO()
    assert not is_terminal(stream)
    stream.close()
    assert not is_terminal(stream)
    assert not is_terminal(None)


def test_a_module_that_closes_standard_output_is_told(tmp_path: Path) -> None:
    (tmp_path / "closing.py").write_text(
        "import sys\nsys.stdout.close()\nfrom dataflow import Flow\nf = Flow('f')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "dataflow.cli", "check", "closing.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: DF1426 ")
