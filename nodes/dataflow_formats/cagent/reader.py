"""Read a cagent file: its agents, models and steps; every problem is noted at its position."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import PartReader, describe_value, foreign, get_mapping, qualified_model
from dataflow_formats.cagent.diagnostics import (
    BLOCKS_TOO_DEEP,
    FORM_UNSUPPORTED,
    GOTO_IN_PARALLEL,
    WORKFLOW_MISSING,
)
from dataflow_formats.cagent.file import (
    BACK,
    DEFAULT_LIMIT,
    AgentDefinition,
    AgentStep,
    Back,
    ConditionStep,
    ParallelStep,
    Step,
    Workflow,
    read_retry,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from dataflow import Diagnostic
    from dataflow.authoring import DocumentPath, JsonDict, Notes

__all__ = ["read_agents", "read_workflow"]

#: The version of files with workflows of another form.
OLD_VERSION: Final = "2"
LIMIT: Final = "max_loop_iterations"
OPTIONS: Final = ("steps", LIMIT, "overrides")
#: The most levels of nested parallel blocks; each takes several levels of a native document.
MOST_NESTED: Final = 20
#: The allowed entries of a branch, for an error message.
IN_BRANCH: Final = "a step, or the id or the index of an earlier one"
#: The types of steps, and the keys of each.
TYPES: Final[dict[str, tuple[str, ...]]] = {
    "agent": ("id", "type", "name", "retry"),
    "condition": ("id", "type", "name", "retry", "condition", "true", "false"),
    "parallel": ("id", "type", "name", "retry", "steps"),
}
#: The fields of agents that are read here, or that have no effect on a workflow.
KNOWN: Final = frozenset(
    {"model", "instruction", "description", "welcome_message", "commands", "structured_output"}
)


def read_workflow(data: JsonDict, notes: Notes) -> Workflow:
    """Read a file; the result is valid only if no problem is noted."""
    file = PartReader(notes, data)
    reader = _StepReader(get_mapping(data, "agents"))
    _note_other_form(file)
    steps, limit = _workflow(file, reader) if "workflow" in data else ((), DEFAULT_LIMIT)
    if not notes.problems and not steps:
        notes.problem(("workflow",), foreign.FOREIGN_FLOW_EMPTY(expected="at least one step"))
    return Workflow(steps, limit, read_agents(data, reader.used, notes), reader.is_whole)


def _workflow(file: PartReader, reader: _StepReader) -> tuple[tuple[Step, ...], int]:
    """Return the steps, and the limit of the loops."""
    given = file.part["workflow"]
    if isinstance(given, list):
        return reader.steps(file, "workflow"), DEFAULT_LIMIT
    if isinstance(given, dict) and isinstance(given.get("steps"), list):
        part = file.mapping("workflow")
        part.check_keys(OPTIONS)
        return reader.steps(part, "steps"), _limit(part)
    file.expected("a list of steps, or a mapping with a list under `steps`", given, "workflow")
    return (), DEFAULT_LIMIT


def _limit(workflow: PartReader) -> int:
    """Return the limit of the loops; `overrides` takes precedence, and 0 or less means the default."""
    overrides = workflow.mapping("overrides")
    overrides.check_keys((LIMIT,))
    own = workflow.integer(LIMIT) or 0
    limit = overrides.integer(LIMIT) or own
    return limit if limit > 0 else DEFAULT_LIMIT


def _note_other_form(file: PartReader) -> None:
    """Note a missing workflow, and one of a form that is not supported."""
    if not {"workflow", "workflows"} & file.part.keys():
        file.problem(WORKFLOW_MISSING(available=get_mapping(file.part, "agents")))
    elif "workflow" not in file.part:
        form = "the form of a fork of cagent, with `workflows`, `entry` and `nodes`,"
        file.problem(FORM_UNSUPPORTED(form=form, expected="`workflow`"), "workflows")
    elif str(file.part.get("version")) == OLD_VERSION:
        form = f"the form of version {OLD_VERSION}, in which each step only gets the output before it,"
        file.problem(FORM_UNSUPPORTED(form=form, expected="a later version"), "version")


class _StepReader:
    """Reads steps.

    agents: the names of all agents
    used: the names of the agents that steps run, in the order of the steps
    is_whole: whether all steps could be read
    """

    def __init__(self, agents: Collection[str]) -> None:
        self.agents = agents
        self.used: dict[str, None] = {}
        self.is_whole = True
        self._levels = 0  # of enclosing parallel blocks

    def steps(self, around: PartReader, key: str) -> tuple[Step, ...]:
        """Read the list of steps under a key; their ids are separate from those of other lists."""
        given = around.items(key)
        names = _StepNames(given)
        parts = replace(around, of="").entries(key, "step", "a step")
        found = [self._step(_Entry.of(part, names)) for part in parts]
        return self._whole(found, given)

    def _branch(self, entry: _Entry, key: str) -> tuple[Step, ...]:
        """Read a branch of a condition, in which a bare id or index leads back to an earlier step."""
        given = entry.part.items(key)
        around = replace(entry.part, of="")
        found: list[Step | None] = []
        for number, one in enumerate(given):
            if isinstance(one, str) or type(one) is int:
                path = (*around.path, key, number)
                found.append(Back(entry.names.unique(f"{BACK}{one}", path), path, one, f"{one}"))
            elif (part := around.entry(one, "step", key, number, what=IN_BRANCH)) is not None:
                found.append(self._step(_Entry.of(part, entry.names)))
        return self._whole(found, given)

    def _whole(self, found: list[Step | None], given: list[Any]) -> tuple[Step, ...]:
        steps = tuple(step for step in found if step is not None)
        self.is_whole &= len(steps) == len(given)
        return steps

    def _step(self, entry: _Entry) -> Step | None:
        part, id, names = entry.part, entry.id, entry.names
        if "goto" in part.part:
            return _goto(entry)
        kind = part.choice("type", TYPES)
        if kind not in TYPES:
            return None
        part.check_keys(TYPES[kind])
        if id in names.seen and not (kind == "agent" and names.leads_back(id)):
            part.repeats_id(id, names.seen[id])
        match kind:
            case "agent":
                return self._agent(entry)
            case "condition":
                return self._condition(entry)
            case _:
                return self._parallel(entry)

    def _agent(self, entry: _Entry) -> Step | None:
        part, id = entry.part, entry.id
        name = "" if part.missing("name") else part.string("name")
        if name and name not in self.agents:
            part.problem(_unknown_agent(name, self.agents), "name")
        if name not in self.agents:
            return None
        if entry.names.leads_back(id):
            own = entry.names.unique(id, part.path, is_own=True)
            return Back(own, part.path, id[len(BACK) :], agent=name)
        self.used[name] = None
        return AgentStep(entry.named(name), part.path, name, read_retry(part), bool(id))

    def _condition(self, entry: _Entry) -> Step:
        part = entry.part
        text = "" if part.missing("condition") else part.string("condition")
        if text and not text.strip():
            part.expected("a condition", text, "condition")
        own = entry.named("condition")
        if read_retry(part) is not None:
            part.notes.remark(own, "has `retry`", "it has no effect on a condition")
        yes, no = self._branch(entry, "true"), self._branch(entry, "false")
        return ConditionStep(own, part.path, text, yes, no, bool(entry.id))

    def _parallel(self, entry: _Entry) -> Step | None:
        part = entry.part
        own = entry.named("parallel")
        given = part.items("steps", needed=True)
        if not isinstance(part.part.get("steps"), list):
            return None
        if any(isinstance(step, str) for step in given):
            form = "the older form of a parallel block, with names of agents as its steps,"
            part.problem(FORM_UNSUPPORTED(form=form, expected="{type: agent, name: ...} for each"), "steps")
            return None
        if self._levels == MOST_NESTED:
            part.problem(BLOCKS_TOO_DEEP(expected=f"at most {MOST_NESTED} levels"), "type")
            return None
        self._levels += 1
        children = self.steps(part, "steps")
        self._levels -= 1
        for child in children:
            if isinstance(child, Back):
                part.problem(GOTO_IN_PARALLEL(), *child.path[len(part.path) :])
                self.is_whole = False
        return ParallelStep(own, part.path, children, read_retry(part), bool(entry.id))


@dataclass(frozen=True, slots=True)
class _Entry:
    """The mapping of a step, its id or an empty string, and the ids of its list."""

    part: PartReader
    id: str
    names: _StepNames

    @classmethod
    def of(cls, part: PartReader, names: _StepNames) -> _Entry:
        """Read the id of a step."""
        has_id = part.part.get("id") is not None and not part.missing("id")
        return cls(part, part.string("id") if has_id else "", names)

    def named(self, otherwise: str) -> str:
        """Return the id of the step: its own, or one derived from its name or from `otherwise`."""
        found = self.id
        if not found:
            name = str(self.part.part.get("name") or otherwise)
            found = self.names.unique(name, self.part.path)
        self.names.seen.setdefault(found, self.part.path)
        return found


class _StepNames:
    """The unique ids of the steps of a list and of the branches in it.

    given: the ids in the file
    seen: the ids so far, with the positions of their steps
    """

    def __init__(self, steps: Sequence[Any]) -> None:
        self.given = {id for id in _given_ids(steps) if isinstance(id, str)}
        self.seen: dict[str, DocumentPath] = {}

    def leads_back(self, id: str) -> bool:
        """Return whether an agent step with this id leads back to a step."""
        return id.startswith(BACK) and id[len(BACK) :] in self.given

    def unique(self, name: str, path: DocumentPath, *, is_own: bool = False) -> str:
        """Return a free id: the name, or the name with a number; `is_own` if the file has it as this id."""
        found, number = name, 1
        while found in self.seen or (found in self.given and not (is_own and found == name)):
            number += 1
            found = f"{name}_{number}"
        self.seen[found] = path
        return found


def _given_ids(steps: Sequence[Any]) -> Iterator[Any]:
    """Yield the ids in a list of steps and in the branches of it; the values may be of any type."""
    todo: list[Any] = [*steps]
    while todo:
        step = todo.pop()
        if not isinstance(step, dict):
            continue
        yield step.get("id")
        for key in ("true", "false"):
            todo += step[key] if isinstance(step.get(key), list) else ()


def _goto(entry: _Entry) -> Step | None:
    part, target = entry.part, entry.part.part["goto"]
    part.check_keys(("id", "goto"))
    if isinstance(target, str) or type(target) is int:
        id = entry.names.unique(entry.id or f"{BACK}{target}", part.path, is_own=bool(entry.id))
        return Back(id, part.path, target, f"goto: {target}")
    part.expected("the id or the index of a step", target, "goto")
    return None


def read_agents(data: JsonDict, used: Iterable[str], notes: Notes) -> dict[str, AgentDefinition]:
    """Read all agents of a file; remarks on agents that are not used are dropped."""
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
    agent.expected("a string", given, "instruction")  # null as well
    return ""


def _check_below(agent: PartReader, agents: JsonDict) -> None:
    """Note subagents that are not agents of the file; names with a slash or a colon are external."""
    given = agent.part.get("sub_agents")
    if not isinstance(given, list | None):
        agent.expected("a list of agents", given, "sub_agents")
        return
    for index, below in enumerate(given or ()):
        if not isinstance(below, str):
            agent.expected("the name of an agent", below, "sub_agents", index)
        elif below not in agents and "/" not in below and ":" not in below:
            agent.problem(_unknown_agent(below, agents), "sub_agents", index)


def _unknown_agent(name: str, agents: Iterable[str]) -> Diagnostic:
    return foreign.FOREIGN_CHOICE_UNKNOWN(key="agent", value=name, available=agents, near=name)


def _schema(agent: PartReader) -> JsonDict:
    given = agent.part["structured_output"]
    found = given.get("schema") if isinstance(given, dict) else given
    if not isinstance(found, dict):
        agent.expected("`schema`", found, "structured_output")
        return {}
    return found


def _model(agent: PartReader, models: _Models) -> JsonDict:
    """Return the config of the model of an agent, which names an entry of `models` or a model."""
    given = agent.part.get("model")
    if given is None:
        agent.problem(foreign.FOREIGN_KEY_MISSING(key="model", **_expected(models.given)))
        return {}
    if not isinstance(given, str) or not given.strip():
        agent.expected("the name of a model", given, "model")
        return {}
    named = given.strip()
    if named in models.given:
        return models.config(named, agent.notes)
    model = qualified_model(named)
    if model is None:
        found = describe_value(named)
        unknown = foreign.FOREIGN_MODEL_UNKNOWN(found=found, near=named, **_expected(models.given))
        agent.problem(unknown, "model")
    return {"model": model or named}


def _expected(models: JsonDict) -> dict[str, Any]:
    """Return what is expected as the model of an agent, as fields of a problem."""
    if not models:
        return {"expected": "provider/name"}
    return {"expected": "provider/name or a name under `models`", "available": models}


@dataclass(frozen=True, slots=True)
class _Models:
    """The models of a file; each is read only once, so that its remarks are not repeated."""

    given: JsonDict
    read: dict[str, JsonDict]

    def config(self, name: str, notes: Notes) -> JsonDict:
        """Return a copy of the config of a model."""
        if name not in self.read:
            self.read[name] = _defined(name, self.given, notes)
        return {**self.read[name]}


def _defined(name: str, models: JsonDict, notes: Notes) -> JsonDict:
    """Return the config of a model of the file."""
    reader = PartReader(notes, models, ("models",), f"model {name!r}")
    part = reader.entry(models[name], "", name, what="a model")
    if part is None:
        return {}
    config = _named_model(part)
    for field, (here, fits, expected) in _SETTINGS.items():
        value = part.part.get(field)
        if value is not None and fits(value):
            config[here] = value
        elif value is not None:
            part.expected(expected, value, field)
    for field in sorted(part.part.keys() - _SETTINGS.keys() - {"provider", "model"}):
        notes.remark("", f"model {name!r} has {field!r}", "it has no effect")
    return config


def _named_model(part: PartReader) -> JsonDict:
    provider, model = part.part.get("provider", ""), part.part.get("model")
    if not (isinstance(provider, str) and isinstance(model, str)):
        part.problem(foreign.FOREIGN_VALUE_INVALID(expected="`provider` and `model`, each a string"))
        return {}
    written = f"{provider}/{model}" if "provider" in part.part else model
    found = qualified_model(written)
    if found is None:
        found = describe_value(written)
        part.problem(foreign.FOREIGN_MODEL_UNKNOWN(found=found, expected="`provider` and `model`"))
    return {"model": found or written}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


def _is_count(value: object) -> bool:
    return type(value) is int and value > 0


def _is_text(value: object) -> bool:
    return isinstance(value, str)


#: Settings of models, by their keys: the key of the config, a check, and the expected value.
_SETTINGS: Final[dict[str, tuple[str, Callable[[object], bool], str]]] = {
    "max_tokens": ("max_tokens", _is_count, "an integer of at least 1"),
    "temperature": ("temperature", _is_number, "a number of at least 0"),
    "base_url": ("base_url", _is_text, "a string"),
}
