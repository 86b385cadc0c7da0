"""Run slots: which ready firings may start where nothing but the run as a whole has a limit (S15.1)."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from dataflow.core.states import READY, RUNNING
from dataflow.scheduler.permits import Permit, nothing_kept

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dataflow.scheduler.admission import Later
    from dataflow.scheduler.frames import FiringId

__all__ = ["RunSlots"]


class RunSlots:
    """What `Admission` comes to with `max_concurrency` alone: first come, first served."""

    def __init__(self, count: int) -> None:
        self.later: Later | None = None  # set by the acting side
        self._free = count
        self._waiting: deque[FiringId] = deque()
        self._holding: set[FiringId] = set()
        self._kept: dict[FiringId, Permit] = {}  # of those that have left a thread behind

    @property
    def are_waiting(self) -> bool:
        """Whether a firing waits for a slot; those that were cancelled meanwhile count until their turn."""
        return bool(self._waiting)

    def admit(self, newly: Sequence[FiringId]) -> list[FiringId]:
        """Return the firings that may start now, of these and of those that wait."""
        waiting, granted = self._waiting, []
        waiting.extend(newly)
        while waiting and self._free:
            frame, index = firing = waiting.popleft()
            if frame.states[index] in (READY, RUNNING):  # else its frame was closed while it waited or asked
                self._free -= 1
                self._holding.add(firing)
                granted.append(firing)
        return granted

    def begun(self, firing: FiringId) -> None:
        """Note that a firing has entered its function: no starts are counted."""

    def ended(self, firing: FiringId, *, has_begun: bool = True) -> None:  # noqa: ARG002 - as in Admission
        """Take back the slot of a firing, unless a thread that it has left behind keeps it."""
        if firing not in self._holding:
            return
        self._holding.discard(firing)
        kept = self._kept.pop(firing, None) if self._kept else None
        if kept is None or kept.drop():
            self._free += 1

    def keep(self, firing: FiringId) -> Callable[[], None]:
        """Keep the slot of a firing for a thread that runs on; returns what to call when it returns."""
        if firing not in self._holding:
            return nothing_kept
        permit = self._kept.setdefault(firing, Permit(None))
        permit.keep()
        return partial(self._returned, permit)

    def close(self) -> None:
        """Wait for nothing any more: the run has ended."""
        self._waiting.clear()
        self._holding.clear()
        self._kept.clear()

    def _returned(self, permit: Permit) -> None:
        """Take back, in the thread that has returned, what it kept."""
        if permit.drop() and self.later is not None:
            self.later(self._take_back)

    def _take_back(self) -> None:
        self._free += 1
