# ruff: noqa: E501 - messages are compared whole
"""The report of a workflow of cagent: what means something else here, and what is unsound."""

from __future__ import annotations

import pytest

from tests.nodes.formats.cagent.workflows import AGENTS, flow_of

STEP = "{id: a, type: agent, name: x}"


def test_a_sound_workflow_has_no_remarks() -> None:
    workflow = f"workflow: [{STEP}, {{type: condition, condition: $steps.a.output, true: [{{type: agent, name: y}}]}}]"
    assert list(flow_of(workflow).report) == []


@pytest.mark.parametrize(
    ("workflow", "remark"),
    [
        (
            f"[{{id: c, type: condition, condition: $steps.a.output}}, {{id: b, type: agent, name: y}}, {STEP}]",
            "node 'c': originally is evaluated before 'a', which it reads; here it is evaluated behind 'a'",
        ),
        (
            f"[{STEP}, {{id: c, type: condition, condition: $steps.a.output, false: [a]}}]",
            "node 'c': originally `a` does not lead back, and the steps behind the condition follow; here it leads back to step 'a'",
        ),
        (
            f"[{STEP}, {{id: c, type: condition, condition: $steps.a.output, false: [{{goto: 0}}]}}]",
            "node 'c': originally `goto: 0` does not lead back, and the steps behind the condition follow; here it leads back to step 'a'",
        ),
        (
            f"[{STEP}, {{id: c, type: condition, condition: $steps.a.output, false: [{{id: back_to_a, type: agent, name: y}}]}}]",
            "node 'back_to_a': originally runs agent 'y' once more, and the steps behind the condition follow; here it leads back to step 'a', which runs agent 'x'",
        ),
        (
            f"[{STEP}, {{id: c, type: condition, condition: $steps.a.output.ok}}]",
            "node 'c': originally reads 'ok', which no structured_output of agent 'x' declares; here an output that is no JSON object counts as a whole, and a missing part is false",
        ),
        (
            "[{type: agent, name: x}, {type: agent, name: x}]",
            "originally steps without an id can share one, and a later output takes an earlier one's place; here each has an id of its own: x, x_2",
        ),
        (
            f"[{STEP}, {{id: c, type: condition, condition: $steps.a.output, retry: {{max_attempts: 1}}}}]",
            "node 'c': originally has `retry`; here it has no effect on a condition",
        ),
        (
            f"[{STEP}, {{goto: a}}, {{id: b, type: agent, name: y}}]",
            "node 'b': originally stands behind a way back; here it is left out, as it can never run",
        ),
        (
            f"[{STEP}, {{id: c, type: condition, condition: $steps.a.output, true: [{{id: d, type: condition, condition: $steps.b.output}}]}}, {{id: b, type: agent, name: y}}]",
            "node 'd': originally reads 'b', which has given nothing when it is evaluated; here the run fails there",
        ),
        (
            "[{type: parallel, id: p, steps: [{id: a, type: agent, name: x}, {id: c, type: condition, condition: $steps.p.outputs.a.output}]}]",
            "node 'c': originally reads 'p/a', which has given nothing when it is evaluated; here the run fails there",
        ),
        (
            f"[{STEP}, {{id: back_to_b, type: agent, name: y}}]",
            "node 'back_to_b': originally runs agent 'y'; here it does so too, as there is no step 'b' to lead back to",
        ),
        (
            f"[{STEP}, a]".replace(", a]", ", {goto: a}]"),
            "originally has no end; here it ends only at a limit of loops",
        ),
    ],
)
def test_a_remark_names_the_step_and_what_happens(workflow: str, remark: str) -> None:
    assert remark in [str(found) for found in flow_of(f"workflow: {workflow}").report]


def test_fields_of_agents_and_models_without_effect_are_told() -> None:
    agents = "agents: {x: {model: m, toolsets: [], description: a}}\nmodels: {m: {model: gpt-5, top_p: 1}}\n"
    assert [str(found) for found in flow_of("workflow: [{type: agent, name: x}]", agents).report] == [
        "originally agent 'x' has 'toolsets'; here it has no effect",
        "originally model 'm' has 'top_p'; here it has no effect",
    ]


def test_agents_that_no_step_runs_are_not_told_of() -> None:
    agents = f"{AGENTS}  other: {{model: m/other, toolsets: []}}\n"
    assert list(flow_of("workflow: [{type: agent, name: x}]", agents).report) == []
