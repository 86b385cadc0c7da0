"""YAML is read by the core rules of YAML 1.2, with the position of each part."""

from __future__ import annotations

import math
from typing import Any, Final

import pytest
import yaml

from dataflow import FormatError
from dataflow.formats import reader
from dataflow.formats.reader import read
from dataflow.formats.tree import MOST_LEVELS
from dataflow.secrets.known import know
from tests.support.codes import located
from tests.support.known_secrets import forgetting


@pytest.fixture(
    autouse=True,
    params=[yaml.CSafeLoader, yaml.SafeLoader] if yaml.__with_libyaml__ else [yaml.SafeLoader],
    ids=lambda parser: parser.__name__,
)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "PARSER", request.param)


def value(text: str) -> Any:
    return read(text, "flow.yaml")[0]


def refusal(text: str) -> FormatError:
    with pytest.raises(FormatError) as caught:
        read(text, "flow.yaml")
    return caught.value


# fmt: off
#: Words that YAML 1.1 reads as booleans, dates and numbers.
TEXTS: Final = [
    "on", "off", "yes", "no", "y", "n", "On", "YES", "2020-01-01", "2020-01-01T10:00:00Z", "1_000", "1:30",
    "190:20:30", "0b101", "0o8", "0xg", "08_", "tRUE", "nULL", "-.nan", "inf", "nan", ".infinity", "1e", "e1",
    ".", "-", "+", "--1", "1.2.3", "<<", "=", "٣", "0x", "-0x1F",
]
SCALARS: Final[dict[str, object]] = {
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
    "null": None, "Null": None, "NULL": None, "~": None,
    "0": 0, "-17": -17, "+3": 3, "007": 7, "0o17": 15, "0x1F": 31, "0xff": 255,
    "123456789012345678901234567890": 123456789012345678901234567890,
    "1e3": 1000.0, "-1.5E-2": -0.015, ".5": 0.5, "1.": 1.0, "-0.0": -0.0,
    ".inf": math.inf, "-.Inf": -math.inf, "+.INF": math.inf,
    "!!int 17": 17, "!!float 1": 1.0, "!!bool true": True, "!!null ~": None, "!!str 1": "1",
    "! 1": "1", "'1'": "1", '"true"': "true", "!!seq [1]": [1], "!!map {a: 1}": {"a": 1},
}
REFUSED: Final = {
    "": "1:1 DF0104",
    "# only a comment\n": "1:1 DF0104",
    "a: 1\nb: 2\na: 3": "3:1 DF0112",
    "{a: 1, 'a': 2}": "1:8 DF0112",
    "x:\n  - {on: 1, on: 2}": "2:13 DF0112",
    "a: &x [1, *x]": "1:11 DF0114", "&x a: {b: *y}": "1:11 DF0113", "1: a": "1:1 DF0111",
    "a: {true: b}": "1:5 DF0111", "1.5: b": "1:1 DF0111", "~: b": "1:1 DF0111", "? [a]\n: b": "1:3 DF0111",
    "? {a: 1}\n: b": "1:3 DF0111", "b: &k [1]\n*k : 2": "2:1 DF0111",
    "a: !!python/object/apply:os.system [ls]": "1:4 DF0108",
    "a: !mine x": "1:4 DF0108",
    "a: !!set {b, c}": "1:4 DF0108",
    "a: !!binary aGk=": "1:4 DF0108",
    "a: !!timestamp 2020-01-01": "1:4 DF0108",
    "a: !!int x": "1:4 DF0109", "a: !!bool on": "1:4 DF0109", "a: 1\n---\nb: 2": "2:1 DF0110",
    "a: b\n  c: d": "2:4 DF0105", "a: @b": "1:4 DF0105", "a: b\n\tc: d": "2:1 DF0105",
    "a: \x00b": "1:4 DF0107", "a: 1\r\nb: \x1b[0m": "2:4 DF0107", "a: \ud800": "1:4 DF0107",
    "a: " + "9" * 1001: "1:4 DF0117", "a: 0x" + "f" * 1000: "1:4 DF0117", "a: 1e999": "1:4 DF0192",
    "a: {<<: b}": "1:5 DF0193",
    "[" * (MOST_LEVELS + 1) + "]" * (MOST_LEVELS + 1): "1:101 DF0116",
}  # fmt: skip
#: The keys that are not strings, and how they are described.
KEYS: Final = {
    "1: a": "the number 1", "true: b": "the boolean true", "1.5: b": "the number 1.5", "~: b": "null",
    "? [a]\n: b": "a list", "? {a: 1}\n: b": "a mapping", "b: &k [1]\n*k : 2": "a list",
}
# fmt: on


def test_what_only_yaml_1_1_converts_stays_text() -> None:
    assert {text: value(f"a: [{text}]") for text in TEXTS} == {text: {"a": [text]} for text in TEXTS}


def test_a_scalar_has_the_type_that_the_core_rules_give() -> None:
    found = {text: value(f"a: {text}")["a"] for text in SCALARS}
    assert found == SCALARS
    assert {text: type(one) for text, one in found.items()} == {
        text: type(one) for text, one in SCALARS.items()
    }
    assert [math.isnan(value(f"a: {text}")["a"]) for text in (".nan", ".NaN", ".NAN")] == [True] * 3
    assert value("a:\nb: 1") == {"a": None, "b": 1}
    assert value("a: |\n  1\n  2\nb: >-\n  on\n  off\n") == {"a": "1\n2\n", "b": "on off"}
    assert value("\ufeffa: 1") == {"a": 1}


def test_invalid_text_is_refused_at_its_position() -> None:
    assert {text: located(refusal(text))[0] for text in REFUSED} == REFUSED
    # The parsers differ by a line where something is missing at the end.
    assert [refusal(text).code for text in ("a: 'b", "a: [b")] == ["DF0105", "DF0105"]
    assert {text: refusal(text).diagnostics[0].found for text in KEYS} == KEYS
    assert "line 1" in refusal("a: 1\nb: 2\na: 3").reason


def test_a_secret_is_not_cut_in_half() -> None:
    for text in ("a: !!int SECRET", "a: !SECRET x", "a: *SECRET", "a: !SECRET!x y"):
        with forgetting():
            know("TOKEN", "abcdefghij" * 50)
            error = refusal(text.replace("SECRET", "abcdefghij" * 50))
        assert "abc" not in str(error)


def test_levels_are_limited() -> None:
    assert value("[" * MOST_LEVELS + "]" * MOST_LEVELS) is not None
    assert [refusal(opening * 10_000).code for opening in ("[", "{a: ", "- ")] == ["DF0116"] * 3
    assert refusal("? " * 10_000).code
    lines = ["a0: &a0 [x]", *(f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 200))]
    assert refusal("\n".join(lines)).code == "DF0116"


def test_an_alias_is_a_separate_copy() -> None:
    found = value("a: &x {b: [1]}\nc: *x\nd: &k key\n*k : 2")
    assert found == {"a": {"b": [1]}, "c": {"b": [1]}, "d": "key", "key": 2}
    assert found["c"]["b"] is not found["a"]["b"]
    assert value("[&x 1, *x, &x [&x 2, *x], *x]") == [1, 1, [2, 2], [2, 2]]


TEXT = """\
name: flow
nodes:
  page: {type: read, inputs: {path: $in.path}}
  list:
    - one
    - key: two
  empty: {}
copy: &a {x: [1]}
again: *a
"""


POSITIONS: Final[dict[tuple[str | int, ...], tuple[int, int]]] = {
    (): (1, 1), ("name",): (1, 1), ("nodes",): (2, 1), ("nodes", "page"): (3, 3),
    ("nodes", "page", "type"): (3, 10),
    ("nodes", "page", "inputs", "path"): (3, 31),
    ("nodes", "list", 0): (5, 7),
    ("nodes", "list", 1, "key"): (6, 7),
    ("nodes", "page", "config"): (3, 3),  # what is not there is where it belongs
    ("nodes", "page", "type", "deeper"): (3, 10),
    ("nodes", "empty", "x"): (7, 3), ("nodes", "list", 7): (4, 3), ("nodes", "list", "key"): (4, 3),
    ("nodes", 0): (2, 1), ("again",): (9, 1),
    ("again", "x", 0): (8, 15),  # what an alias stands for is where it is written
}  # fmt: skip


def test_every_part_has_a_position() -> None:
    positions = read(TEXT, "flow.yaml")[1]
    found = {path: positions.find(path) for path in POSITIONS}
    assert {path: (one.line, one.column) for path, one in found.items()} == POSITIONS
