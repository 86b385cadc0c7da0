"""The node of an agent step: a flow that tells an agent what came before, and adds its output to that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataflow.formats.cagent.conditions import placeholders
from dataflow.formats.cagent.retries import policy_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.formats.cagent.parts import AgentDefinition, AgentStep
    from dataflow.formats.cagent.priors import Ran
    from dataflow.formats.foreign import JsonDict

__all__ = ["agent_node"]

#: Names that no input for an earlier output can have.
TAKEN = frozenset({"config", "prompt", "state"})


def agent_node(
    step: AgentStep, path: tuple[str, ...], definition: AgentDefinition, before: Sequence[Ran]
) -> JsonDict:
    """Make the node of a step that runs an agent behind others."""
    nodes: JsonDict = {}
    prompt = "$in.prompt"
    if before:
        names = _names(before)
        nodes["given"] = _given(names, before)
        nodes["prompt"] = _prompt(names, before)
        prompt = "prompt"
    nodes |= _asked(step, definition, prompt)
    nodes["done"] = {
        "type": "cagent.record",
        "config": {"path": [*path], "agent": step.agent},
        "inputs": {"state": "$in.state", "text": "agent.text"},
    }
    return {
        "flow": {
            "dataflow": 1,
            "inputs": {"prompt": {"type": "string"}, "state": {"type": "object"}},
            "nodes": nodes,
            "outputs": {"state": "done"},
        },
        "inputs": {"prompt": "$in.prompt"},
    }


def _asked(step: AgentStep, definition: AgentDefinition, prompt: str) -> JsonDict:
    """Make the call of the model; instructions with references are filled before it."""
    config: dict[str, Any] = {"model": definition.model}
    inputs = {"prompt": prompt}
    before: JsonDict = {}
    if placeholders(definition.instruction):
        before = {
            "instruction": {
                "type": "cagent.instruction",
                "config": {"text": definition.instruction},
                "inputs": {"state": "$in.state"},
            },
            "context": {"type": "agent.context", "inputs": {"system": "instruction"}},
        }
        inputs["context"] = "context"
    elif definition.instruction:
        config["system"] = definition.instruction
    config |= definition.config
    agent = {"type": "agent.chat", "config": config, "inputs": inputs, **policy_of(step.retry)}
    return {**before, "agent": agent}


def _given(names: Sequence[str], before: Sequence[Ran]) -> JsonDict:
    steps = {name: [*ran.path] for name, ran in zip(names, before, strict=True)}
    return {"type": "cagent.outputs", "config": {"steps": steps}, "inputs": {"state": "$in.state"}}


def _prompt(names: Sequence[str], before: Sequence[Ran]) -> JsonDict:
    steps = [
        {"name": name, "agent": ran.agent} | ({"path": "/".join(ran.path)} if "/".join(ran.path) != name else {})
        for name, ran in zip(names, before, strict=True)
    ]
    inputs = {"prompt": "$in.prompt", **{name: f"given.{name}" for name in names}}
    return {"type": "agent.prior_outputs", "config": {"steps": steps}, "inputs": inputs}


def _names(before: Sequence[Ran]) -> list[str]:
    """Name the inputs for earlier outputs: by the ids of the steps where these can be names and differ."""
    found: list[str] = []
    used = set(TAKEN)
    for number, ran in enumerate(before):
        id = ran.path[-1]
        name = id if id.isidentifier() and id not in used else f"step_{number}"
        while name in used:
            name += "_"
        used.add(name)
        found.append(name)
    return found
