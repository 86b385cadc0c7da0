"""Conditions and references of cagent, for themselves."""

from __future__ import annotations

from typing import Any, Final

import pytest

from dataflow import ExpressionError
from dataflow.secrets.known import know
from dataflow_formats.cagent.conditions import filled, holds, placeholders
from dataflow_formats.cagent.file import FORM, Unresolved, find, read_reference
from tests.support.codes import codes
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


TRUE: Final = ["true", "1", "yes", "YES", "True", " 1 ", "\tyes\n"]
FALSE: Final = ["false", "0", "no", "", "  ", "No", "FALSE\n"]
#: Outputs, the keys of a condition, and whether it holds.
KEYS: Final = [
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
]


def decided(output: str, keys: str = "") -> bool:
    return holds(f"{{{{ $steps.v.output{keys} }}}}", {"v": {"output": output}})


def test_a_text_says_true_or_false() -> None:
    assert [text for text in (*TRUE, *FALSE) if decided(text)] == TRUE


def test_any_other_text_fails_and_the_condition_is_quoted() -> None:
    for output in ("maybe", "2", "null", "tru", '{"ok": true}', "[]", "yes!"):
        with pytest.raises(ExpressionError, match=r"DF4310 condition '\$steps\.v\.output':"):
            holds("$steps.v.output", {"v": {"output": output}})


def test_keys_lead_into_an_object_and_count_for_nothing_elsewhere() -> None:
    assert [decided(output, keys) for output, keys, _ in KEYS] == [expected for *_, expected in KEYS]


def test_what_is_neither_an_object_nor_such_a_text_fails() -> None:
    for output in ('{"ok": "maybe"}', "[true]", '"yes"', "{", "[" * 100_000, '{"ok": true'):
        with pytest.raises(ExpressionError, match="DF4310"):
            decided(output, ".ok")


def test_a_long_text_that_is_shown_cut_leaves_no_half_of_a_secret() -> None:
    with forgetting():
        know("TOKEN", "0123456789" * 20)
        with pytest.raises(ExpressionError) as caught:
            holds("$steps.v.output", {"v": {"output": f"it is {'0123456789' * 20}"}})
    assert caught.value.diagnostics[0].found == "'it is [secret:TOKEN]'"


def test_a_step_that_has_given_nothing_fails_the_condition() -> None:
    with pytest.raises(ExpressionError, match=r"DF4307 condition '\$steps\.w\.output':"):
        holds("$steps.w.output", {"v": {"output": "yes"}})


PATHS: Final = {
    "$steps.a.output": "a",
    "{{$steps.a.output}}": "a",
    "  {{  $steps.a.output  }} ": "a",
    '$steps["an id"].output': "an id",
    "$steps['a.b'].output": "a.b",
    "$steps.outer.outputs.c1.output": "outer/c1",
    "$steps.outer.steps.c1.output": "outer/c1",
    "$steps.outer.outputs[0].output": "outer/c1",
    "$steps.outer.outputs.inner.outputs.r.output": "outer/inner/r",
    "$steps.outer.outputs[1].outputs[1].output": "outer/inner/s",
    "$steps.outer.outputs.inner.r.output": "outer/inner/r",
    '$steps.outer.outputs["inner.r"].output': "outer/inner/r",
    "$steps.outer.outputs.output.output": "outer/output",
}
#: References that cannot be resolved, with the code, what is expected and what is available.
NOWHERE: Final[list[tuple[str, str, str, tuple[str, ...] | None]]] = [
    *(
        (text, "DF4308", FORM, None)
        for text in ("true", "", "$steps", "$steps.a", "$steps.a.output == 'A'", "$steps.a.output.")
    ),
    ("$steps.a..output", "DF4308", FORM, None),
    ("$steps.ghost.output", "DF4307", "", ("a", "a.b", "an id", "j", "outer")),
    ("$steps[0].output", "DF4308", "the id of a step", None),
    ("$steps.a.agent", "DF4308", ".output after 'a'", None),
    ("$steps.outer.outputs", "DF4309", "", ("c1", "inner", "output")),
    ("$steps.outer.outputs.c3.output", "DF4307 outer", "", ("c1", "inner", "output")),
    ("$steps.outer.outputs[3].output", "DF4306 outer", "0 to 2", None),
    ("$steps.a.output[0]", "DF4308", "keys of the output", None),
]
#: Texts with references, and what they are filled to.
FILLED: Final = {
    "no reference, {{ x }}, $steps.a.output": "no reference, {{ x }}, $steps.a.output",
    "{{ $steps.a.output }}{{$steps.outer.outputs[0].output}}": "A1",
    "{{ $steps.j.output.t }} {{ $steps.j.output.n }} {{ $steps.j.output.o }}": 'yes 1.5 {"in": "I"}',
    "<{{ $steps.j.output.none }}{{ $steps.j.output.missing }}{{ $steps.a.output.x }}>": "<>",
    "<{{ $steps.later.output }}>": "<>",
}


def test_a_reference_leads_to_a_step() -> None:
    assert {text: "/".join(find(read_reference(text), STORE).path) for text in PATHS} == PATHS


def test_a_reference_that_leads_nowhere_says_why() -> None:
    for text, *expected in NOWHERE:
        with pytest.raises(Unresolved) as raised:
            find(read_reference(text), STORE)
        (problem,) = raised.value.diagnostics
        assert [*codes([problem]), problem.expected, problem.available] == expected


def test_references_in_a_text_are_filled() -> None:
    assert {text: filled(text, STORE) for text in FILLED} == FILLED


def test_what_is_filled_in_is_not_looked_at_again() -> None:
    store = {"a": {"output": "{{ $steps.a.output }}", "agent": "x"}}
    assert filled("{{ $steps.a.output }}", store) == "{{ $steps.a.output }}"
    assert placeholders("{{ $steps.a.output }} {{ $steps }} {{ other }}") == [
        "{{ $steps.a.output }}",
        "{{ $steps }}",
    ]
