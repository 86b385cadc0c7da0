"""Known: what the firings of a live session have come to, and for which inputs (S13.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.compiler.plan import PlanNode
    from dataflow.scheduler.asks import OpenAsk
    from dataflow.scheduler.frames import Frame, Opened

__all__ = ["Known", "Memory"]


@dataclass(slots=True, eq=False)
class Known:
    """What a firing, or a loop, a map or a flow node, came to, and the digests of what it was given.

    Its state is that of a node that has ended, READY for one that has paused and waits for its answer.
    """

    function: object  # that was called; None where there is none
    given: tuple[object, ...]
    state: int
    tokens: Mapping[int, Any]  # by slot
    digests: Mapping[int, object]  # of these, as far as they are known
    revision: int = 0  # in which it was computed
    before: tuple[object, ...] | None = None  # what it was given when it was computed the time before
    error: BaseException | None = None
    attempt: int = 1
    metadata: Mapping[str, Any] | None = None
    opened: Opened | None = None
    ask: OpenAsk | None = None


@dataclass(slots=True, eq=False)
class _Inside:
    """What is known of the firings inside a loop, map or flow node of the root, by path."""

    now: dict[str, Known] = field(default_factory=dict)  # since it was opened last
    before: dict[str, Known] = field(default_factory=dict)


class Memory:
    """What is known of all firings. What is no longer inside a node is forgotten when that has ended."""

    def __init__(self) -> None:
        self._own: dict[int, Known] = {}  # by node of the root
        self._inside: dict[int, _Inside] = {}  # likewise

    def of_root(self, index: int) -> Known | None:
        """Return what is known of a node of the root."""
        return self._own.get(index)

    def find(self, frame: Frame, node: PlanNode) -> Known | None:
        """Return what is known of a firing."""
        if frame.parent is None:
            return self._own.get(node.index)
        inside = self._inside.get(_opener(frame))
        if inside is None:
            return None
        path = frame.path_of(node)
        return inside.now.get(path) or inside.before.get(path)

    def note(self, frame: Frame, node: PlanNode, known: Known) -> None:
        """Note what a firing has come to, or that it still stands."""
        if frame.parent is None:
            self._own[node.index] = known
        else:
            self._inside[_opener(frame)].now[frame.path_of(node)] = known

    def note_own(self, index: int, known: Known) -> None:
        """Note what a firing of the root has come to."""
        self._own[index] = known

    def opens(self, index: int) -> None:
        """Note that a loop, map or flow node of the root opens: what was inside it is looked up by path."""
        inside = self._inside.setdefault(index, _Inside())
        inside.before, inside.now = {**inside.before, **inside.now}, {}

    def has_ended(self, index: int) -> None:
        """Note that such a node has come to its end: what is no longer inside it is forgotten."""
        self._inside[index].before = {}

    def forget(self, index: int) -> None:
        """Forget what a node of the root has come to, not what is inside it."""
        self._own.pop(index, None)


def _opener(frame: Frame) -> int:
    """Return the node of the root that a frame is inside of."""
    while frame.parent is not None and frame.parent.parent is not None:
        frame = frame.parent
    return frame.owner
