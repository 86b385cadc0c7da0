# ruff: noqa: E501 - messages are compared whole
"""What is no workflow of cagent: every problem of a file at once, each at its place."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from dataflow import Flow, FlowInvalid, FormatError
from tests.nodes.formats.cagent.workflows import flow_of, problems


def test_all_problems_of_a_file_are_told_at_once() -> None:
    workflow = """\
    workflow:
      max_loop_iterations: many
      overrides: {max_loop_iterations: 1.5}
      steps:
      - {type: agent}
      - {type: agent, id: a, name: nobody}
      - {type: condition, id: c, condition: "$steps.c2.output", extra: 1}
      - {type: condition, id: c, condition: ""}
      - {type: x}
      - {type: agent, name: x, retry: {max_attempts: -1, foo: 2, backoff: slow}}
      - text
      - {type: parallel, id: p}
      - {type: parallel, id: q, steps: [{goto: c}]}
      - {goto: [1]}
      - {type: agent, name: x, id: 3}
    """
    assert problems(workflow) == [
        "6:3 workflow.max_loop_iterations: expected a whole number, found 'many'",
        "7:15 workflow.overrides.max_loop_iterations: expected a whole number, found 1.5",
        "9:5 workflow.steps[0]: has no `name`",
        "10:26 workflow.steps[1].name: step 'a': there is no agent 'nobody'; choices: x, y, z",
        "11:61 workflow.steps[2].extra: step 'c': 'extra' is not known here; choices: id, type, name, retry, condition, true, false",
        "12:5 workflow.steps[3]: step 'c': has no `condition`",
        "12:23 workflow.steps[3].id: step 'c': has the id 'c' of workflow.steps[2]; each id stands once",
        "13:6 workflow.steps[4].type: there is no type 'x'; choices: agent, condition, parallel",
        "14:36 workflow.steps[5].retry.max_attempts: expected a whole number of 0 or more, found -1",
        "14:54 workflow.steps[5].retry.foo: 'foo' is not known here; choices: max_attempts, backoff, initial_delay_seconds, on",
        "14:62 workflow.steps[5].retry.backoff: expected fixed or exponential, found 'slow'",
        "15:5 workflow.steps[6]: expected a step, found 'text'",
        "16:5 workflow.steps[7]: step 'p': has no `steps`",
        "17:37 workflow.steps[8].steps[0]: step 'q': what runs side by side cannot lead back",
        "18:6 workflow.steps[9].goto: expected the id or the index of a step, found a list of 1",
        "19:28 workflow.steps[10].id: expected text, found 3",
    ]


def test_references_and_ways_back_that_lead_nowhere_are_told_at_once() -> None:
    agents = 'agents: {x: {model: m/x, instruction: "{{ $steps.zz.output }}"}}\n'
    workflow = """\
    workflow:
    - {type: condition, condition: "{{ $steps.ghost.output }}", true: [nowhere, 7]}
    - {type: condition, condition: "1 > 2", false: [last]}
    - {type: agent, name: x, id: last}
    - {type: condition, condition: "$steps.last.output[0]", false: [{goto: last}]}
    """
    ghost = "condition '{{ $steps.ghost.output }}': there is no step 'ghost'; choices: last"
    assert problems(workflow, agents) == [
        "1:26 agents.x.instruction: agent 'x': {{ $steps.zz.output }}: there is no step 'zz'; choices: last",
        f"3:21 workflow[0].condition: 'condition': {ghost}",
        "3:68 workflow[0].true[0]: 'back_to_nowhere': leads back to 'nowhere', which is no step that comes before it; choices: condition",
        "4:21 workflow[1].condition: 'condition_2': condition '1 > 2': expected {{ $steps.ID.output }}, with .KEY behind it for a part of the output",
        "4:49 workflow[1].false[0]: 'back_to_last': leads back to 'last', which is no step that comes before it; choices: condition, condition_2",
        "6:21 workflow[3].condition: 'condition_3': condition '$steps.last.output[0]': a part of an output is named by a key, found the index 0",
    ]


@pytest.mark.parametrize(
    ("workflow", "problem"),
    [
        ("workflow: []", "5:1 workflow: has no steps"),
        ("workflow: {steps: []}", "5:1 workflow: has no steps"),
        ("workflow: text", "expected a list of steps, or a mapping with a list under `steps`, found 'text'"),
        (
            "workflow: {steps: 1}",
            "expected a list of steps, or a mapping with a list under `steps`, found a mapping",
        ),
        ("workflow: {steps: [], max: 1}", "workflow.max: 'max' is not known here"),
        (
            "workflow: {steps: [{type: agent, name: x}], overrides: 1}",
            "workflow.overrides: expected a mapping, found 1",
        ),
        (
            "workflow: [{type: agent, name: x}, {type: condition, condition: $steps.x.output, true: 1}]",
            "workflow[1].true: expected a list, found 1",
        ),
        (
            "workflow: [{type: agent, name: x}, {type: condition, condition: $steps.x.output, true: [1.5]}]",
            "workflow[1].true[0]: expected a step, or the id or the index of an earlier one, found 1.5",
        ),
        (
            "workflow: [{type: agent, name: x}, {goto: 5}]",
            "there is no step 5; the workflow has 2, counted from 0",
        ),
        ("workflow: [{type: agent, name: x, retry: 3}]", "workflow[0].retry: expected a mapping, found 3"),
        (
            "workflow: [{type: agent, name: x, retry: {on: timeout}}]",
            "workflow[0].retry.on: expected a list of texts, such as [timeout, rate_limit], found 'timeout'",
        ),
        (
            "workflow: [{type: agent, name: x, retry: {initial_delay_seconds: 0}}]",
            "retry.initial_delay_seconds: expected a number above 0, found 0",
        ),
        (
            "workflow: [{type: parallel, steps: [x, y]}]",
            "the older form of workflows, with agents' names as the steps of a parallel block, is not read here",
        ),
        (
            "version: 2\nworkflow: [{type: agent, name: x}]",
            "version: the older form of workflows, of files of version 2, is not read here",
        ),
        (
            "workflows: {main: {entry: a, nodes: {}}}",
            "the form of a fork of cagent, with `workflows`, `entry` and `nodes`",
        ),
        (
            "workflow: " + "[{type: parallel, steps: " * 21 + "[]" + "}]" * 21,
            "type: parallel blocks nest deeper than 20",
        ),
    ],
)
def test_a_workflow_that_is_none_is_refused(workflow: str, problem: str) -> None:
    (found,) = problems(workflow)
    assert problem in found


@pytest.mark.parametrize(
    ("agents", "problem"),
    [
        ("agents: {x: 1}", "agents.x: agent 'x': expected an agent, found 1"),
        ("agents: {x: {}}", "agents.x: agent 'x': has no `model`; expected provider/model"),
        ("agents: {x: {model: ''}}", "agent 'x': expected the name of a model, found ''"),
        ("agents: {x: {model: a/b c}}", "agent 'x': 'a/b c' is no model; expected provider/model"),
        (
            "agents: {x: {model: x/m, instruction: 1}}",
            "agents.x.instruction: agent 'x': expected text, found 1",
        ),
        (
            "agents: {x: {model: x/m, structured_output: {name: x}}}",
            "agents.x.structured_output: agent 'x': expected `schema`, found null",
        ),
        ("agents: {x: {model: m}}\nmodels: {m: 1}", "models.m: model 'm': expected a model, found 1"),
        (
            "agents: {x: {model: m}}\nmodels: {m: {}}",
            "models.m: model 'm': expected `provider` and `model`, each a text",
        ),
        (
            "agents: {x: {model: m}}\nmodels: {m: {model: gpt-5, max_tokens: 0}}",
            "models.m.max_tokens: model 'm': expected a whole number of 1 or more, found 0",
        ),
    ],
)
def test_an_agent_that_is_none_is_refused(agents: str, problem: str) -> None:
    (found,) = problems("workflow: [{type: agent, name: x}]", f"{agents}\n")
    assert problem in found


def test_agents_that_no_step_runs_are_checked_as_those_that_run() -> None:
    agents = """\
    agents:
      x: {model: openai/gpt, sub_agents: [idle, gone, team/agent, "registry:5000/agent"]}
      idle: {model: nobody, instruction: "{{ $steps.ghost.output }}"}
      none: 1
      bare: {structured_output: 1, sub_agents: idle}
    models: {own: {provider: openai, model: gpt-5}}
    """
    assert problems("workflow: [{type: agent, name: y}, {type: agent, name: x}]", agents) == [
        "2:45 agents.x.sub_agents[1]: agent 'x': there is no agent 'gone'; choices: none, bare, idle, x",
        "3:10 agents.idle.model: agent 'idle': 'nobody' is no model; expected provider/model or a name under `models`, choices: own",
        "4:3 agents.none: agent 'none': expected an agent, found 1",
        "5:3 agents.bare: agent 'bare': has no `model`; expected provider/model or a name under `models`, choices: own",
        "5:10 agents.bare.structured_output: agent 'bare': expected `schema`, found 1",
        "5:32 agents.bare.sub_agents: agent 'bare': expected a list of agents, found 'idle'",
        "7:26 workflow[0].name: there is no agent 'y'; choices: bare, idle, none, x",
    ]


def test_a_reference_of_an_agent_that_no_step_runs_leads_to_a_step() -> None:
    agents = 'agents: {x: {model: m/x}, idle: {model: m/x, instruction: "{{ $steps.zz.output }}"}}\n'
    assert problems("workflow: [{type: agent, name: x}]", agents) == [
        "1:46 agents.idle.instruction: agent 'idle': {{ $steps.zz.output }}: there is no step 'zz'; choices: x"
    ]


def test_what_else_is_wrong_with_a_file_of_the_older_form_is_told_with_it() -> None:
    assert problems("version: 2\nworkflow: [{type: agent, name: nobody}]") == [
        "5:1 version: the older form of workflows, of files of version 2, is not read here: there each step gets only the output before it",
        "6:26 workflow[0].name: there is no agent 'nobody'; choices: x, y, z",
    ]


def test_a_model_that_two_agents_name_is_told_once() -> None:
    agents = "agents: {x: {model: m}, y: {model: m}}\nmodels: {m: {model: gpt-5, max_tokens: 0}}\n"
    workflow = "workflow: [{type: agent, name: x}, {type: agent, name: y}]"
    assert problems(workflow, agents) == [
        "2:28 models.m.max_tokens: model 'm': expected a whole number of 1 or more, found 0"
    ]


def test_a_model_that_two_agents_name_is_remarked_on_once() -> None:
    agents = "agents: {x: {model: m}, y: {model: m}}\nmodels: {m: {model: openai/gpt-5, top_p: 1}}\n"
    flow = flow_of("workflow: [{type: agent, name: x}, {type: agent, name: y}]", agents)
    assert [str(remark) for remark in flow.report if "top_p" in remark.original] == [
        "originally model 'm' has 'top_p'; here it has no effect"
    ]


def test_two_agents_of_one_name_are_refused() -> None:
    agents = "agents:\n  x: {model: m/x}\n  idle: {model: m/x}\n  idle: {model: m/y}\n"
    with pytest.raises(FormatError, match="idle"):
        flow_of("workflow: [{type: agent, name: x}]", agents)


def problems_of(text: str, **more: str) -> list[str]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "flow.yaml"
        path.write_text(dedent(text), encoding="utf-8")
        return Flow.load(path, **more).check()


@pytest.mark.parametrize("text", ["[]", "1", "text", "{}", "{agents: 1}"])
def test_what_is_no_mapping_with_a_workflow_is_refused_where_the_format_is_asked_for(text: str) -> None:
    with pytest.raises(FlowInvalid):
        problems_of(text, format="cagent")


@pytest.mark.parametrize("key", ["true", "false", "True", "FALSE"])
def test_keys_that_are_booleans_are_words_only_in_files_of_cagent(key: str) -> None:
    with pytest.raises(
        FormatError, match=rf"flow.yaml:3:3: a key must be text, found the boolean {key.lower()}"
    ):
        problems_of(f"dataflow: 1\nmeta:\n  {key}: 1")
    step = f"{{type: condition, condition: $steps.x.output, {key}: []}}"
    assert problems_of(f"agents: {{x: {{model: a/m}}}}\nworkflow: [{{type: agent, name: x}}, {step}]") == []


def test_a_key_is_there_once_whether_or_not_it_is_quoted() -> None:
    with pytest.raises(FormatError, match="key 'true' stands here for the second time"):
        problems_of("workflow: [{type: condition, true: [], 'true': []}]")
    with pytest.raises(FormatError, match="a key must be text, found null"):
        problems_of("workflow: [{type: condition, ~: []}]")
