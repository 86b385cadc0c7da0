"""The agents and models of a file of cagent, as configs of model calls."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from dataflow.formats.cagent.parts import AgentDefinition
from dataflow.formats.models import with_provider
from dataflow.formats.problems import described
from dataflow.formats.shapes import within
from dataflow.wording import choices, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataflow.formats.foreign import JsonDict, Notes
    from dataflow.formats.tree import Path

__all__ = ["read_agents"]

#: Fields of agents that change nothing of a workflow, or that are read here.
KNOWN: Final = frozenset(
    {"model", "instruction", "description", "welcome_message", "commands", "structured_output"}
)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


def _is_count(value: object) -> bool:
    return type(value) is int and value > 0


def _is_text(value: object) -> bool:
    return isinstance(value, str)


#: Settings of models: by their names there, what they are called here, what is expected.
_SETTINGS: Final[dict[str, tuple[str, Callable[[object], bool], str]]] = {
    "max_tokens": ("max_tokens", _is_count, "a whole number of 1 or more"),
    "temperature": ("temperature", _is_number, "a number of 0 or more"),
    "base_url": ("base_url", _is_text, "text"),
}


def read_agents(data: JsonDict, used: Iterable[str], notes: Notes) -> dict[str, AgentDefinition]:
    """Read all agents of a file; of those that are not used only what is wrong is told."""
    agents = within(data, "agents")
    reading, aside = _Reading(data, notes), _Reading(data, replace(notes, remarks=[]))
    ran = {name: reading.agent(name, agents[name]) for name in used if name in agents}
    return ran | {name: aside.agent(name, given) for name, given in agents.items() if name not in ran}


class _Reading:
    """Reads the definitions, and notes what is wrong with them."""

    def __init__(self, data: JsonDict, notes: Notes) -> None:
        self.agents = within(data, "agents")
        self.models = within(data, "models")
        self.notes = notes

    def agent(self, name: str, given: Any) -> AgentDefinition:
        path = ("agents", name)
        if not isinstance(given, dict):
            self.notes.problem(path, f"agent {name!r}: expected a mapping, found {described(given)}")
            return AgentDefinition()
        instruction = given.get("instruction", "")
        if not isinstance(instruction, str):
            self.notes.problem(
                (*path, "instruction"), f"agent {name!r}: expected text, found {described(instruction)}"
            )
            instruction = ""
        self._check_below(name, given.get("sub_agents"), (*path, "sub_agents"))
        for field in sorted(given.keys() - KNOWN):
            self.notes.remark("", f"agent {name!r} has {field!r}", "it has no effect")
        config = self._model(name, given.get("model"), (*path, "model"))
        keys = None
        if given.get("structured_output") is not None:
            schema = self._schema(name, given["structured_output"], (*path, "structured_output"))
            keys = frozenset(within(schema, "properties"))
            config["answer"] = schema
        return AgentDefinition(instruction.strip(), config.pop("model", ""), config, keys)

    def _check_below(self, name: str, given: Any, path: Path) -> None:
        """Check that sub-agents are agents of the file; one with a slash or a colon is found elsewhere."""
        if not isinstance(given, list | None):
            told = f"agent {name!r}: expected a list of agents, found {described(given)}"
            self.notes.problem(path, told)
            return
        for index, below in enumerate(given or ()):
            if not isinstance(below, str):
                told = f"expected the name of an agent, found {described(below)}"
            elif below in self.agents or "/" in below or ":" in below:
                continue
            else:
                told = f"there is no agent {below!r}; {choices(nearest(self.agents, below))}"
            self.notes.problem((*path, index), f"agent {name!r}: {told}")

    def _schema(self, name: str, given: Any, path: Path) -> JsonDict:
        found = given.get("schema") if isinstance(given, dict) else given
        if not isinstance(found, dict):
            self.notes.problem(
                path, f"agent {name!r}, structured_output: expected `schema`, found {described(found)}"
            )
            return {}
        return found

    def _model(self, name: str, given: Any, path: Path) -> JsonDict:
        """Make a config of what an agent says of its model: a name under `models`, or that of a model."""
        if given is None:
            self.notes.problem(path[:-1], f"agent {name!r} has no `model`; {self._expected('')}")
            return {}
        if not isinstance(given, str) or not given.strip():
            self.notes.problem(
                path, f"agent {name!r}: expected the name of a model, found {described(given)}"
            )
            return {}
        named = given.strip()
        if named not in self.models:
            model = with_provider(named)
            if model is None:
                told = f"agent {name!r}: {described(named)} is no model; {self._expected(named)}"
                self.notes.problem(path, told)
            return {"model": model or named}
        return self._defined(named, self.models[named])

    def _expected(self, meant: str) -> str:
        own = f" or a name under `models`, {choices(nearest(self.models, meant))}" if self.models else ""
        return f"expected provider/model{own}"

    def _defined(self, name: str, given: Any) -> JsonDict:
        path = ("models", name)
        if not isinstance(given, dict):
            self.notes.problem(path, f"model {name!r}: expected a mapping, found {described(given)}")
            return {}
        config: JsonDict = {}
        provider, model = given.get("provider", ""), given.get("model")
        if isinstance(provider, str) and isinstance(model, str):
            written = f"{provider}/{model}" if "provider" in given else model
            config["model"] = with_provider(written) or written
            if with_provider(written) is None:
                told = f"model {name!r}: {described(written)} is no model; expected `provider` and `model`"
                self.notes.problem(path, told)
        else:
            self.notes.problem(path, f"model {name!r}: expected `provider` and `model`, each a text")
        for field, (here, fits, expected) in _SETTINGS.items():
            value = given.get(field)
            if value is None:
                continue
            if fits(value):
                config[here] = value
            else:
                text = f"model {name!r}: expected {expected}, found {described(value)}"
                self.notes.problem((*path, field), text)
        self._tell_others(name, given)
        return config

    def _tell_others(self, name: str, given: JsonDict) -> None:
        for field in sorted(given.keys() - _SETTINGS.keys() - {"provider", "model"}):
            self.notes.remark("", f"model {name!r} has {field!r}", "it has no effect")
