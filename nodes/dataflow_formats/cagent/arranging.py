"""Bring the steps of a workflow into the order in which they run, and find where branches lead back to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from dataflow.authoring import choices
from dataflow_formats.cagent.parts import AgentStep, Back, ConditionStep, ParallelStep, Step, steps_in
from dataflow_formats.cagent.references import Unresolved, find, read_reference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.authoring import Notes
    from dataflow_formats.cagent.parts import Workflow

__all__ = ["arranged", "ends", "shape_of"]

Ids: TypeAlias = tuple[str, ...]


def shape_of(steps: tuple[Step, ...]) -> dict[str, Any]:
    """Return what steps would have given had all of them run, with empty texts for outputs."""
    shape: dict[str, Any] = {}
    for step in steps_in(steps):
        match step:
            case AgentStep():
                shape[step.id] = {"output": "", "agent": step.agent}
            case ParallelStep():
                inner = shape_of(step.steps)
                shape[step.id] = {"steps": inner, "order": [*inner]}
            case _:
                pass
    return shape


def arranged(workflow: Workflow, notes: Notes) -> tuple[Step, ...]:
    """Return the steps as they run: no condition before what it reads, and nothing behind a way back.

    Ways back have ids as targets. Those that lead nowhere, and such references, are noted as problems.
    """
    ids = [step.id for step in workflow.steps]
    return _Arranging(shape_of(workflow.steps), ids, notes).steps(workflow.steps, (), ())


def ends(steps: Sequence[Step]) -> bool:
    """Tell whether steps never come to their end, as the last of them leads back in any case."""
    if not steps:
        return False
    match steps[-1]:
        case Back():
            return True
        case ConditionStep(yes=yes, no=no):
            return ends(yes) and ends(no)
        case _:
            return False


@dataclass(frozen=True, slots=True)
class _Arranging:
    shape: dict[str, Any]
    ids: list[str]  # of the list of the workflow, in the order of the file
    notes: Notes

    def steps(self, steps: tuple[Step, ...], around: Ids, above: Ids) -> tuple[Step, ...]:
        """Arrange a list; `around` are the parallel blocks around it, `above` the steps to go back to."""
        found: list[Step] = []
        for step in self._ordered(steps, around):
            if ends(found):
                self._tell_unreached(step)
                continue
            found.append(self._step(step, around, above))
            above = (*above, step.id)
        return tuple(found)

    def _tell_unreached(self, step: Step) -> None:
        for one in steps_in((step,)):
            if not isinstance(one, Back):
                self.notes.remark(one.id, "stands behind a way back", "it is left out, as it can never run")

    def _step(self, step: Step, around: Ids, above: Ids) -> Step:
        match step:
            case AgentStep():
                return step
            case ConditionStep():
                inner = (*above, step.id)
                branches = [self.steps(branch, around, inner) for branch in (step.yes, step.no)]
                return replace(step, yes=branches[0], no=branches[1])
            case ParallelStep():
                within = (*around, step.id)
                children = [self.steps((child,), within, ()) for child in step.steps]
                return replace(step, steps=tuple(child for one in children for child in one))
            case Back():
                return replace(step, target=self._target(step, above))

    def _target(self, step: Back, above: tuple[str, ...]) -> str:
        target = step.target
        if isinstance(target, int):
            if not 0 <= target < len(self.ids):
                problem = f"there is no step {target}; the workflow has {len(self.ids)}, counted from 0"
                self.notes.problem(step.path, f"{step.id!r}: {problem}")
                return ""
            target = self.ids[target]
        if target not in above:
            known = choices([*above])
            problem = f"leads back to {target!r}, which is no step that comes before it; {known}"
            self.notes.problem(step.path, f"{step.id!r}: {problem}")
        return target

    def _ordered(self, steps: tuple[Step, ...], around: tuple[str, ...]) -> Sequence[Step]:
        """Move each condition behind the last step of the list that it reads, the last condition first."""
        order = [*steps]
        for step in reversed(steps):
            if not isinstance(step, ConditionStep):
                continue
            read = self._read(step)
            if read[: len(around)] != around or len(read) <= len(around):
                continue
            here, id = order.index(step), read[len(around)]
            behind = [n for n, other in enumerate(order) if n > here and _has(other, id)]
            if behind:
                order.insert(behind[0], order.pop(here))
                original = f"is evaluated before {id!r}, which it reads"
                self.notes.remark(step.id, original, f"it is evaluated behind {order[behind[0] - 1].id!r}")
        return order

    def _read(self, step: ConditionStep) -> tuple[str, ...]:
        """Return the path of the step that a condition reads; what leads nowhere is a problem."""
        try:
            return find(read_reference(step.condition), self.shape).path
        except Unresolved as error:
            if step.condition:
                text = f"{step.id!r}: condition {step.condition.strip()!r}: {error}"
                self.notes.problem((*step.path, "condition"), text)
            return ()


def _has(step: Step, id: str) -> bool:
    """Tell whether a step is of an id, or has it in a branch."""
    return any(one.id == id for one in steps_in((step,)) if isinstance(one, AgentStep | ParallelStep))
