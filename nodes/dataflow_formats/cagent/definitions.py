"""The agents and models of a file of cagent, as configs of model calls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from dataflow.authoring import PartReader, choices, describe_value, get_mapping, qualified_model
from dataflow_formats.cagent.parts import AgentDefinition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataflow.authoring import JsonDict, Notes

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
    agents, models = get_mapping(data, "agents"), _Models(get_mapping(data, "models"), {})
    ran = dict.fromkeys(name for name in used if name in agents)
    aside = replace(notes, remarks=[])
    found = {}
    for name in ran | dict.fromkeys(agents):
        reader = PartReader(notes if name in ran else aside, agents, ("agents",), f"agent {name!r}")
        part = reader.entry(agents[name], "", name, what="an agent")
        found[name] = AgentDefinition() if part is None else _agent(name, part, agents, models)
    return found


def _agent(name: str, part: PartReader, agents: JsonDict, models: _Models) -> AgentDefinition:
    _check_below(part, agents)
    for field in sorted(part.part.keys() - KNOWN):
        part.notes.remark("", f"agent {name!r} has {field!r}", "it has no effect")
    config = _model(part, models)
    keys = None
    if part.part.get("structured_output") is not None:
        schema = _schema(part)
        keys = frozenset(get_mapping(schema, "properties"))
        config["answer"] = schema
    return AgentDefinition(_instruction(part), config.pop("model", ""), config, keys)


def _instruction(agent: PartReader) -> str:
    given = agent.part.get("instruction", "")
    if isinstance(given, str):
        return given.strip()
    agent.expected("text", given, "instruction")  # null as well
    return ""


def _check_below(agent: PartReader, agents: JsonDict) -> None:
    """Check that sub-agents are agents of the file; one with a slash or a colon is found elsewhere."""
    given = agent.part.get("sub_agents")
    if not isinstance(given, list | None):
        agent.expected("a list of agents", given, "sub_agents")
        return
    for index, below in enumerate(given or ()):
        if not isinstance(below, str):
            agent.expected("the name of an agent", below, "sub_agents", index)
        elif below not in agents and "/" not in below and ":" not in below:
            told = f"there is no agent {below!r}; {choices(agents, near=below)}"
            agent.problem(told, "sub_agents", index)


def _schema(agent: PartReader) -> JsonDict:
    given = agent.part["structured_output"]
    found = given.get("schema") if isinstance(given, dict) else given
    if not isinstance(found, dict):
        agent.expected("`schema`", found, "structured_output")
        return {}
    return found


def _model(agent: PartReader, models: _Models) -> JsonDict:
    """Make a config of what an agent says of its model: a name under `models`, or that of a model."""
    given = agent.part.get("model")
    if given is None:
        agent.problem(f"has no `model`; {_expected('', models.given)}")
        return {}
    if not isinstance(given, str) or not given.strip():
        agent.expected("the name of a model", given, "model")
        return {}
    named = given.strip()
    if named in models.given:
        return models.config(named, agent.notes)
    model = qualified_model(named)
    if model is None:
        agent.problem(f"{describe_value(named)} is no model; {_expected(named, models.given)}", "model")
    return {"model": model or named}


def _expected(meant: str, models: JsonDict) -> str:
    own = f" or a name under `models`, {choices(models, near=meant)}" if models else ""
    return f"expected provider/model{own}"


@dataclass(frozen=True, slots=True)
class _Models:
    """The models of a file, each of which is read and remarked on once, however many agents name it."""

    given: JsonDict
    read: dict[str, JsonDict]

    def config(self, name: str, notes: Notes) -> JsonDict:
        """Return a config made of a model, the caller's own."""
        if name not in self.read:
            self.read[name] = _defined(name, self.given, notes)
        return {**self.read[name]}


def _defined(name: str, models: JsonDict, notes: Notes) -> JsonDict:
    """Make a config of a model of the file."""
    reader = PartReader(notes, models, ("models",), f"model {name!r}")
    part = reader.entry(models[name], "", name, what="a model")
    if part is None:
        return {}
    config = _named(part)
    for field, (here, fits, expected) in _SETTINGS.items():
        value = part.part.get(field)
        if value is not None and fits(value):
            config[here] = value
        elif value is not None:
            part.expected(expected, value, field)
    for field in sorted(part.part.keys() - _SETTINGS.keys() - {"provider", "model"}):
        notes.remark("", f"model {name!r} has {field!r}", "it has no effect")
    return config


def _named(part: PartReader) -> JsonDict:
    provider, model = part.part.get("provider", ""), part.part.get("model")
    if not (isinstance(provider, str) and isinstance(model, str)):
        part.problem("expected `provider` and `model`, each a text")
        return {}
    written = f"{provider}/{model}" if "provider" in part.part else model
    found = qualified_model(written)
    if found is None:
        part.problem(f"{describe_value(written)} is no model; expected `provider` and `model`")
    return {"model": found or written}
