"""Write agent steps of cagent, and the conversation with one agent, as native documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import choices, free_name, get_mapping, write_edge
from dataflow_formats.cagent.conditions import placeholders
from dataflow_formats.cagent.file import META, policy_of
from dataflow_formats.cagent.reader import read_agents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.authoring import JsonDict, Notes
    from dataflow_formats.cagent.file import AgentDefinition, AgentStep
    from dataflow_formats.cagent.order import Ran


__all__ = ["AGENT", "agent_node", "conversation", "flow_of"]

#: Names that no input for an earlier output can have.
TAKEN = frozenset({"config", "prompt", "state"})
#: The option that names the agent.
AGENT: Final = "agent"


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


def conversation(data: JsonDict, name: str, prompt: JsonDict, notes: Notes) -> JsonDict:
    """Make a document in which an agent answers a prompt, and then each reply to what it has said."""
    agents = get_mapping(data, "agents")
    if not name:
        named = [str(agent) for agent in agents if agent]
        notes.problem(("agents",), f"which agent? write FILE#agent=NAME; {choices(named)}")
        return {}
    if name not in agents:
        notes.problem(("agents",), f"there is no agent {name!r}; {choices([*map(str, agents)], near=name)}")
        return {}
    definition = read_agents(data, (name,), notes)[name]
    begin, reply = (free_name(word, {name}) for word in ("begin", "reply"))
    system = {"config": {"system": definition.instruction}} if definition.instruction else {}
    notes.origin(name, ("agents", name))
    return {
        "dataflow": 1,
        "inputs": {"prompt": prompt},
        "nodes": {
            begin: {"type": "agent.context", **system},
            name: {"type": "agent.chat", "config": {"model": definition.model, **definition.config}},
            reply: {"type": "control.user_input"},
        },
        "edges": [
            write_edge("$in", "prompt", name, "prompt"),
            write_edge(begin, "out", name, "context"),
            write_edge(name, "text", reply, "show"),
            write_edge(name, "context", reply, "context"),
            write_edge(reply, "out", name, "prompt", feedback=True, limit=None),
            write_edge(reply, "context", name, "context", feedback=True, limit=None),
        ],
        "meta": {META: {AGENT: name}},
    }
