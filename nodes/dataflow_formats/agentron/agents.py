"""The agents that nodes name: they are in the file itself, in another, or known by their names alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import PartReader, is_function_name, qualified_model

if TYPE_CHECKING:
    from dataflow.authoring import FormatOptions, JsonDict, Notes
    from dataflow_formats.agentron.file import NodePart

__all__ = ["HELP", "Agent", "Agents", "read_agents"]

#: The tool by which an agent asks somebody.
HELP: Final = "request_user_help"
#: What may stand in a list of tools.
TOOL: Final = f"{HELP}, a function as module:name, or a server with `command` or `url`"
#: Where a file has its agents.
AGENTS: Final = "agents"
#: What to write for agents that are not defined.
WRITE: Final = (
    "write them as `agents` into the file or into the file of the option agents=FILE, each as "
    "{id, name, model, instructions, tools}, or give one model to all with the option model=provider/name"
)


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent. `tools` are functions, each as `module:qualname`, and `servers` what `agent.tools` takes."""

    id: str
    name: str
    model: str
    instructions: str = ""
    tools: tuple[str, ...] = ()
    servers: tuple[JsonDict, ...] = ()
    may_ask: bool = False


@dataclass(frozen=True, slots=True)
class Agents:
    """All agents that are defined, as far as they could be read, and the model of those that have none."""

    known: tuple[Agent, ...]
    model: str | None
    is_whole: bool

    def of(self, node: NodePart) -> Agent | None:
        """Return the agent of a node, by its id, else by its name; None where nobody knows its model."""
        found = [one for one in self.known if node.agent_id and one.id == node.agent_id]
        found += [one for one in self.known if node.agent_name and one.name == node.agent_name]
        agent = found[0] if found else Agent(node.agent_id, node.agent_name or node.agent_id, "")
        if agent.model:
            return agent
        return replace(agent, model=self.model) if self.model else None


def read_agents(data: JsonDict, options: FormatOptions, notes: Notes) -> Agents:
    """Read the agents of the file, and those of the file that is given besides, which count before them."""
    before = len(notes.problems)
    own = _listed(PartReader(notes, data), needed=False)
    given = _given(options["agents"], notes) if "agents" in options else []
    model = None
    if "model" in options and (model := qualified_model(options["model"])) is None:
        notes.problem((), f"option model: expected provider/name, found {options['model']!r}")
    return Agents((*given, *own), model, is_whole=len(notes.problems) == before)


def _given(written: str, notes: Notes) -> list[Agent]:
    """Read the agents of a file beside the workflow; its name and places stand before its problems."""

    def read(data: Any, beside: Notes) -> list[Agent]:
        part = data if isinstance(data, dict) else {AGENTS: data}
        return _listed(PartReader(beside, part), needed=True)

    return notes.read_other(written, "option agents", read) or []


def _listed(file: PartReader, *, needed: bool) -> list[Agent]:
    parts = file.entries(AGENTS, "agent", needed=needed, named_by=("name", "id"))
    return [_agent(part) for part in parts]


def _agent(part: PartReader) -> Agent:
    id, name = part.text("id"), part.text("name")
    if not (id or name):
        part.problem("has neither `id` nor `name`")
    functions, servers, may_ask = _tools(part)
    instructions = part.text("systemPrompt") or part.text("instructions")
    return Agent(id, name or id, _model(part), instructions, functions, servers, may_ask)


def _model(part: PartReader) -> str:
    written = part.text("model")
    model = qualified_model(written) if written else ""
    if model is None:
        part.expected("a model as provider/name", written, "model")
    return model or ""


def _tools(part: PartReader) -> tuple[tuple[str, ...], tuple[JsonDict, ...], bool]:
    """Return the functions and the servers of an agent, and whether it may ask somebody."""
    given = part.items("tools")
    functions = [tool for tool in given if isinstance(tool, str) and is_function_name(tool)]
    servers = [tool for tool in given if isinstance(tool, dict)]
    for number, tool in enumerate(given):
        if tool != HELP and tool not in functions and tool not in servers:
            part.expected(TOOL, tool, "tools", number)
    return tuple(dict.fromkeys(functions)), tuple(servers), HELP in given
