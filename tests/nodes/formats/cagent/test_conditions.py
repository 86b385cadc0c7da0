"""Conditions and references of cagent, for themselves."""

from __future__ import annotations

from typing import Any, Final

import pytest

from dataflow import ExpressionError
from dataflow.secrets.known import know
from dataflow_formats.cagent.conditions import filled, holds, placeholders
from dataflow_formats.cagent.file import Unresolved, find, read_reference
from tests.support.known_secrets import forgetting

STORE: Final[dict[str, Any]] = {
    "a": {"output": "A", "agent": "x"},
    "an id": {"output": "I", "agent": "x"},
    "a.b": {"output": "D", "agent": "x"},
    "j": {"output": '{"t": "yes", "n": 1.5, "o": {"in": "I"}, "none": null}', "agent": "x"},
    "outer": {
        "steps": {
            "c1": {"output": "1", "agent": "x"},
            "inner": {
                "steps": {"r": {"output": "R", "agent": "y"}, "s": {"output": "S", "agent": "y"}},
                "order": ["r", "s"],
            },
            "output": {"output": "O", "agent": "x"},
        },
        "order": ["c1", "inner", "output"],
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        *((text, True) for text in ("true", "1", "yes", "YES", "True", " 1 ", "\tyes\n")),
        *((text, False) for text in ("false", "0", "no", "", "  ", "No", "FALSE\n")),
    ],
)
def test_a_text_says_true_or_false(output: str, expected: bool) -> None:
    assert holds("{{ $steps.v.output }}", {"v": {"output": output}}) is expected


@pytest.mark.parametrize("output", ["maybe", "2", "null", "tru", '{"ok": true}', "[]", "yes!"])
def test_any_other_text_fails_and_the_condition_is_quoted(output: str) -> None:
    with pytest.raises(
        ExpressionError, match=r"condition '\$steps.v.output': its value is .*; expected true, 1"
    ):
        holds("$steps.v.output", {"v": {"output": output}})


@pytest.mark.parametrize(
    ("output", "path", "expected"),
    [
        ('{"ok": true}', ".ok", True),
        ('{"ok": false}', ".ok", False),
        ('{"ok": "Yes"}', ".ok", True),
        ('{"ok": "no"}', ".ok", False),
        ('{"ok": ""}', ".ok", False),
        ('{"ok": 1}', ".ok", False),
        ('{"ok": [true]}', ".ok", False),
        ('{"ok": {"ok": true}}', ".ok", False),
        ('{"ok": null}', ".ok", False),
        ("{}", ".ok", False),
        ('{"a": {"b": true}}', ".a.b", True),
        ('{"a": {"b": true}}', '["a"]["b"]', True),
        ('{"a": "true"}', ".a.b", False),
        (' {"ok": true}\n', ".ok", True),
        ("yes", ".ok", True),
        ("0", ".ok", False),
        ("true", ".ok", True),
    ],
)
def test_keys_lead_into_an_object_and_count_for_nothing_elsewhere(
    output: str, path: str, expected: bool
) -> None:
    assert holds(f"{{{{ $steps.v.output{path} }}}}", {"v": {"output": output}}) is expected


@pytest.mark.parametrize("output", ['{"ok": "maybe"}', "[true]", '"yes"', "{", "[" * 100_000, '{"ok": true'])
def test_what_is_neither_an_object_nor_such_a_text_fails(output: str) -> None:
    with pytest.raises(ExpressionError, match=r"its value is"):
        holds("$steps.v.output.ok", {"v": {"output": output}})


def test_a_long_text_that_is_shown_cut_leaves_no_half_of_a_secret() -> None:
    with forgetting():
        know("TOKEN", "0123456789" * 20)
        with pytest.raises(ExpressionError) as caught:
            holds("$steps.v.output", {"v": {"output": f"it is {'0123456789' * 20}"}})
    assert "its value is 'it is [secret:TOKEN]'" in str(caught.value)


def test_a_step_that_has_given_nothing_fails_the_condition() -> None:
    with pytest.raises(
        ExpressionError, match=r"condition '\$steps.w.output': there is no step 'w'; choices: v"
    ):
        holds("$steps.w.output", {"v": {"output": "yes"}})


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("$steps.a.output", "a"),
        ("{{$steps.a.output}}", "a"),
        ("  {{  $steps.a.output  }} ", "a"),
        ('$steps["an id"].output', "an id"),
        ("$steps['a.b'].output", "a.b"),
        ("$steps.outer.outputs.c1.output", "outer/c1"),
        ("$steps.outer.steps.c1.output", "outer/c1"),
        ("$steps.outer.outputs[0].output", "outer/c1"),
        ("$steps.outer.outputs.inner.outputs.r.output", "outer/inner/r"),
        ("$steps.outer.outputs[1].outputs[1].output", "outer/inner/s"),
        ("$steps.outer.outputs.inner.r.output", "outer/inner/r"),
        ('$steps.outer.outputs["inner.r"].output', "outer/inner/r"),
        ("$steps.outer.outputs.output.output", "outer/output"),
    ],
)
def test_a_reference_leads_to_a_step(text: str, path: str) -> None:
    assert "/".join(find(read_reference(text), STORE).path) == path


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("true", "expected {{ $steps.ID.output }}"),
        ("", "expected {{ $steps.ID.output }}"),
        ("$steps", "expected {{ $steps.ID.output }}"),
        ("$steps.a", "expected {{ $steps.ID.output }}"),
        ("$steps.a.output == 'A'", "expected {{ $steps.ID.output }}"),
        ("$steps.a.output.", "expected {{ $steps.ID.output }}"),
        ("$steps.a..output", "expected {{ $steps.ID.output }}"),
        ("$steps.ghost.output", "there is no step 'ghost'; choices: a, an id"),
        ("$steps[0].output", "a step of the workflow is named by its id, not by an index"),
        ("$steps.a.agent", "behind 'a' expected .output"),
        ("$steps.outer.outputs", "'outer' is a parallel block; say which of its outputs is meant"),
        ("$steps.outer.outputs.c3.output", "there is no step 'c3' in 'outer'; choices: c1, inner, output"),
        ("$steps.outer.outputs[3].output", "there is no output 3 in 'outer'; it has 3"),
        ("$steps.a.output[0]", "a part of an output is named by a key, found the index 0"),
    ],
)
def test_a_reference_that_leads_nowhere_says_why(text: str, reason: str) -> None:
    with pytest.raises(Unresolved) as raised:
        find(read_reference(text), STORE)
    assert str(raised.value).startswith(reason)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no reference, {{ x }}, $steps.a.output", "no reference, {{ x }}, $steps.a.output"),
        ("{{ $steps.a.output }}{{$steps.outer.outputs[0].output}}", "A1"),
        ("{{ $steps.j.output.t }} {{ $steps.j.output.n }} {{ $steps.j.output.o }}", 'yes 1.5 {"in": "I"}'),
        ("<{{ $steps.j.output.none }}{{ $steps.j.output.missing }}{{ $steps.a.output.x }}>", "<>"),
        ("<{{ $steps.later.output }}>", "<>"),
    ],
)
def test_references_in_a_text_are_filled(text: str, expected: str) -> None:
    assert filled(text, STORE) == expected


def test_what_is_filled_in_is_not_looked_at_again() -> None:
    store = {"a": {"output": "{{ $steps.a.output }}", "agent": "x"}}
    assert filled("{{ $steps.a.output }}", store) == "{{ $steps.a.output }}"
    assert placeholders("{{ $steps.a.output }} {{ $steps }} {{ other }}") == [
        "{{ $steps.a.output }}",
        "{{ $steps }}",
    ]
