"""Conditions and references of cagent for themselves; what is no workflow, every problem of it at once."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any, Final

import pytest

from dataflow import Diagnostic, Flow, FormatError
from dataflow_formats.cagent.conditions import filled, holds, placeholders
from dataflow_formats.cagent.file import find, read_reference
from tests.nodes.formats.cagent.workflows import problems

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
    ('{"ok": "Yes"}', ".ok", True),
    ('{"ok": 1}', ".ok", False),
    ("{}", ".ok", False),
    ('{"a": {"b": true}}', ".a.b", True),
    ('{"a": {"b": true}}', '["a"]["b"]', True),
    ("yes", ".ok", True),
]


def decided(output: str, keys: str = "") -> bool:
    return holds(f"{{{{ $steps.v.output{keys} }}}}", {"v": {"output": output}})


def test_texts_and_keys_say_true_or_false() -> None:
    assert [text for text in (*TRUE, *FALSE) if decided(text)] == TRUE
    assert [decided(output, keys) for output, keys, _ in KEYS] == [expected for *_, expected in KEYS]


PATHS: Final = {
    "$steps.a.output": "a",
    "  {{  $steps.a.output  }} ": "a",
    '$steps["an id"].output': "an id",
    "$steps.outer.outputs.c1.output": "outer/c1",
    "$steps.outer.steps.c1.output": "outer/c1",
    "$steps.outer.outputs[0].output": "outer/c1",
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


def test_references_lead_to_steps_and_are_filled_in_texts_once() -> None:
    assert {text: "/".join(find(read_reference(text), STORE).path) for text in PATHS} == PATHS
    assert {text: filled(text, STORE) for text in FILLED} == FILLED
    store = {"a": {"output": "{{ $steps.a.output }}", "agent": "x"}}
    assert filled("{{ $steps.a.output }}", store) == "{{ $steps.a.output }}"
    assert placeholders("{{ $steps.a.output }} {{ $steps }} {{ other }}") == [
        "{{ $steps.a.output }}",
        "{{ $steps }}",
    ]


def test_all_problems_of_a_file_are_told_at_once() -> None:
    workflow = """\
    workflow:
      max_loop_iterations: many
      steps:
      - {type: agent}
      - {type: agent, id: a, name: nobody}
      - {type: condition, id: c, condition: "$steps.c2.output", extra: 1}
      - {type: condition, id: c, condition: ""}
      - {type: agent, name: x, retry: {max_attempts: -1, foo: 2, backoff: slow}}
      - {type: parallel, id: q, steps: [{goto: c}]}
      - {type: parallel, id: p}
    """
    assert problems(workflow) == [
        "DF4002 workflow.max_loop_iterations",
        "DF4003 workflow.steps[0]",
        "DF4005 workflow.steps[1].name: step 'a'",
        "DF4004 workflow.steps[2].extra: step 'c'",
        "DF4003 workflow.steps[3]: step 'c'",
        "DF4007 workflow.steps[3].id: step 'c'",
        "DF4002 workflow.steps[4].retry.max_attempts",
        "DF4004 workflow.steps[4].retry.foo",
        "DF4002 workflow.steps[4].retry.backoff",
        "DF4304 workflow.steps[5].steps[0]: step 'q'",
        "DF4003 workflow.steps[6]: step 'p'",
    ]


def test_references_ways_back_and_idle_agents_are_told_at_once() -> None:
    agents = 'agents: {x: {model: m/x, instruction: "{{ $steps.zz.output }}"}}\n'
    workflow = """\
    workflow:
    - {type: condition, condition: "{{ $steps.ghost.output }}", true: [nowhere, 7]}
    - {type: condition, condition: "1 > 2", false: [last]}
    - {type: agent, name: x, id: last}
    - {type: condition, condition: "$steps.last.output[0]", false: [{goto: last}]}
    """
    assert problems(workflow, agents) == [
        "DF4307 agents.x.instruction: agent 'x': {{ $steps.zz.output }}",
        "DF4307 workflow[0].condition: step 'condition': condition '{{ $steps.ghost.output }}'",
        "DF4305 workflow[0].true[0]: step 'back_to_nowhere'",
        "DF4308 workflow[1].condition: step 'condition_2': condition '1 > 2'",
        "DF4305 workflow[1].false[0]: step 'back_to_last'",
        "DF4308 workflow[3].condition: step 'condition_3': condition '$steps.last.output[0]'",
    ]
    agents = """\
    agents:
      x: {model: openai/gpt, sub_agents: [idle, gone, team/agent, "registry:5000/agent"]}
      idle: {model: nobody, instruction: "{{ $steps.ghost.output }}"}
      none: 1
      bare: {structured_output: {name: x}, sub_agents: idle}
    models: {own: {provider: openai, model: gpt-5}}
    """
    assert problems("workflow: [{type: agent, name: y}, {type: agent, name: x}]", agents) == [
        "DF4005 agents.x.sub_agents[1]: agent 'x'",
        "DF4012 agents.idle.model: agent 'idle'",
        "DF4002 agents.none: agent 'none'",
        "DF4003 agents.bare: agent 'bare'",
        "DF4002 agents.bare.structured_output: agent 'bare'",
        "DF4002 agents.bare.sub_agents: agent 'bare'",
        "DF4005 workflow[0].name",
    ]


def problems_of(text: str, **more: str) -> Sequence[Diagnostic | str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "flow.yaml"
        path.write_text(dedent(text), encoding="utf-8")
        return Flow.load(path, **more).check()


def test_keys_that_are_booleans_are_words_only_in_files_of_cagent() -> None:
    for key in ("true", "false", "True", "FALSE"):
        with pytest.raises(FormatError, match="DF0111"):
            problems_of(f"dataflow: 1\nmeta:\n  {key}: 1")
        step = f"{{type: condition, condition: $steps.x.output, {key}: []}}"
        steps = f"[{{type: agent, name: x}}, {step}]"
        assert problems_of(f"agents: {{x: {{model: a/m}}}}\nworkflow: {steps}") == []
