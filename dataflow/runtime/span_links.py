"""Links: from the span of a node to those of its sources, so that a trace shows what joined (S19)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from opentelemetry.trace import SpanContext

    from dataflow.compiler.plan import PlanNode, ScopePlan
    from dataflow.scheduler.frames import Frame

__all__ = ["Links"]


class Links:
    """The spans that were begun in each frame, by node: what is ready reads what has ended."""

    def __init__(self) -> None:
        self._begun: dict[Frame, dict[int, SpanContext]] = {}
        self._makers: dict[ScopePlan, Mapping[int, int]] = {}  # slot -> the node that fills it

    def note(self, frame: Frame, index: int, span: SpanContext) -> None:
        """Note the span of a node, in place of one of an earlier attempt."""
        self._begun.setdefault(frame, {})[index] = span

    def forget(self, frame: Frame) -> None:
        """Forget the spans of a frame that has ended; nobody reads them any more."""
        self._begun.pop(frame, None)

    def to(self, frame: Frame, node: PlanNode) -> Iterator[SpanContext]:
        """Yield the spans of the sources of a node, each once; those of what a join joins in its place."""
        todo = [(frame, slot) for feed in node.feeds for slot in feed.slots]
        seen = set(todo)
        told: set[tuple[Frame, int]] = set()
        while todo:
            frame, slot = todo.pop(0)
            index = self._makers_of(frame.plan).get(slot)
            further: list[tuple[Frame, int]] = []
            if index is None:
                outer = [outside for outside, own in frame.plan.imports if own == slot]
                further = [(frame.parent, one) for one in outer if frame.parent is not None]
            elif not frame.plan.nodes[index].is_visible:
                feeds = frame.plan.nodes[index].feeds
                further = [(frame, one) for feed in feeds for one in feed.slots]
            elif (frame, index) not in told:
                told.add((frame, index))
                span = self._begun.get(frame, {}).get(index)
                if span is not None:
                    yield span
            todo += [one for one in further if one not in seen]
            seen.update(further)

    def _makers_of(self, plan: ScopePlan) -> Mapping[int, int]:
        if plan not in self._makers:
            made = {slot: node.index for node in plan.nodes for slot in node.outputs.values()}
            self._makers[plan] = made
        return self._makers[plan]
