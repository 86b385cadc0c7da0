"""The execution order of the steps of a workflow, and the outputs that each step can read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from dataflow_formats.cagent.diagnostics import GOTO_UNKNOWN
from dataflow_formats.cagent.file import (
    AgentStep,
    Back,
    ConditionStep,
    ParallelStep,
    Step,
    Unresolved,
    find,
    index_unknown,
    read_reference,
    steps_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dataflow.authoring import Notes
    from dataflow_formats.cagent.file import Workflow

__all__ = ["Order", "Ran", "arrange", "ends", "order_of", "shape_of"]

Ids: TypeAlias = tuple[str, ...]
Lanes: TypeAlias = tuple[tuple[Ids, int], ...]


def arrange(workflow: Workflow, notes: Notes) -> tuple[Step, ...]:
    """Return the steps in execution order: conditions after what they read, nothing after a `Back`.

    Each `Back` has an id as its target. Unknown targets and invalid references are noted as problems.
    """
    ids = [step.id for step in workflow.steps]
    return _Arranging(shape_of(workflow.steps), ids, notes).steps(workflow.steps, (), ())


@dataclass(frozen=True, slots=True)
class _Arranging:
    shape: dict[str, Any]
    ids: list[str]  # of the list of the workflow, in the order of the file
    notes: Notes

    def steps(self, steps: tuple[Step, ...], around: Ids, above: Ids) -> tuple[Step, ...]:
        """Arrange a list; `around` are the enclosing parallel blocks, `above` the steps to go back to."""
        found: list[Step] = []
        for step in self._ordered(steps, around):
            if ends(found):
                self._remark_unreached(step)
                continue
            found.append(self._step(step, around, above))
            above = (*above, step.id)
        return tuple(found)

    def _remark_unreached(self, step: Step) -> None:
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

    def _target(self, step: Back, above: Ids) -> str:
        target = step.target
        if isinstance(target, int):
            if not 0 <= target < len(self.ids):
                problem = index_unknown("step", target, len(self.ids))
                self.notes.problem(step.path, problem.within(f"step {step.id!r}"))
                return ""
            target = self.ids[target]
        if target not in above:
            place = f"step {step.id!r}"
            self.notes.problem(step.path, GOTO_UNKNOWN(place, target=target, available=above, near=target))
        return target

    def _ordered(self, steps: tuple[Step, ...], around: Ids) -> Sequence[Step]:
        """Move each condition after the last step of the list that it reads, beginning with the last one."""
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

    def _read(self, step: ConditionStep) -> Ids:
        """Return the path of the step that a condition reads; note an invalid reference as a problem."""
        try:
            return find(read_reference(step.condition), self.shape).path
        except Unresolved as error:
            if step.condition:
                place = f"step {step.id!r}: condition {step.condition.strip()!r}"
                self.notes.problem((*step.path, "condition"), error.diagnostics[0].within(place))
            return ()


def ends(steps: Sequence[Step]) -> bool:
    """Return whether nothing can follow the steps, since the last of them always leads back."""
    if not steps:
        return False
    match steps[-1]:
        case Back():
            return True
        case ConditionStep(yes=yes, no=no):
            return ends(yes) and ends(no)
        case _:
            return False


def _has(step: Step, id: str) -> bool:
    """Return whether a step has an id, or has a step with this id in a branch."""
    return any(one.id == id for one in steps_in((step,)) if isinstance(one, AgentStep | ParallelStep))


def shape_of(steps: tuple[Step, ...]) -> dict[str, Any]:
    """Return the outputs that steps have once all of them have run, each as an empty string."""
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


@dataclass(frozen=True, slots=True)
class Ran:
    """An agent step or a condition in the order of the steps.

    `lanes` are the alternative or concurrent lists that contain it, each by its step and its number there:
    the children of parallel blocks and the branches of conditions.
    """

    path: Ids
    agent: str
    lanes: Lanes

    def is_beside(self, lanes: Lanes) -> bool:
        """Return whether a step with other lanes is in an alternative or concurrent list."""
        if not self.lanes or not lanes:  # the usual case
            return False
        own = dict(self.lanes)
        return any(own.get(step, number) != number for step, number in lanes)


@dataclass(slots=True)
class Order:
    """The steps in the order of their first executions, and the loops among them.

    ran: the agent steps and conditions
    index: the position of each in `ran`
    begins: for each step, the position of the first step inside
    loops: for each way back, the step that it leads to and the positions of the steps that it repeats
    """

    ran: list[Ran] = field(default_factory=list)
    index: dict[Ids, int] = field(default_factory=dict)
    begins: dict[Ids, int] = field(default_factory=dict)
    loops: list[tuple[Ids, frozenset[int]]] = field(default_factory=list)

    def before(self, path: Ids) -> Iterator[Ran]:
        """Yield the agent steps that may have an output when a step begins."""
        here = self.index[path]
        step = self.ran[here]
        around = [span for _, span in self.loops if here in span]
        end = max((max(span) + 1 for span in around), default=here)
        for number, other in enumerate(self.ran[:end]):
            is_earlier = number < here and not other.is_beside(step.lanes)
            if other.agent and (is_earlier or any(number in span for span in around)):
                yield other

    def inner_loops(self, target: Ids) -> list[str]:
        """Return the targets of loops after a step, which restart when the step runs again."""
        begin = self.begins[target]
        found = [step for step, _ in self.loops if step[:-1] == target[:-1] and self.begins[step] > begin]
        return list(dict.fromkeys(step[-1] for step in found))


def order_of(steps: tuple[Step, ...]) -> Order:
    """Return the order of arranged steps."""
    order = Order()
    _walk(order, steps, (), ())
    return order


def _walk(
    order: Order,
    steps: tuple[Step, ...],
    around: Ids,
    lanes: Lanes,
) -> None:
    for step in steps:
        path = (*around, step.id)
        order.begins[path] = len(order.ran)
        match step:
            case AgentStep():
                _add(order, Ran(path, step.agent, lanes))
            case ConditionStep():
                _add(order, Ran(path, "", lanes))
                for number, branch in enumerate((step.yes, step.no)):
                    _walk(order, branch, around, (*lanes, (path, number)))
            case ParallelStep():
                for number, child in enumerate(step.steps):
                    _walk(order, (child,), path, (*lanes, (path, number)))
            case Back():
                target = (*around, str(step.target))
                if target in order.begins:
                    inside = range(order.begins[target], len(order.ran))
                    body = frozenset(n for n in inside if not order.ran[n].is_beside(lanes))
                    order.loops.append((target, body))


def _add(order: Order, ran: Ran) -> None:
    order.index[ran.path] = len(order.ran)
    order.ran.append(ran)
