"""Read the workflow of a file of cagent: its steps, with every problem at its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.formats.cagent.definitions import read_agents
from dataflow.formats.cagent.parts import (
    DEFAULT_LIMIT,
    AgentStep,
    Back,
    ConditionStep,
    ParallelStep,
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
BACK: Final = "back_to_"
#: Files of this version have workflows of another form.
OLD_VERSION: Final = "2"
#: How deeply parallel blocks may stand inside each other; a native document takes more levels for each.
MOST_NESTED: Final = 20
_FIELDS: Final[dict[str, frozenset[str]]] = {
    "agent": frozenset({"id", "type", "name", "retry"}),
    "condition": frozenset({"id", "type", "name", "retry", "condition", "true", "false"}),
    "parallel": frozenset({"id", "type", "name", "retry", "steps"}),
}
_OPTIONS: Final = frozenset({"steps", "max_loop_iterations", "overrides"})


def read_workflow(data: JsonDict, notes: Notes) -> Workflow:
    """Read a file; what is returned counts only if no problem is noted."""
    reading = _Reading(data, notes)
    steps, limit = reading.workflow()
    if not notes.problems and not steps:
        notes.problem(("workflow",), "has no steps")
    return Workflow(steps, limit, read_agents(data, reading.used, notes))


class _Reading:
    """Reads steps, and notes what is wrong with them."""

    def __init__(self, data: JsonDict, notes: Notes) -> None:
        self.data = data
        self.notes = notes
        self.agents = within(data, "agents")
        self.used: dict[str, Path] = {}
        self.levels = 0  # of parallel blocks around what is being read

    def workflow(self) -> tuple[tuple[Step, ...], int]:
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
        """Return the limit of the loops; one in `overrides` wins, and 0 or less is the default."""
        limit = DEFAULT_LIMIT
        overrides = given.get("overrides")
        if not isinstance(overrides, dict | None):
            self.notes.problem((*path, "overrides"), f"expected a mapping, found {described(overrides)}")
            overrides = None
        self._check_fields(overrides or {}, _OPTIONS - {"steps", "overrides"}, (*path, "overrides"), "overrides")
        for found, place in ((given, path), (overrides or {}, (*path, "overrides"))):
            value = found.get("max_loop_iterations")
            if value is None:
                continue
            if type(value) is not int:
                place = (*place, "max_loop_iterations")
                self.notes.problem(place, f"expected a whole number, found {described(value)}")
            else:
                limit = value if value > 0 else DEFAULT_LIMIT
        return limit

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
            place = (*path, index)
            if in_branch and (isinstance(entry, str) or type(entry) is int):
                found.append(Back(names.unique(f"{BACK}{entry}"), place, entry))
            elif isinstance(entry, dict):
                found += self._step(entry, place, f"step[{index}]", names)
            else:
                self.notes.problem(place, f"step[{index}]: expected a step, found {described(entry)}")
        return tuple(found)

    def _step(self, given: JsonDict, path: Path, label: str, names: _Names) -> Iterator[Step]:
        id = given.get("id")
        if id is not None and not (isinstance(id, str) and id):
            self.notes.problem((*path, "id"), f"{label}: expected a text as id, found {described(id)}")
            id = None
        label = f"{label} {id!r}" if id else label
        if "goto" in given:
            yield from self._goto(given, path, label, names, id)
            return
        kind = given.get("type")
        if kind not in TYPES:
            text = f"{label}: expected a step of type {', '.join(TYPES)}, found {described(kind)}"
            self.notes.problem((*path, "type") if "type" in given else path, text)
            return
        self._check_fields(given, _FIELDS[kind], path, label)
        if id in names.seen and not self._leads_back(id, kind, names):
            first = names.seen[id]
            self.notes.problem((*path, "id"), f"{label}: there is another step of this id, {first}; use another")
        read = {"agent": self._agent, "condition": self._condition, "parallel": self._parallel}[kind]
        step = read(given, path, label, names, id)
        if step is not None:
            yield step

    def _leads_back(self, id: str | None, kind: str, names: _Names) -> bool:
        return kind == "agent" and id is not None and id.startswith(BACK) and id[len(BACK) :] in names.given

    def _goto(self, given: JsonDict, path: Path, label: str, names: _Names, id: str | None) -> Iterator[Step]:
        target = given["goto"]
        self._check_fields(given, frozenset({"id", "goto"}), path, label)
        if isinstance(target, str) or type(target) is int:
            yield Back(names.unique(id or f"{BACK}{target}", is_own=id is not None), path, target)
        else:
            expected = f"expected the id or the index of a step, found {described(target)}"
            self.notes.problem((*path, "goto"), f"{label}: {expected}")

    def _agent(self, given: JsonDict, path: Path, label: str, names: _Names, id: str | None) -> Step | None:
        name = given.get("name")
        if not isinstance(name, str) or not name:
            self.notes.problem(path, f"{label}: an agent step needs the `name` of an agent")
            return None
        if name not in self.agents:
            text = f"{label}: there is no agent {name!r}; {choices(nearest(map(str, self.agents), name))}"
            self.notes.problem((*path, "name"), text)
            return None
        if self._leads_back(id, "agent", names):
            assert id is not None, "as told"
            return Back(names.unique(id, is_own=True), path, id[len(BACK) :], name)
        self.used.setdefault(name, path)
        retry = read_retry(given.get("retry"), (*path, "retry"), label, self.notes)
        return AgentStep(names.of(id, name, label), path, name, retry, id is not None)

    def _condition(self, given: JsonDict, path: Path, label: str, names: _Names, id: str | None) -> Step | None:
        text = given.get("condition")
        if not isinstance(text, str) or not text.strip():
            expected = f"a condition step needs a `condition`, found {described(text)}"
            self.notes.problem((*path, "condition") if text else path, f"{label}: {expected}")
            text = ""
        own = names.of(id, str(given.get("name") or "condition"), label)
        if given.get("retry") is not None:
            read_retry(given["retry"], (*path, "retry"), label, self.notes)
            self.notes.remark(own, "has `retry`", "it has no effect, as a condition does not fail for a while")
        branches = [
            self.steps([] if given.get(key) is None else given[key], (*path, key), names, in_branch=True)
            for key in ("true", "false")
        ]
        return ConditionStep(own, path, text, *branches, is_named=id is not None)

    def _parallel(self, given: JsonDict, path: Path, label: str, names: _Names, id: str | None) -> Step | None:
        own = names.of(id, str(given.get("name") or "parallel"), label)
        retry = read_retry(given.get("retry"), (*path, "retry"), label, self.notes)
        steps, place = given.get("steps"), (*path, "steps")
        if not isinstance(steps, list):
            text = f"{label}: a parallel step needs a list of `steps`, found {described(steps)}"
            self.notes.problem(place if "steps" in given else path, text)
            return None
        if any(isinstance(entry, str) for entry in steps):
            form = "the older form of workflows, with agents' names as the steps of a parallel block"
            expected = "expected {type: agent, name: ...} for each"
            self.notes.problem(place, f"{label}: {form}, is not read here; {expected}")
            return None
        if self.levels == MOST_NESTED:
            self.notes.problem(path, f"{label}: parallel blocks nest deeper than {MOST_NESTED}")
            return None
        self.levels += 1
        children = self.steps(steps, place, _Names(steps), in_branch=False)
        self.levels -= 1
        for child in children:
            if isinstance(child, Back):
                self.notes.problem(child.path, f"{label}: what runs side by side cannot lead back")
        return ParallelStep(own, path, children, retry, id is not None)


class _Names:
    """The ids of the steps of a list and of the branches in it, which differ."""

    def __init__(self, steps: list[Any]) -> None:
        self.given = {id for id in _given_ids(steps) if isinstance(id, str)}
        self.seen: dict[str, str] = {}  # the ids so far, and which steps have them

    def of(self, id: str | None, otherwise: str, label: str) -> str:
        """Return the id of a step: its own, or one made of another name."""
        found = id or self.unique(otherwise)
        self.seen.setdefault(found, label)
        return found

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
