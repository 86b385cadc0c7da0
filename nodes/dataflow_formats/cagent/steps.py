"""Reading the steps of a workflow of cagent; what is wrong with any of them is noted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import choices
from dataflow_formats.cagent.parts import BACK, AgentStep, Back, ConditionStep, ParallelStep, Step
from dataflow_formats.cagent.retries import read_retry
from dataflow_formats.cagent.step_names import StepNames

if TYPE_CHECKING:
    from collections.abc import Collection

    from dataflow.authoring import PartReader

__all__ = ["StepReader"]

#: How deeply parallel blocks may stand inside each other; a native document takes more levels for each.
MOST_NESTED: Final = 20
#: What stands in a branch of a condition.
IN_BRANCH: Final = "a step, or the id or the index of an earlier one"
#: The types of steps, and what each of them has.
TYPES: Final[dict[str, tuple[str, ...]]] = {
    "agent": ("id", "type", "name", "retry"),
    "condition": ("id", "type", "name", "retry", "condition", "true", "false"),
    "parallel": ("id", "type", "name", "retry", "steps"),
}


class StepReader:
    """Reads steps.

    agents: the names that steps may name
    used: the names that they do, in their order
    is_whole: whether all steps could be read
    """

    def __init__(self, agents: Collection[str]) -> None:
        self.agents = agents
        self.used: dict[str, None] = {}
        self.is_whole = True
        self._levels = 0  # of parallel blocks around what is being read

    def steps(self, around: PartReader, key: str) -> tuple[Step, ...]:
        """Read the list of steps under a key, which have ids of their own."""
        given = around.items(key)
        names = StepNames(given)
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
        kind = part.word("type", TYPES)
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
        name = "" if part.missing("name") else part.text("name")
        if name and name not in self.agents:
            known = choices([*map(str, self.agents)], near=name)
            part.problem(f"there is no agent {name!r}; {known}", "name")
        if name not in self.agents:
            return None
        if entry.names.leads_back(id):
            own = entry.names.unique(id, part.path, is_own=True)
            return Back(own, part.path, id[len(BACK) :], agent=name)
        self.used[name] = None
        return AgentStep(entry.named(name), part.path, name, read_retry(part), bool(id))

    def _condition(self, entry: _Entry) -> Step:
        part = entry.part
        text = "" if part.missing("condition") else part.text("condition")
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
            form = "the older form of workflows, with agents' names as the steps of a parallel block"
            part.problem(f"{form}, is not read here; expected {{type: agent, name: ...}} for each", "steps")
            return None
        if self._levels == MOST_NESTED:
            part.problem(f"parallel blocks nest deeper than {MOST_NESTED}", "type")
            return None
        self._levels += 1
        children = self.steps(part, "steps")
        self._levels -= 1
        for child in children:
            if isinstance(child, Back):
                part.problem("what runs side by side cannot lead back", *child.path[len(part.path) :])
                self.is_whole = False
        return ParallelStep(own, part.path, children, read_retry(part), bool(entry.id))


@dataclass(frozen=True, slots=True)
class _Entry:
    """What is read as a step: its id, empty where it has none, and the ids of those around it."""

    part: PartReader
    id: str
    names: StepNames

    @classmethod
    def of(cls, part: PartReader, names: StepNames) -> _Entry:
        """Read the id of a step."""
        has_id = part.part.get("id") is not None and not part.missing("id")
        return cls(part, part.text("id") if has_id else "", names)

    def named(self, otherwise: str) -> str:
        """Return the id of the step: its own, or one made of its name, else of another."""
        found = self.id
        if not found:
            name = str(self.part.part.get("name") or otherwise)
            found = self.names.unique(name, self.part.path)
        self.names.seen.setdefault(found, self.part.path)
        return found


def _goto(entry: _Entry) -> Step | None:
    part, target = entry.part, entry.part.part["goto"]
    part.check_keys(("id", "goto"))
    if isinstance(target, str) or type(target) is int:
        id = entry.names.unique(entry.id or f"{BACK}{target}", part.path, is_own=bool(entry.id))
        return Back(id, part.path, target, f"goto: {target}")
    part.expected("the id or the index of a step", target, "goto")
    return None
