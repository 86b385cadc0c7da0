"""The mode for one agent: a conversation with it, whatever workflow the file has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataflow.formats.cagent.definitions import read_agents
from dataflow.formats.cagent.parts import META
from dataflow.formats.edge_writing import edge_of
from dataflow.formats.naming import free_name
from dataflow.formats.shapes import within
from dataflow.wording import choices, nearest

if TYPE_CHECKING:
    from dataflow.formats.foreign import JsonDict, Notes

__all__ = ["AGENT", "conversation"]

#: The option that names the agent.
AGENT: Final = "agent"


def conversation(data: JsonDict, name: str, prompt: JsonDict, notes: Notes) -> JsonDict:
    """Make a document in which an agent answers a prompt, and then each reply to what it has said."""
    agents = within(data, "agents")
    if not name:
        named = [str(agent) for agent in agents if agent]
        notes.problem(("agents",), f"which agent? write FILE#agent=NAME; {choices(named)}")
        return {}
    if name not in agents:
        notes.problem(("agents",), f"there is no agent {name!r}; {choices(nearest(map(str, agents), name))}")
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
            edge_of("$in", "prompt", name, "prompt"),
            edge_of(begin, "out", name, "context"),
            edge_of(name, "text", reply, "show"),
            edge_of(name, "context", reply, "context"),
            edge_of(reply, "out", name, "prompt", feedback=True, limit=None),
            edge_of(reply, "context", name, "context", feedback=True, limit=None),
        ],
        "meta": {META: {AGENT: name}},
    }
