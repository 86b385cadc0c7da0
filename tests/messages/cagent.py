# ruff: noqa: E501 - a row is a line, and messages are compared whole
"""What is told of workflows of cagent that cannot be read, and of conditions that cannot be decided."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from dataflow import Flow
from dataflow_formats.cagent.conditions import holds
from tests.messages.saving import files
from tests.messages.telling import Row, Stimulus

__all__ = ["ROWS"]

AGENTS: Final = "agents: {x: {model: openai/gpt}}\n"
STORE: Final[dict[str, Any]] = {
    "a": {"output": "maybe", "agent": "x"},
    "p": {"steps": {"c": {"output": "yes", "agent": "x"}}, "order": ["c"]},
}


def loaded(workflow: str, agents: str = AGENTS, **options: str) -> Stimulus:
    """Load a file, agents first."""

    def make(folder: Path) -> object:
        (folder / "flow.yaml").write_text(f"{agents}{workflow}\n", encoding="utf-8")
        return Flow.load(folder / "flow.yaml", **options)

    return files(make)


def reported(workflow: str, agents: str = AGENTS) -> Stimulus:
    """Load a file and return its report."""

    def make(folder: Path) -> object:
        (folder / "flow.yaml").write_text(f"{agents}{workflow}\n", encoding="utf-8")
        return [str(remark) for remark in Flow.load(folder / "flow.yaml").report]

    return files(make)


def decided(condition: str) -> Stimulus:
    """Decide a condition."""
    return lambda: holds(condition, STORE)


# fmt: off
ROWS: Final = [
    Row("no mapping", loaded("[]", "", format="cagent"), "1:1 is no file of cagent; expected a mapping with `agents` and `workflow`"),
    Row("no steps", loaded("workflow: []"), "2:1 workflow: has no steps"),
    Row("no list of steps", loaded("workflow: 1"), "2:1 workflow: expected a list of steps, or a mapping with a list under `steps`, found 1"),
    Row("the form of a fork", loaded("workflows: {}"), "2:1 workflows: the form of a fork of cagent, with `workflows`, `entry` and `nodes`, is not read here; expected `workflow`"),
    Row("the older form", loaded("version: \"2\"\nworkflow: [{type: agent, name: x}]"), "2:1 version: the older form of workflows, of files of version 2, is not read here: there each step gets only the output before it"),
    Row("names in a parallel block", loaded("workflow: [{type: parallel, id: p, steps: [x]}]"), "2:36 workflow[0].steps: step 'p': the older form of workflows, with agents' names as the steps of a parallel block, is not read here; expected {type: agent, name: ...} for each"),
    Row("a limit", loaded("workflow: {steps: [{type: agent, name: x}], max_loop_iterations: 1.5}"), "2:45 workflow.max_loop_iterations: expected a whole number, found 1.5"),
    Row("overrides", loaded("workflow: {steps: [{type: agent, name: x}], overrides: []}"), "2:45 workflow.overrides: expected a mapping, found an empty list"),
    Row("a field of a workflow", loaded("workflow: {steps: [{type: agent, name: x}], limit: 1}"), "2:45 workflow.limit: 'limit' is not known here; choices: steps, max_loop_iterations, overrides"),
    Row("a branch", loaded("workflow: [{type: condition, condition: $steps.x.output, true: 1}, {type: agent, name: x}]"), "2:58 workflow[0].true: expected a list, found 1"),
    Row("no step", loaded("workflow: [1]"), "2:12 workflow[0]: expected a step, found 1"),
    Row("no step of a branch", loaded("workflow: [{type: condition, condition: $steps.x.output, true: [1.5]}, {type: agent, name: x}]"), "2:65 workflow[0].true[0]: expected a step, or the id or the index of an earlier one, found 1.5"),
    Row("no id", loaded("workflow: [{type: agent, name: x, id: 1}]"), "2:35 workflow[0].id: expected text, found 1"),
    Row("no type", loaded("workflow: [{id: a}]"), "2:12 workflow[0]: step 'a': has no `type`; choices: agent, condition, parallel"),
    Row("an id that is taken", loaded("workflow: [{type: agent, name: x, id: a}, {type: agent, name: x, id: a}]"), "2:66 workflow[1].id: step 'a': has the id 'a' of workflow[0]; each id stands once"),
    Row("no target", loaded("workflow: [{type: agent, name: x}, {goto: []}]"), "2:37 workflow[1].goto: expected the id or the index of a step, found an empty list"),
    Row("a target that is not there", loaded("workflow: [{type: agent, name: x}, {goto: y}]"), "2:36 workflow[1]: 'back_to_y': leads back to 'y', which is no step that comes before it; choices: x"),
    Row("an index that is not there", loaded("workflow: [{type: agent, name: x}, {goto: 7}]"), "2:36 workflow[1]: 'back_to_7': there is no step 7; the workflow has 2, counted from 0"),
    Row("no agent", loaded("workflow: [{type: agent}]"), "2:12 workflow[0]: has no `name`"),
    Row("an unknown agent", loaded("workflow: [{type: agent, name: y}]"), "2:26 workflow[0].name: there is no agent 'y'; choices: x"),
    Row("no condition", loaded("workflow: [{type: condition}]"), "2:12 workflow[0]: has no `condition`"),
    Row("an unknown step", loaded("workflow: [{type: condition, condition: $steps.y.output}, {type: agent, name: x}]"), "2:30 workflow[0].condition: 'condition': condition '$steps.y.output': there is no step 'y'; choices: x"),
    Row("no reference", loaded("workflow: [{type: condition, condition: a > b}, {type: agent, name: x}]"), "2:30 workflow[0].condition: 'condition': condition 'a > b': expected {{ $steps.ID.output }}, with .KEY behind it for a part of the output"),
    Row("a parallel block without steps", loaded("workflow: [{type: parallel}]"), "2:12 workflow[0]: has no `steps`"),
    Row("deep blocks", loaded("workflow: " + "[{type: parallel, steps: " * 21 + "[]" + "}]" * 21), "2:513 workflow[0].steps[0].steps[0].steps[0].steps[0].steps[0].steps[0].steps[0].steps[0].steps[0].steps[0].steps[0].steps[0].steps[0].steps[0].steps[0].steps[0].steps[0].steps[0].steps[0].steps[0].type: parallel blocks nest deeper than 20"),
    Row("a way back out of a block", loaded("workflow: [{type: agent, name: x}, {type: parallel, steps: [{goto: x}]}]"), "2:61 workflow[1].steps[0]: what runs side by side cannot lead back"),
    Row("no retry", loaded("workflow: [{type: agent, name: x, retry: 3}]"), "2:35 workflow[0].retry: expected a mapping, found 3"),
    Row("a field of a retry", loaded("workflow: [{type: agent, name: x, retry: {max_attempts: x, every: 1}}]"), "2:43 workflow[0].retry.max_attempts: expected a whole number of 0 or more, found 'x'\n2:60 workflow[0].retry.every: 'every' is not known here; choices: max_attempts, backoff, initial_delay_seconds, on"),
    Row("an agent that is none", loaded("workflow: [{type: agent, name: x}]", "agents: {x: 1}\n"), "1:10 agents.x: agent 'x': expected an agent, found 1"),
    Row("an instruction", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: openai/gpt, instruction: 1}}\n"), "1:33 agents.x.instruction: agent 'x': expected text, found 1"),
    Row("an agent that no step runs", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: openai/gpt}, y: 1}\n"), "1:34 agents.y: agent 'y': expected an agent, found 1"),
    Row("an agent below that is not there", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: openai/gpt, sub_agents: [y]}}\n"), "1:46 agents.x.sub_agents[0]: agent 'x': there is no agent 'y'; choices: x"),
    Row("an agent below that is none", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: openai/gpt, sub_agents: [1]}}\n"), "1:46 agents.x.sub_agents[0]: agent 'x': expected the name of an agent, found 1"),
    Row("no agents below", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: openai/gpt, sub_agents: y}}\n"), "1:33 agents.x.sub_agents: agent 'x': expected a list of agents, found 'y'"),
    Row("a reference in an instruction", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: openai/gpt, instruction: \"{{ $steps.y.output }}\"}}\n"), "1:33 agents.x.instruction: agent 'x': {{ $steps.y.output }}: there is no step 'y'; choices: x"),
    Row("agents without a workflow", loaded("version: 1"), "1:1 has no `workflow`; of files without one an agent is named besides, as in FILE#agent=NAME; choices: x"),
    Row("an agent to talk to that is not there", loaded("workflow: []", agent="y"), "1:1 agents: there is no agent 'y'; choices: x"),
    Row("an agent to talk to without a name", loaded("workflow: []", agent=""), "1:1 agents: which agent? write FILE#agent=NAME; choices: x"),
    Row("no model", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {}}\n"), "1:10 agents.x: agent 'x': has no `model`; expected provider/model"),
    Row("an empty model", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: ' '}}\n"), "1:14 agents.x.model: agent 'x': expected the name of a model, found ' '"),
    Row("a model that nobody knows", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: smal}}\nmodels: {big: {}, small: {}}\n"), "1:14 agents.x.model: agent 'x': 'smal' is no model; expected provider/model or a name under `models`, choices: small, big"),
    Row("a model of the file without its provider", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: m}}\nmodels: {m: {model: house}}\n"), "2:10 models.m: model 'm': 'house' is no model; expected `provider` and `model`"),
    Row("a model that is none", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: a b}}\n"), "1:14 agents.x.model: agent 'x': 'a b' is no model; expected provider/model"),
    Row("a model of the file that is none", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: m}}\nmodels: {m: 1}\n"), "2:10 models.m: model 'm': expected a model, found 1"),
    Row("a model without a name", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: m}}\nmodels: {m: {temperature: -1}}\n"), "2:10 models.m: model 'm': expected `provider` and `model`, each a text\n2:14 models.m.temperature: model 'm': expected a number of 0 or more, found -1"),
    Row("structured output", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: openai/gpt, structured_output: 1}}\n"), "1:33 agents.x.structured_output: agent 'x': expected `schema`, found 1"),
    Row("fields without effect", reported("workflow: [{type: agent, name: x}]", "agents: {x: {model: m, toolsets: []}}\nmodels: {m: {model: gpt-5, top_p: 1}}\n"), "originally agent 'x' has 'toolsets'; here it has no effect\noriginally model 'm' has 'top_p'; here it has no effect"),
    Row("a retry without effect", reported("workflow: [{type: agent, name: x}, {type: condition, condition: $steps.x.output, retry: {max_attempts: 1}}]"), "node 'condition': originally has `retry`; here it has no effect on a condition"),
    Row("a text that is neither", decided("$steps.a.output"), "condition '$steps.a.output': its value is 'maybe'; expected true, 1, yes, false, 0, no or an empty text"),
    Row("a step without an output", decided("$steps.b.output"), "condition '$steps.b.output': there is no step 'b'; choices: a, p"),
    Row("no output behind a step", decided("$steps.a.agent"), "condition '$steps.a.agent': behind 'a' expected .output"),
    Row("a block as an output", decided("$steps.p.outputs"), "condition '$steps.p.outputs': 'p' is a parallel block; say which of its outputs is meant"),
    Row("an output that is not there", decided("$steps.p.outputs[2].output"), "condition '$steps.p.outputs[2].output': there is no output 2 in 'p'; it has 1"),
    Row("a step of the workflow by an index", decided("$steps[0].output"), "condition '$steps[0].output': a step of the workflow is named by its id, not by an index"),
    Row("an index into an output", decided("$steps.a.output[0]"), "condition '$steps.a.output[0]': a part of an output is named by a key, found the index 0"),
]
# fmt: on
