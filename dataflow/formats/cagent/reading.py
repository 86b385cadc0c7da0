"""Read the workflow of a file of cagent: its steps, with every problem at its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dataflow.formats.cagent.definitions import read_agents
from dataflow.formats.cagent.parts import (
    BACK,
    DEFAULT_LIMIT,
    AgentStep,
    Back,
    ConditionStep,
    ParallelStep,
    Retry,
    Step,
    Workflow,
)
from dataflow.formats.cagent.retries import read_retry
from dataflow.formats.problems import described
from dataflow.formats.shapes import within
from dataflow.wording import choices, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataflow.formats.foreign import JsonDict, Notes
    from dataflow.formats.tree import Path

__all__ = ["read_workflow"]

TYPES: Final = ("agent", "condition", "parallel")
#: Files of this version have workflows of another form.
OLD_VERSION: Final = "2"
#: How deeply parallel blocks may stand inside each other; a native document takes more levels for each.
MOST_NESTED: Final = 20
_FIELDS: Final[dict[str, frozenset[str]]] = {
    "agent": frozenset({"id", "type", "name", "retry"}),
    "condition": frozenset({"id", "type", "name", "retry", "condition", "true", "false"}),
    "parallel": frozenset({"id", "type", "name", "retry", "steps"}),
}
LIMIT: Final = "max_loop_iterations"
_OPTIONS: Final = frozenset({"steps", LIMIT, "overrides"})


def read_workflow(data: JsonDict, notes: Notes) -> Workflow:
    """Read a file; what is returned counts only if no problem is noted."""
    reading = _Reading(data, notes)
    steps, limit = reading.workflow()
    if not notes.problems and not steps:
        notes.problem(("workflow",), "has no steps")
    return Workflow(steps, limit, read_agents(data, reading.used, notes), reading.is_whole)


class _Reading:
    """Reads steps, and notes what is wrong with them."""

    def __init__(self, data: JsonDict, notes: Notes) -> None:
        self.data = data
        self.notes = notes
        self.agents = within(data, "agents")
        self.used: dict[str, None] = {}  # the agents that steps run, in their order
        self.levels = 0  # of parallel blocks around what is being read
        self.is_whole = True

    def workflow(self) -> tuple[tuple[Step, ...], int]:
        if not {"workflow", "workflows"} & self.data.keys():
            besides = "of files without one an agent is named besides, as in FILE#agent=NAME"
            self.notes.problem((), f"has no `workflow`; {besides}; {choices([*map(str, self.agents)])}")
            return (), DEFAULT_LIMIT
        if "workflow" not in self.data:
            form = "with `workflows`, `entry` and `nodes`, is not read here"
            self.notes.problem(("workflows",), f"the form of a fork of cagent, {form}; expected `workflow`")
            return (), DEFAULT_LIMIT
        if str(self.data.get("version")) == OLD_VERSION:
            form = f"the older form of workflows, of files of version {OLD_VERSION}, is not read here"
            self.notes.problem(("version",), f"{form}: there each step gets only the output before it")
        given, path = self.data["workflow"], ("workflow",)
        if isinstance(given, list):
            return self.steps(given, path, _Names(given), in_branch=False), DEFAULT_LIMIT
        if isinstance(given, dict) and isinstance(given.get("steps"), list):
            self._check_fields(given, _OPTIONS, path, "workflow")
            steps = self.steps(given["steps"], (*path, "steps"), _Names(given["steps"]), in_branch=False)
            return steps, self._limit(given, path)
        expected = "expected a list of steps, or a mapping with a list under `steps`"
        self.notes.problem(path, f"{expected}, found {described(given)}")
        return (), DEFAULT_LIMIT

    def _limit(self, given: JsonDict, path: Path) -> int:
        """Return the limit of the loops: one in `overrides` wins, and 0 or less is the default."""
        overrides, place = given.get("overrides"), (*path, "overrides")
        if not isinstance(overrides, dict | None):
            self.notes.problem(place, f"expected a mapping, found {described(overrides)}")
            overrides = None
        self._check_fields(overrides or {}, frozenset({LIMIT}), place, "overrides")
        own = self._count(given, path)
        limit = self._count(overrides or {}, place) or own
        return limit if limit > 0 else DEFAULT_LIMIT

    def _count(self, given: JsonDict, path: Path) -> int:
        limit = given.get(LIMIT)
        if limit is None or type(limit) is int:
            return limit or 0
        self.notes.problem((*path, LIMIT), f"expected a whole number, found {described(limit)}")
        return 0

    def _check_fields(self, given: JsonDict, known: frozenset[str], path: Path, label: str) -> None:
        for field in given.keys() - known:
            text = f"{label}: {field!r} is not known here; {choices(sorted(known))}"
            self.notes.problem((*path, field), text)

    def steps(self, given: Any, path: Path, names: _Names, *, in_branch: bool) -> tuple[Step, ...]:
        """Read a list of steps; in a branch a bare id or index leads back to an earlier step."""
        if not isinstance(given, list):
            self.notes.problem(path, f"expected a list of steps, found {described(given)}")
            return ()
        found: list[Step] = []
        for index, entry in enumerate(given):
            step = self._step(entry, (*path, index), names, in_branch)
            found += [] if step is None else [step]
            self.is_whole &= step is not None
        return tuple(found)

    def _step(self, given: Any, path: Path, names: _Names, in_branch: bool) -> Step | None:
        label = f"step[{path[-1]}]"
        if in_branch and (isinstance(given, str) or type(given) is int):
            return Back(names.unique(f"{BACK}{given}"), path, given, f"{given}")
        if not isinstance(given, dict):
            self.notes.problem(path, f"{label}: expected a step, found {described(given)}")
            return None
        id = given.get("id")
        if id is not None and not (isinstance(id, str) and id):
            self.notes.problem((*path, "id"), f"{label}: expected a text as id, found {described(id)}")
            id = None
        entry = _Entry(given, path, f"{label} {id!r}" if id else label, id, names)
        if "goto" in given:
            return self._goto(entry)
        kind = given.get("type")
        if kind not in TYPES:
            text = f"expected a step of type {', '.join(TYPES)}, found {described(kind)}"
            self._problem(entry, text, "type")
            return None
        return self._typed(entry, kind)

    def _typed(self, entry: _Entry, kind: str) -> Step | None:
        self._check_fields(entry.given, _FIELDS[kind], entry.path, entry.label)
        names, id = entry.names, entry.id
        if id in names.seen and not (kind == "agent" and names.leads_back(id)):
            self._problem(entry, f"there is another step of this id, {names.seen[id]}; use another", "id")
        match kind:
            case "agent":
                return self._agent(entry)
            case "condition":
                return self._condition(entry)
            case _:
                return self._parallel(entry)

    def _problem(self, entry: _Entry, text: str, field: str) -> None:
        """Note what is wrong with a field of a step, at its place if it is there."""
        path = (*entry.path, field) if field in entry.given else entry.path
        self.notes.problem(path, f"{entry.label}: {text}")

    def _goto(self, entry: _Entry) -> Step | None:
        target = entry.given["goto"]
        self._check_fields(entry.given, frozenset({"id", "goto"}), entry.path, entry.label)
        if isinstance(target, str) or type(target) is int:
            id = entry.names.unique(entry.id or f"{BACK}{target}", is_own=entry.id is not None)
            return Back(id, entry.path, target, f"goto: {target}")
        self._problem(entry, f"expected the id or the index of a step, found {described(target)}", "goto")
        return None

    def _agent(self, entry: _Entry) -> Step | None:
        name, id = entry.given.get("name"), entry.id
        if not isinstance(name, str) or not name:
            self._problem(entry, "an agent step needs the `name` of an agent", "name")
            return None
        if name not in self.agents:
            known = choices(nearest(map(str, self.agents), name))
            self._problem(entry, f"there is no agent {name!r}; {known}", "name")
            return None
        if id is not None and entry.names.leads_back(id):
            return Back(entry.names.unique(id, is_own=True), entry.path, id[len(BACK) :], agent=name)
        self.used[name] = None
        return AgentStep(entry.named(name), entry.path, name, self._retry(entry), id is not None)

    def _condition(self, entry: _Entry) -> Step | None:
        text = entry.given.get("condition")
        if not isinstance(text, str) or not text.strip():
            self._problem(
                entry, f"a condition step needs a `condition`, found {described(text)}", "condition"
            )
            text = ""
        own = entry.named(str(entry.given.get("name") or "condition"))
        if self._retry(entry) is not None:
            self.notes.remark(own, "has `retry`", "it has no effect on a condition")
        return ConditionStep(
            own,
            entry.path,
            text,
            self._branch(entry, "true"),
            self._branch(entry, "false"),
            entry.id is not None,
        )

    def _branch(self, entry: _Entry, key: str) -> tuple[Step, ...]:
        given = entry.given.get(key)
        return self.steps([] if given is None else given, (*entry.path, key), entry.names, in_branch=True)

    def _parallel(self, entry: _Entry) -> Step | None:
        own = entry.named(str(entry.given.get("name") or "parallel"))
        steps = entry.given.get("steps")
        if not isinstance(steps, list):
            self._problem(
                entry, f"a parallel step needs a list of `steps`, found {described(steps)}", "steps"
            )
            return None
        if any(isinstance(step, str) for step in steps):
            form = "the older form of workflows, with agents' names as the steps of a parallel block"
            self._problem(
                entry, f"{form}, is not read here; expected {{type: agent, name: ...}} for each", "steps"
            )
            return None
        if self.levels == MOST_NESTED:
            self._problem(entry, f"parallel blocks nest deeper than {MOST_NESTED}", "type")
            return None
        self.levels += 1
        children = self.steps(steps, (*entry.path, "steps"), _Names(steps), in_branch=False)
        self.levels -= 1
        for child in children:
            if isinstance(child, Back):
                self.notes.problem(child.path, f"{entry.label}: what runs side by side cannot lead back")
                self.is_whole = False
        return ParallelStep(own, entry.path, children, self._retry(entry), entry.id is not None)

    def _retry(self, entry: _Entry) -> Retry | None:
        return read_retry(entry.given.get("retry"), (*entry.path, "retry"), entry.label, self.notes)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A mapping that is read as a step: where it stands, what messages call it, and its id if it has one."""

    given: JsonDict
    path: Path
    label: str
    id: str | None
    names: _Names

    def named(self, otherwise: str) -> str:
        """Return the id of the step: its own, or one made of another name."""
        found = self.id or self.names.unique(otherwise)
        self.names.seen.setdefault(found, self.label)
        return found


class _Names:
    """The ids of the steps of a list and of the branches in it, which differ."""

    def __init__(self, steps: list[Any]) -> None:
        self.given = {id for id in _given_ids(steps) if isinstance(id, str)}
        self.seen: dict[str, str] = {}  # the ids so far, and which steps have them

    def leads_back(self, id: str) -> bool:
        """Tell whether an agent step of this id leads back to a step."""
        return id.startswith(BACK) and id[len(BACK) :] in self.given

    def unique(self, name: str, *, is_own: bool = False) -> str:
        """Return a name, or the next of it, that no step has; `is_own` says that the file gives it."""
        found, number = name, 1
        while found in self.seen or (found in self.given and not (is_own and found == name)):
            number += 1
            found = f"{name}_{number}"
        self.seen[found] = "this one"
        return found


def _given_ids(steps: list[Any]) -> Iterator[Any]:
    """List the ids that a list of steps gives, and the branches in it; files may hold anything."""
    todo: list[Any] = [*steps]
    while todo:
        step = todo.pop()
        if not isinstance(step, dict):
            continue
        yield step.get("id")
        for key in ("true", "false"):
            todo += step[key] if isinstance(step.get(key), list) else ()
