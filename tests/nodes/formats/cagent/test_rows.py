"""The behaviours of workflows of cagent, a row for each, its conditions, and what is no workflow of it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any, Final

import anyio
import pytest

from dataflow import Diagnostic, Flow, FormatError
from dataflow_agent.models.errors import RateLimited
from dataflow_formats.cagent.conditions import filled, holds, placeholders
from dataflow_formats.cagent.file import find, read_reference
from tests.nodes.formats.cagent.workflows import block, flow_of, play, problems


def listed(*steps: str) -> str:
    """Write a list of steps; `a x` is an agent step with the id `a` and the agent `x`."""
    return (
        "["
        + ", ".join(re.sub(r"^(\w+) (\w)$", r"{id: \1, type: agent, name: \2}", one) for one in steps)
        + "]"
    )


def condition(read: str, **ways: str) -> str:
    """Write a condition on the output that a reference leads to."""
    told = "".join(f", {way.rstrip('_')}: {steps}" for way, steps in ways.items())
    return f'{{type: condition, id: gate, condition: "{{{{ $steps.{read} }}}}"{told}}}'


AB: Final = f"workflow: {listed('a x', 'b y')}"
ODD: Final = '{id: "a b", type: agent, name: x}'
ABC: Final = f"workflow: {listed('a x', 'b y', 'c z')}"
TAKEN: Final = condition("v.output%s", true=listed("yes y"), false=listed("no z"))
GATE: Final = f"workflow: {listed('v x', TAKEN, 'last x')}"
BLOCK: Final = f"{{type: parallel, id: p, steps: {listed('c1 x', 'c2 y')}}}"
PAR: Final = f"workflow: {listed(BLOCK, 't z')}"
FIRST: Final = condition("p.outputs[0].output", true="[{type: agent, name: z}]")
INNER: Final = f"{{type: parallel, id: inner, steps: {listed('b y', 'c z')}}}"
OUTER: Final = f"{{type: parallel, id: outer, steps: {listed('a x', INNER)}}}"
READS: Final = condition("outer.outputs.inner.outputs.b.output", true=listed("yes x"))
NESTED: Final = f"workflow: {listed(OUTER, READS)}"
BACK: Final = condition("qa.output", false="[{goto: trans}]")
LOOP: Final = f"workflow: {{max_loop_iterations: 2, steps: {listed('trans x', 'qa y', BACK)}}}"
POLICY: Final = "{max_attempts: 3, backoff: exponential, initial_delay_seconds: 0.001%s}"
RETRY: Final = f"workflow: {listed(f'{{id: a, type: agent, name: x, retry: {POLICY}}}', 'b y')}"


@dataclass(frozen=True)
class Row:
    """A workflow, what its agents answer, and what is expected of the run; what is None does not count."""

    id: str
    workflow: str
    answers: Mapping[str, Any] = field(default_factory=dict)
    order: str | None = None  # the agents, as they are asked
    outputs: Mapping[str, str] | None = None
    last: str | None = None  # what the last agent is asked
    error: str = ""


def gate(id: str, path: str, answer: str, taken: str) -> Row:
    """Make a row of a condition: which agent is asked behind it, y for true and z for false."""
    return Row(id, GATE % path, {"x": [answer, "X"]}, order=f"x{taken}x")


BUSY: Final = RateLimited("m", "busy")
TWICE: Final = "workflow: [{type: agent, name: x}, {type: agent, name: x}, {type: agent, name: y}]"
NAMED: Final = ("[x (agent: x)]: 1", "[x_2 (agent: x)]: 2")
CHOSEN: Final = {"p/c1": "yes", "p/c2": "no", "t": "Z", "z": "Z"}
DEEP: Final = {"outer/a": "X", "outer/inner/b": "true", "outer/inner/c": "Z", "yes": "X"}
ABOVE: Final = (
    "[outer/a (agent: x)]: X", "[outer/inner/b (agent: y)]: true", "[outer/inner/c (agent: z)]: Z",
)  # fmt: skip
ROWS: Final = [
    Row("CA01", ABC, order="xyz", outputs={"a": "X", "b": "Y", "c": "Z"}),
    Row("CA03", AB, last=block("[a (agent: x)]: X")),
    Row("CA04", "workflow: [{id: a, type: agent, name: x}]", last="P"),
    Row("CA05", ABC, last=block("[a (agent: x)]: X", "[b (agent: y)]: Y")),
    Row("CA05", f"workflow: {listed(ODD, 'b y')}", last=block("[a b (agent: x)]: X")),
    Row("CA06", ABC, {"x": ""}, last=block("[b (agent: y)]: Y")),
    Row("CA07", TWICE, {"x": ["1", "2"]}, outputs={"x": "1", "x_2": "2", "y": "Y"}, last=block(*NAMED)),
    gate("CA08", ".ok", '{"ok":true}', "y"),
    gate("CA08", ".ok", '{"ok":false}', "z"),
    gate("CA09", "", "YES", "y"), gate("CA09", "", "no", "z"), gate("CA09", ".k", '{"k":1}', "z"),
    gate("CA10", ".ok", "yes", "y"), gate("CA11", ".ok", "{}", "z"),
    Row("CA13", PAR, {"x": "1", "y": "2"}, outputs={"p/c1": "1", "p/c2": "2", "t": "Z"}),
    Row("CA14", PAR, last=block("[p/c1 (agent: x)]: X", "[p/c2 (agent: y)]: Y")),
    Row("CA15", PAR, {"y": BUSY}, outputs={}, error="RateLimited"),
    Row("CA16", f"workflow: {listed(BLOCK, 't z', FIRST)}", {"x": "yes", "y": "no"}, outputs=CHOSEN),
    Row("CA17", NESTED, {"y": "true"}, outputs=DEEP, last=block(*ABOVE)),
    Row("CA18", LOOP, {"y": "no"}, order="xyxy", error="DF4311 workflow: "),
    Row("CA19", RETRY % "", {"x": [BUSY, BUSY, "X"]}, order="xxxy", last=block("[a (agent: x)]: X")),
    Row("CA20", RETRY % ", on: [timeout]", {"x": BUSY}, order="x", error="RateLimited"),
    Row("CA22", ABC, {"y": BUSY}, outputs={"a": "X"}, error="RateLimited"),
]  # fmt: skip

#: Rows that are no run, and those of which there is more to say; each has a test below.
OTHERS: Final = ("CA02", "CA12", "CA13", "CA14", "CA19", "CA21")


def test_every_row_is_there() -> None:
    """None of them is of what other parts of the engine do, as schedules or servers."""
    there = {row.id for row in ROWS} | set(OTHERS)
    assert there == {f"CA{number:02}" for number in range(1, 23)}


async def test_a_row(subtests: pytest.Subtests) -> None:
    """CA01, CA03 to CA11, CA13 to CA20, CA22."""
    for row in ROWS:
        with subtests.test(row.id, workflow=row.workflow):
            played = await play(flow_of(row.workflow), **row.answers)
            assert (row.error in played.error, bool(row.error)) == (True, bool(played.error))
            found = (played.order, played.outputs, played.prompts[-1][1])
            wanted = [
                there if here is None else here
                for here, there in zip((row.order, row.outputs, row.last), found, strict=True)
            ]
            assert [*found] == wanted


LIMITS: Final = {
    "max_loop_iterations: 5": 5,
    "max_loop_iterations: 0": 100,
    "max_loop_iterations: null": 100,
    "max_loop_iterations: 5, overrides: {max_loop_iterations: 3}": 3,
    "overrides: {max_loop_iterations: 3}": 3,
}


def test_the_map_form_says_how_many_passes_a_loop_may_have() -> None:
    """CA02."""
    steps = "[{id: a, type: agent, name: x}, {type: condition, condition: $steps.a.output, false: [a]}]"
    flows = {given: flow_of(f"workflow: {{steps: {steps}, {given}}}").to_dict() for given in LIMITS}
    assert {given: flow["nodes"]["back_to_a"]["config"] for given, flow in flows.items()} == {
        given: {"step": "a", "limit": limit} for given, limit in LIMITS.items()
    }


async def test_the_parallel_value_has_the_order_of_the_file_whatever_ends_first() -> None:
    """CA13, CA14: c1 ends only once c2 has ended, and t begins behind both."""
    ended = anyio.Event()

    async def late() -> str:
        await ended.wait()
        return "1"

    async def early() -> str:
        ended.set()
        return "2"

    played = await play(flow_of(PAR), x=late, y=early)
    assert played.steps["p"] == {
        "steps": {"c1": {"output": "1", "agent": "x"}, "c2": {"output": "2", "agent": "y"}},
        "order": ["c1", "c2"],
    }
    assert played.prompts[-1] == ("z", block("[p/c1 (agent: x)]: 1", "[p/c2 (agent: y)]: 2"))


async def test_an_exponential_backoff_doubles_the_wait() -> None:
    """CA19."""
    assert (await play(flow_of(RETRY % ""), x=[BUSY, BUSY, BUSY, "X"])).waits == [0.001, 0.002, 0.004]


def test_what_is_no_step_or_reads_no_step_is_refused_with_its_place() -> None:
    assert problems(GATE.replace("$steps.v", "$steps.ghost") % "") == [
        "DF4307 workflow[1].condition: step 'gate': condition '{{ $steps.ghost.output }}'"
    ]
    refused = {
        "{type: agent, name: nobody}": "DF4005 workflow[1].name", "{type: agent}": "DF4003 workflow[1]",
        "{type: condition}": "DF4003 workflow[1]", "{type: loop}": "DF4005 workflow[1].type",
    }  # fmt: skip
    assert {step: problems(f"workflow: [{{type: agent, name: x}}, {step}]") for step in refused} == {
        step: [problem] for step, problem in refused.items()
    }


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
    ('{"ok": true}', ".ok", True), ('{"ok": "Yes"}', ".ok", True), ('{"ok": 1}', ".ok", False),
    ("{}", ".ok", False), ('{"a": {"b": true}}', ".a.b", True),
    ('{"a": {"b": true}}', '["a"]["b"]', True),
    ("yes", ".ok", True),
]  # fmt: skip


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
        "DF4002 workflow.max_loop_iterations", "DF4003 workflow.steps[0]",
        "DF4005 workflow.steps[1].name: step 'a'", "DF4004 workflow.steps[2].extra: step 'c'",
        "DF4003 workflow.steps[3]: step 'c'", "DF4007 workflow.steps[3].id: step 'c'",
        "DF4002 workflow.steps[4].retry.max_attempts", "DF4004 workflow.steps[4].retry.foo",
        "DF4002 workflow.steps[4].retry.backoff", "DF4304 workflow.steps[5].steps[0]: step 'q'",
        "DF4003 workflow.steps[6]: step 'p'",
    ]  # fmt: skip


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
        "DF4005 agents.x.sub_agents[1]: agent 'x'", "DF4012 agents.idle.model: agent 'idle'",
        "DF4002 agents.none: agent 'none'", "DF4003 agents.bare: agent 'bare'",
        "DF4002 agents.bare.structured_output: agent 'bare'", "DF4002 agents.bare.sub_agents: agent 'bare'",
        "DF4005 workflow[0].name",
    ]  # fmt: skip


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
