"""The agents that nodes name: they are in the file itself, in another, or known by their names alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from dataflow.errors import FormatError
from dataflow.formats.files import read_data
from dataflow.formats.models import with_provider
from dataflow.formats.problems import described
from dataflow.functions import is_function_name

if TYPE_CHECKING:
    from dataflow.formats.agentron.parts import NodePart
    from dataflow.formats.foreign import JsonDict, Notes, Options
    from dataflow.formats.tree import Path

__all__ = ["HELP", "Agent", "Agents", "read_agents"]

#: The tool by which an agent asks somebody.
HELP: Final = "request_user_help"
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


def read_agents(data: JsonDict, options: Options, notes: Notes) -> Agents:
    """Read the agents of the file, and those of the file that is given besides, which count before them."""
    before = len(notes.problems)
    own = _listed(data.get("agents"), ("agents",), "", notes)
    given = _given(options["agents"], notes) if "agents" in options else []
    model = None
    if "model" in options and (model := with_provider(options["model"])) is None:
        notes.problem((), f"option model: expected provider/name, found {options['model']!r}")
    return Agents((*given, *own), model, is_whole=len(notes.problems) == before)


def _given(written: str, notes: Notes) -> list[Agent]:
    """Read the agents of a file beside the workflow."""
    try:
        data = read_data(notes.folder / written)
    except FormatError as error:
        notes.problem((), f"option agents: {error}")
        return []
    found = data.get("agents") if isinstance(data, dict) else data
    return _listed(found, (), f"option agents: {written}: ", notes)


def _listed(found: Any, path: Path, where: str, notes: Notes) -> list[Agent]:
    """Read a list of agents; of another file than this one its name stands before each problem."""
    if found is None and not where:
        return []
    if not isinstance(found, list):
        notes.problem(path, f"{where}expected a list of agents, found {described(found)}")
        return []
    agents = []
    for number, entry in enumerate(found):
        place: Path = () if where else (*path, number)
        reading = _Reading(notes, place, f"{where}agents[{number}]: " if where else "")
        agents.append(reading.agent(entry))
    return [agent for agent in agents if agent is not None]


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads one agent."""

    notes: Notes
    path: Path
    where: str

    def problem(self, text: str) -> None:
        self.notes.problem(self.path, f"{self.where}{text}")

    def agent(self, entry: Any) -> Agent | None:
        if not isinstance(entry, dict):
            self.problem(f"expected an agent, found {described(entry)}")
            return None
        id, name = self._text(entry, "id"), self._text(entry, "name")
        if not (id or name):
            self.problem("the agent has neither `id` nor `name`")
        functions, servers, may_ask = self._tools(entry.get("tools"), name or id)
        return Agent(
            id,
            name or id,
            self._model(self._text(entry, "model"), name or id),
            self._text(entry, "systemPrompt") or self._text(entry, "instructions"),
            functions,
            servers,
            may_ask,
        )

    def _model(self, written: str, name: str) -> str:
        model = with_provider(written) if written else ""
        if model is None:
            self.problem(f"agent {name!r}: expected a model as provider/name, found {written!r}")
        return model or ""

    def _tools(self, given: Any, name: str) -> tuple[tuple[str, ...], tuple[JsonDict, ...], bool]:
        if given is None:
            return (), (), False
        if not isinstance(given, Sequence) or isinstance(given, str):
            self.problem(f"agent {name!r}: expected a list of tools, found {described(given)}")
            return (), (), False
        functions = [tool for tool in given if isinstance(tool, str) and is_function_name(tool)]
        servers = [tool for tool in given if isinstance(tool, dict)]
        for tool in given:
            if tool != HELP and tool not in functions and tool not in servers:
                expected = f"expected {HELP}, a function as module:name, or a server with `command` or `url`"
                self.problem(f"agent {name!r} has the unknown tool {described(tool)}; {expected}")
        return tuple(dict.fromkeys(functions)), tuple(servers), HELP in given

    def _text(self, entry: JsonDict, key: str) -> str:
        given = entry.get(key)
        if given is None:
            return ""
        if not isinstance(given, str):
            self.problem(f"`{key}`: expected a text, found {described(given)}")
            return ""
        return given
