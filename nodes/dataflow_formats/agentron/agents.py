"""The agents that nodes name: defined in the file itself, in another file, or known by name alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import PartReader, foreign, is_function_name, qualified_model
from dataflow_formats.agentron.diagnostics import AGENT_UNNAMED

if TYPE_CHECKING:
    from dataflow.authoring import FormatOptions, JsonDict, Notes
    from dataflow_formats.agentron.file import NodePart

__all__ = ["HELP", "Agent", "Agents", "read_agents"]

#: The tool by which an agent asks the user.
HELP: Final = "request_user_help"
#: The allowed entries of a list of tools.
TOOL: Final = f"{HELP}, a function as module:name, or a server with `command` or `url`"
#: The key of the agents in a file.
AGENTS: Final = "agents"


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent; its tools are functions as `module:qualname`, and servers for the config of `agent.tools`."""

    id: str
    name: str
    model: str
    instructions: str = ""
    tools: tuple[str, ...] = ()
    servers: tuple[JsonDict, ...] = ()
    may_ask: bool = False


@dataclass(frozen=True, slots=True)
class Agents:
    """The agents of the files, and the model of those that have none; `is_whole` if all could be read."""

    known: tuple[Agent, ...]
    model: str | None
    is_whole: bool

    def of(self, node: NodePart) -> Agent | None:
        """Return the agent of a node, by its id, else by its name; None if its model is unknown."""
        found = [one for one in self.known if node.agent_id and one.id == node.agent_id]
        found += [one for one in self.known if node.agent_name and one.name == node.agent_name]
        agent = found[0] if found else Agent(node.agent_id, node.agent_name or node.agent_id, "")
        if agent.model:
            return agent
        return replace(agent, model=self.model) if self.model else None


def read_agents(data: JsonDict, options: FormatOptions, notes: Notes) -> Agents:
    """Read the agents of the file, and those of the option `agents`, which take precedence."""
    before = len(notes.problems)
    own = _listed(PartReader(notes, data), needed=False)
    given = _given(options["agents"], notes) if "agents" in options else []
    model = None
    if "model" in options and (model := qualified_model(options["model"])) is None:
        found = repr(options["model"])
        notes.problem((), foreign.FOREIGN_MODEL_UNKNOWN("option model", found=found))
    return Agents((*given, *own), model, is_whole=len(notes.problems) == before)


def _given(written: str, notes: Notes) -> list[Agent]:
    """Read the agents of another file; problems name this file and the positions in it."""

    def read(data: Any, other: Notes) -> list[Agent]:
        part = data if isinstance(data, dict) else {AGENTS: data}
        return _listed(PartReader(other, part), needed=True)

    return notes.read_other(written, "option agents", read) or []


def _listed(file: PartReader, *, needed: bool) -> list[Agent]:
    parts = file.entries(AGENTS, "agent", needed=needed, named_by=("name", "id"))
    return [_agent(part) for part in parts]


def _agent(part: PartReader) -> Agent:
    id, name = part.string("id"), part.string("name")
    if not (id or name):
        part.problem(AGENT_UNNAMED(expected="`id` or `name`"))
    functions, servers, may_ask = _tools(part)
    instructions = part.string("systemPrompt") or part.string("instructions")
    return Agent(id, name or id, _model(part), instructions, functions, servers, may_ask)


def _model(part: PartReader) -> str:
    written = part.string("model")
    model = qualified_model(written) if written else ""
    if model is None:
        part.problem(foreign.FOREIGN_MODEL_UNKNOWN(found=repr(written)), "model")
    return model or ""


def _tools(part: PartReader) -> tuple[tuple[str, ...], tuple[JsonDict, ...], bool]:
    """Return the functions and the servers of an agent, and whether it may ask the user."""
    given = part.items("tools")
    functions = [tool for tool in given if isinstance(tool, str) and is_function_name(tool)]
    servers = [tool for tool in given if isinstance(tool, dict)]
    for number, tool in enumerate(given):
        if tool != HELP and tool not in functions and tool not in servers:
            part.expected(TOOL, tool, "tools", number)
    return tuple(dict.fromkeys(functions)), tuple(servers), HELP in given
