"""The node of an agent step: a flow that tells an agent what came before, and adds its output to that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataflow.authoring import free_name
from dataflow_formats.cagent.conditions import placeholders
from dataflow_formats.cagent.retries import policy_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.authoring import JsonDict
    from dataflow_formats.cagent.parts import AgentDefinition, AgentStep
    from dataflow_formats.cagent.priors import Ran

__all__ = ["agent_node", "flow_of"]

#: Names that no input for an earlier output can have.
TAKEN = frozenset({"config", "prompt", "state"})


def agent_node(
    step: AgentStep, path: tuple[str, ...], definition: AgentDefinition, before: Sequence[Ran]
) -> JsonDict:
    """Make the node of a step that runs an agent behind others."""
    names = _names(before)
    nodes: JsonDict = {"given": _given(names, before)}
    if before:
        nodes["prompt"] = _prompt(names, before)
    nodes |= _asked(step, definition, "prompt" if before else "given.prompt")
    nodes["done"] = {
        "type": "cagent.record",
        "config": {"path": [*path], "agent": step.agent},
        "inputs": {"state": "$in.state", "text": "agent.text"},
    }
    return flow_of({"nodes": nodes, "outputs": {"state": "done"}})


def flow_of(block: JsonDict) -> JsonDict:
    """Make a node of the parts of a flow that takes what came before it and adds to it."""
    return {"flow": {"dataflow": 1, "inputs": {"state": {}}, **block}}


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
    config = {"config": {"steps": steps}} if steps else {}
    return {"type": "cagent.outputs", **config, "inputs": {"state": "$in.state"}}


def _prompt(names: Sequence[str], before: Sequence[Ran]) -> JsonDict:
    steps: list[JsonDict] = []
    for name, ran in zip(names, before, strict=True):
        path = "/".join(ran.path)
        steps.append({"name": name, "agent": ran.agent} | ({"path": path} if path != name else {}))
    inputs = {"prompt": "given.prompt", **{name: f"given.{name}" for name in names}}
    return {"type": "agent.prior_outputs", "config": {"steps": steps}, "inputs": inputs}


def _names(before: Sequence[Ran]) -> list[str]:
    """Name the inputs for earlier outputs: by the ids of the steps where these can be names and differ."""
    found: list[str] = []
    used = set(TAKEN)
    for number, ran in enumerate(before):
        name = ran.path[-1]
        if name in used or not name.isidentifier():
            name = free_name(f"step_{number}", used)
        found.append(name)
        used.add(name)
    return found
