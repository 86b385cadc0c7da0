"""YAML by the core rules of YAML 1.2, with places."""

from __future__ import annotations

import math
from typing import Any

import pytest
import yaml

from dataflow import FormatError
from dataflow.formats import reader
from dataflow.formats.reader import read
from dataflow.formats.tree import MOST_LEVELS
from dataflow.secrets.known import know
from tests.support.known_secrets import forgetting


@pytest.fixture(
    autouse=True,
    params=[yaml.CSafeLoader, yaml.SafeLoader] if yaml.__with_libyaml__ else [yaml.SafeLoader],
    ids=lambda parser: parser.__name__,
)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read with libyaml and without."""
    monkeypatch.setattr(reader, "PARSER", request.param)


def value(text: str) -> Any:
    return read(text, "flow.yaml")[0]


def refusal(text: str) -> FormatError:
    with pytest.raises(FormatError) as caught:
        read(text, "flow.yaml")
    return caught.value


def place(text: str) -> tuple[int | None, int | None]:
    error = refusal(text)
    return error.line, error.column


@pytest.mark.parametrize(
    "text",
    [
        *("on", "off", "yes", "no", "y", "n", "On", "YES"),
        *("2020-01-01", "2020-01-01T10:00:00Z", "1_000", "1:30", "190:20:30", "0b101", "0o8", "0xg", "08_"),
        *(
            "tRUE",
            "nULL",
            "-.nan",
            "inf",
            "nan",
            ".infinity",
            "1e",
            "e1",
            ".",
            "-",
            "+",
            "--1",
            "1.2.3",
            "<<",
            "=",
        ),
        *("٣", "0x", "-0x1F"),
    ],
)
def test_what_only_yaml_1_1_reads_as_something_else_stays_text(text: str) -> None:
    assert value(f"a: [{text}]") == {"a": [text]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(
            ("true", True),
            ("True", True),
            ("TRUE", True),
            ("false", False),
            ("False", False),
            ("FALSE", False),
        ),
        *(("null", None), ("Null", None), ("NULL", None), ("~", None)),
        *(("0", 0), ("-17", -17), ("+3", 3), ("007", 7), ("0o17", 15), ("0x1F", 31), ("0xff", 255)),
        *(
            ("1e3", 1000.0),
            ("-1.5E-2", -0.015),
            (".5", 0.5),
            ("1.", 1.0),
            ("-0.0", -0.0),
            ("1e999", math.inf),
        ),
        *((".inf", math.inf), ("-.Inf", -math.inf), ("+.INF", math.inf)),
        *(("!!int 17", 17), ("!!float 1", 1.0), ("!!bool true", True), ("!!null ~", None), ("!!str 1", "1")),
        *(("! 1", "1"), ("'1'", "1"), ('"true"', "true"), ("!!seq [1]", [1]), ("!!map {a: 1}", {"a": 1})),
        ("123456789012345678901234567890", 123456789012345678901234567890),
    ],
)
def test_a_scalar_has_the_type_that_the_core_rules_give(text: str, expected: object) -> None:
    found = value(f"a: {text}")["a"]
    assert (found, type(found)) == (expected, type(expected))


def test_nothing_behind_a_key_is_null() -> None:
    assert value("a:\nb: 1") == {"a": None, "b": 1}


@pytest.mark.parametrize("text", [".nan", ".NaN", ".NAN"])
def test_nan_is_a_number(text: str) -> None:
    assert math.isnan(value(f"a: {text}")["a"])


def test_block_texts_are_text() -> None:
    assert value("a: |\n  1\n  2\nb: >-\n  on\n  off\n") == {"a": "1\n2\n", "b": "on off"}


def test_a_byte_order_mark_is_not_part_of_the_text() -> None:
    assert value("\ufeffa: 1") == {"a": 1}


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("", (1, 1), "is empty"),
        ("# only a comment\n", (1, 1), "is empty"),
        ("a: 1\nb: 2\na: 3", (3, 1), "key 'a' stands here for the second time; the first is in line 1"),
        ("{a: 1, 'a': 2}", (1, 8), "for the second time"),
        ("x:\n  - {on: 1, on: 2}", (2, 13), "key 'on'"),
        ("a: &x [1, *x]", (1, 11), "alias *x stands inside its own anchor"),
        ("&x a: {b: *y}", (1, 11), "alias *y names no anchor"),
        ("1: a", (1, 1), "a key must be text, found the number 1; put it in quotes"),
        ("a: {true: b}", (1, 5), "found the boolean true"),
        ("1.5: b", (1, 1), "found the number 1.5"),
        ("~: b", (1, 1), "found null"),
        ("? [a]\n: b", (1, 3), "found a list"),
        ("? {a: 1}\n: b", (1, 3), "found a mapping"),
        ("b: &k [1]\n*k : 2", (2, 1), "found a list"),
        ("a: !!python/object/apply:os.system [ls]", (1, 4), "tag !!python/object/apply:os.system"),
        ("a: !mine x", (1, 4), "tag !mine is not known"),
        ("a: !!set {b, c}", (1, 4), "tag !!set"),
        ("a: !!binary aGk=", (1, 4), "tag !!binary"),
        ("a: !!timestamp 2020-01-01", (1, 4), "tag !!timestamp"),
        ("a: !!int x", (1, 4), "'x' is no int"),
        ("a: !!bool on", (1, 4), "'on' is no bool"),
        ("a: 1\n---\nb: 2", (2, 1), "a second document begins here"),
        ("a: b\n  c: d", (2, 4), "mapping values are not allowed"),
        ("a: 'b", (1, 6), "is no YAML"),
        ("a: [b", (1, 6), "is no YAML"),
        ("a: @b", (1, 4), "is no YAML"),
        ("a: b\n\tc: d", (2, 1), "is no YAML"),
        ("a: \x00b", (1, 4), "character U+0000 may not stand in YAML"),
        ("a: 1\r\nb: \x1b[0m", (2, 4), "character U+001B"),
        ("a: \ud800", (1, 4), "character U+D800"),
        ("a: " + "9" * 1001, (1, 4), "a number has more than 1000 digits"),
        ("a: 0x" + "f" * 1000, (1, 4), "a number has more than 1000 digits"),
    ],
)
def test_what_is_refused_is_told_with_its_place(text: str, where: tuple[int, int], words: str) -> None:
    error = refusal(text)
    assert words in error.reason
    # The parsers differ by a line where they miss something at the end.
    assert (error.line, error.column) == where or words == "is no YAML"


@pytest.mark.parametrize("text", ["a: !!int SECRET", "a: !SECRET x", "a: *SECRET", "a: !SECRET!x y"])
def test_what_is_shown_cut_leaves_no_half_of_a_secret(text: str) -> None:
    with forgetting():
        know("TOKEN", "abcdefghij" * 50)
        error = refusal(text.replace("SECRET", "abcdefghij" * 50))
    assert "abc" not in str(error)


def test_a_message_of_the_parser_is_cut() -> None:
    assert len(str(refusal(f"a: !{'h' * 5000}!x y"))) < 300
    assert len(str(refusal(f"*{'h' * 5000}"))) < 300


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_ten_thousand_levels_are_refused(opening: str) -> None:
    assert "nest" in refusal(opening * 10_000).reason or opening == "? "


def test_as_many_levels_as_are_allowed_are_read() -> None:
    assert value("[" * MOST_LEVELS + "]" * MOST_LEVELS) is not None
    assert place("[" * (MOST_LEVELS + 1) + "]" * (MOST_LEVELS + 1)) == (1, MOST_LEVELS + 1)


def test_an_alias_is_a_copy_of_its_own() -> None:
    found = value("a: &x {b: [1]}\nc: *x\nd: &k key\n*k : 2")
    assert found == {"a": {"b": [1]}, "c": {"b": [1]}, "d": "key", "key": 2}
    assert found["c"]["b"] is not found["a"]["b"]


def test_an_anchor_may_be_given_again() -> None:
    assert value("[&x 1, *x, &x [&x 2, *x], *x]") == [1, 1, [2, 2], [2, 2]]


def test_aliases_of_aliases_do_not_expand_without_end() -> None:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 10)]
    assert "expand to more than 10 MB" in refusal("\n".join(lines)).reason


def test_a_long_text_counts_each_time_that_it_is_aliased() -> None:
    text = f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 101)}]"
    assert "expand to more than 10 MB" in refusal(text).reason


def test_aliases_of_aliases_do_not_nest_without_end() -> None:
    lines = ["a0: &a0 [x]", *(f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 200))]
    assert "nests deeper" in refusal("\n".join(lines)).reason


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


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ((), (1, 1)),
        (("name",), (1, 1)),
        (("nodes",), (2, 1)),
        (("nodes", "page"), (3, 3)),
        (("nodes", "page", "type"), (3, 10)),
        (("nodes", "page", "inputs", "path"), (3, 31)),
        (("nodes", "list", 0), (5, 7)),
        (("nodes", "list", 1, "key"), (6, 7)),
        (("nodes", "page", "config"), (3, 3)),  # what is not there is where it belongs
        (("nodes", "page", "type", "deeper"), (3, 10)),
        (("nodes", "empty", "x"), (7, 3)),
        (("nodes", "list", 7), (4, 3)),
        (("nodes", "list", "key"), (4, 3)),
        (("nodes", 0), (2, 1)),
        (("again",), (9, 1)),
        (("again", "x", 0), (8, 15)),  # what an alias stands for is where it is written
    ],
)
def test_every_part_has_a_place(path: tuple[str | int, ...], expected: tuple[int, int]) -> None:
    assert read(TEXT, "flow.yaml")[1].find(path) == expected
