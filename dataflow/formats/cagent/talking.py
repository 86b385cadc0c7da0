"""The mode for one agent: a conversation with it, whatever workflow the file has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataflow.formats.cagent.definitions import read_agents
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
    if name not in agents:
        notes.problem(("agents",), f"there is no agent {name!r}; {choices(nearest(map(str, agents), name))}")
        return {}
    definition = read_agents(data, {name: ("agents",)}, notes)[name]
    begin, reply = (word if word != name else f"{word}_" for word in ("begin", "reply"))
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
            _edge("$in", "prompt", name, "prompt"),
            _edge(begin, "out", name, "context"),
            _edge(name, "text", reply, "show"),
            _edge(name, "context", reply, "context"),
            {**_edge(reply, "out", name, "prompt"), "feedback": True, "limit": None},
            {**_edge(reply, "context", name, "context"), "feedback": True, "limit": None},
        ],
    }


def _edge(source: str, source_port: str, target: str, target_port: str) -> JsonDict:
    return {"source": source, "source_port": source_port, "target": target, "target_port": target_port}
