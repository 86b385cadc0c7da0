"""Conditions and references of cagent, for themselves."""

from __future__ import annotations

from typing import Any, Final

import pytest

from dataflow import ExpressionError
from dataflow.secrets.known import know
from dataflow_formats.cagent.conditions import filled, holds, placeholders
from dataflow_formats.cagent.file import find, read_reference
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


def test_keys_lead_into_an_object_and_count_for_nothing_elsewhere() -> None:
    assert [decided(output, keys) for output, keys, _ in KEYS] == [expected for *_, expected in KEYS]


def test_a_long_text_that_is_shown_cut_leaves_no_half_of_a_secret() -> None:
    with forgetting():
        know("TOKEN", "0123456789" * 20)
        with pytest.raises(ExpressionError) as caught:
            holds("$steps.v.output", {"v": {"output": f"it is {'0123456789' * 20}"}})
    assert caught.value.diagnostics[0].found == "'it is [secret:TOKEN]'"


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


def test_references_in_a_text_are_filled() -> None:
    assert {text: filled(text, STORE) for text in FILLED} == FILLED


def test_what_is_filled_in_is_not_looked_at_again() -> None:
    store = {"a": {"output": "{{ $steps.a.output }}", "agent": "x"}}
    assert filled("{{ $steps.a.output }}", store) == "{{ $steps.a.output }}"
    assert placeholders("{{ $steps.a.output }} {{ $steps }} {{ other }}") == [
        "{{ $steps.a.output }}",
        "{{ $steps }}",
    ]
