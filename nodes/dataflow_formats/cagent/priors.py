"""Which outputs a step may find: those of the steps before it, and in a loop those of the whole loop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from dataflow_formats.cagent.parts import AgentStep, Back, ConditionStep, ParallelStep, Step

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Order", "Ran", "order_of"]

Lanes: TypeAlias = tuple[tuple[tuple[str, ...], int], ...]


@dataclass(frozen=True, slots=True)
class Ran:
    """An agent step or a condition in the order of the steps.

    `lanes` are the lists that it stands in beside others, each by its step and its number there: the children
    of parallel blocks and the branches of conditions.
    """

    path: tuple[str, ...]
    agent: str
    lanes: Lanes

    def is_beside(self, lanes: Lanes) -> bool:
        """Tell whether it stands in another list of one step than what stands in these lists."""
        if not self.lanes or not lanes:  # as most do
            return False
        own = dict(self.lanes)
        return any(own.get(step, number) != number for step, number in lanes)


@dataclass(slots=True)
class Order:
    """The steps in the order in which they run first."""

    ran: list[Ran] = field(default_factory=list)
    index: dict[tuple[str, ...], int] = field(default_factory=dict)
    begins: dict[tuple[str, ...], int] = field(default_factory=dict)  # of each step, its first step inside
    loops: list[tuple[tuple[str, ...], frozenset[int]]] = field(
        default_factory=list
    )  # steps by where it goes

    def before(self, path: tuple[str, ...]) -> Iterator[Ran]:
        """Go through the agent steps that may have given something when a step begins."""
        here = self.index[path]
        step = self.ran[here]
        around = [span for _, span in self.loops if here in span]
        end = max((max(span) + 1 for span in around), default=here)
        for number, other in enumerate(self.ran[:end]):
            is_earlier = number < here and not other.is_beside(step.lanes)
            if other.agent and (is_earlier or any(number in span for span in around)):
                yield other

    def inner_loops(self, target: tuple[str, ...]) -> list[str]:
        """List what loops behind a step go back to: they begin afresh when the step comes again."""
        begin = self.begins[target]
        found = [step for step, _ in self.loops if step[:-1] == target[:-1] and self.begins[step] > begin]
        return list(dict.fromkeys(step[-1] for step in found))


def order_of(steps: tuple[Step, ...]) -> Order:
    """Find the order of steps that have been arranged."""
    order = Order()
    _walk(order, steps, (), ())
    return order


def _walk(
    order: Order,
    steps: tuple[Step, ...],
    around: tuple[str, ...],
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
