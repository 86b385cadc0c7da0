"""Permits: the slots of a firing, until it and every thread that it left behind have ended (S9.2, S15.1)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataflow.core.policy import Gate

__all__ = ["Permit", "nothing_kept"]


class Permit:
    """The slots of one firing, until it and every thread that it left behind have ended."""

    __slots__ = ("_holders", "_lock", "gate", "has_begun")

    def __init__(self, gate: Gate | None) -> None:
        self.gate = gate
        self.has_begun = False
        self._holders = 1
        self._lock = threading.Lock()

    def begin(self) -> None:
        if not self.has_begun:
            self.has_begun = True
            if self.gate is not None:
                self.gate.started()

    def keep(self) -> None:
        with self._lock:
            self._holders += 1

    def drop(self) -> bool:
        """Let go once; tells whether that was the last hold. Any thread may call it."""
        with self._lock:
            self._holders -= 1
            is_last = not self._holders
        if is_last and self.gate is not None:
            self.gate.release(has_begun=self.has_begun)
        return is_last


def nothing_kept() -> None:
    """Keep nothing, so there is nothing to give back."""
