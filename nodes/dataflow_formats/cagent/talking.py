"""The mode for one agent: a conversation with it, whatever workflow the file has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataflow.authoring import choices, free_name, get_mapping, write_edge
from dataflow_formats.cagent.definitions import read_agents
from dataflow_formats.cagent.parts import META

if TYPE_CHECKING:
    from dataflow.authoring import JsonDict, Notes

__all__ = ["AGENT", "conversation"]

#: The option that names the agent.
AGENT: Final = "agent"


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
