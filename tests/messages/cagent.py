# ruff: noqa: E501 - a row is a line, and messages are compared whole
"""What is reported about workflows of cagent that cannot be read, and about conditions that cannot be decided."""

from __future__ import annotations

from typing import Any, Final

from dataflow_formats.cagent.conditions import holds
from dataflow_formats.cagent.nodes import LoopsExceeded
from tests.messages.telling import Row, Stimulus, foreign

AGENTS: Final = "agents: {x: {model: openai/gpt}}\n"
TWO_AGENTS: Final = "agents:\n  x: {model: openai/gpt}\n  y: {model: openai/gpt}\n"
STORE: Final[dict[str, Any]] = {
    "a": {"output": "maybe", "agent": "x"},
    "p": {"steps": {"c": {"output": "yes", "agent": "x"}}, "order": ["c"]},
}


load, report = foreign("cagent")


def loaded(workflow: str, agents: str = AGENTS, **options: str) -> Stimulus:
    return load(f"{agents}{workflow}\n", **options)


def reported(workflow: str, agents: str = AGENTS) -> Stimulus:
    return report(f"{agents}{workflow}\n")


def decided(condition: str) -> Stimulus:
    return lambda: holds(condition, STORE)


# fmt: off
ROWS: Final = [
    Row("no mapping", loaded("[]", "")),
    Row("a loop beyond its limit", lambda: LoopsExceeded("a", 3)),
    Row("no steps", loaded("workflow: []")),
    Row("no list of steps", loaded("workflow: 1")),
    Row("the form of a fork", loaded("workflows: {}")),
    Row("the older form", loaded("version: \"2\"\nworkflow: [{type: agent, name: x}]")),
    Row("names in a parallel block", loaded("workflow: [{type: parallel, id: p, steps: [x]}]")),
    Row("no step of a branch", loaded("workflow: [{type: condition, condition: $steps.x.output, true: [1.5]}, {type: agent, name: x}]")),
    Row("no type", loaded("workflow: [{id: a}]")),
    Row("an id that is taken", loaded("workflow: [{type: agent, name: x, id: a}, {type: agent, name: x, id: a}]")),
    Row("no target", loaded("workflow: [{type: agent, name: x}, {goto: []}]")),
    Row("a target that is not there", loaded("workflow: [{type: agent, name: x}, {goto: y}]")),
    Row("an index that is not there", loaded("workflow: [{type: agent, name: x}, {goto: 7}]")),
    Row("a blank condition", loaded("workflow: [{type: condition, condition: ' '}]")),
    Row("deep blocks", loaded("workflow: " + "[{type: parallel, steps: " * 21 + "[]" + "}]" * 21)),
    Row("a way back out of a block", loaded("workflow: [{type: agent, name: x}, {type: parallel, steps: [{goto: x}]}]")),
    Row("a field of a retry", loaded("workflow: [{type: agent, name: x, retry: {max_attempts: x, every: 1}}]")),
    Row("an instruction", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: openai/gpt, instruction: 1}}\n")),
    Row("an agent below that is none", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: openai/gpt, sub_agents: [1]}}\n")),
    Row("no agents below", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: openai/gpt, sub_agents: y}}\n")),
    Row("a reference in an instruction", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: openai/gpt, instruction: \"{{ $steps.y.output }}\"}}\n")),
    Row("agents without a workflow", loaded("version: 1")),
    Row("an agent to talk to that is not there", loaded("workflow: []", agent="y")),
    Row("no model", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {}}\n")),
    Row("an empty model", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: ' '}}\n")),
    Row("a model that nobody knows", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: smal}}\nmodels: {big: {}, small: {}}\n")),
    Row("a model of the file without its provider", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: m}}\nmodels: {m: {model: house}}\n")),
    Row("a model of the file that is none", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: m}}\nmodels: {m: 1}\n")),
    Row("a model without a name", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: m}}\nmodels: {m: {temperature: -1}}\n")),
    Row("structured output", loaded("workflow: [{type: agent, name: x}]", "agents: {x: {model: openai/gpt, structured_output: 1}}\n")),
    Row("fields without effect", reported("workflow: [{type: agent, name: x}]", "agents: {x: {model: m, toolsets: [], description: a}}\nmodels: {m: {model: gpt-5, top_p: 1}}\n")),
    Row("a retry without effect", reported("workflow: [{type: agent, name: x}, {type: condition, condition: $steps.x.output, retry: {max_attempts: 1}}]")),
    Row("a condition before the step that it reads", reported("workflow: [{id: c, type: condition, condition: $steps.a.output}, {id: b, type: agent, name: y}, {id: a, type: agent, name: x}]", TWO_AGENTS)),
    Row("an id of an earlier step in a branch", reported("workflow: [{id: a, type: agent, name: x}, {id: c, type: condition, condition: $steps.a.output, false: [a]}]", TWO_AGENTS)),
    Row("a goto in a branch", reported("workflow: [{id: a, type: agent, name: x}, {id: c, type: condition, condition: $steps.a.output, false: [{goto: 0}]}]", TWO_AGENTS)),
    Row("an agent step that leads back", reported("workflow: [{id: a, type: agent, name: x}, {id: c, type: condition, condition: $steps.a.output, false: [{id: back_to_a, type: agent, name: y}]}]", TWO_AGENTS)),
    Row("a key that no structured output declares", reported("workflow: [{id: a, type: agent, name: x}, {id: c, type: condition, condition: $steps.a.output.ok}]", TWO_AGENTS)),
    Row("steps without ids", reported("workflow: [{type: agent, name: x}, {type: agent, name: x}]", TWO_AGENTS)),
    Row("a step after a way back", reported("workflow: [{id: a, type: agent, name: x}, {goto: a}, {id: b, type: agent, name: y}]", TWO_AGENTS)),
    Row("a condition that reads its own block", reported("workflow: [{type: parallel, id: p, steps: [{id: a, type: agent, name: x}, {id: c, type: condition, condition: $steps.p.outputs.a.output}]}]", TWO_AGENTS)),
    Row("a step named as if it led back", reported("workflow: [{id: a, type: agent, name: x}, {id: back_to_b, type: agent, name: y}]", TWO_AGENTS)),
    Row("a text that is neither", decided("$steps.a.output")),
    Row("no output behind a step", decided("$steps.a.agent")),
    Row("a block as an output", decided("$steps.p.outputs")),
    Row("an output that is not there", decided("$steps.p.outputs[2].output")),
    Row("a step of the workflow by an index", decided("$steps[0].output")),
    Row("an index into an output", decided("$steps.a.output[0]")),
]
# fmt: on
