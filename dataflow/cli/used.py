"""What the nodes of a sitting have used: the numbers that each told as `usage` in its metadata, added up."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Final

from dataflow.base.wording import visible
from dataflow.core.events import EventKind

if TYPE_CHECKING:
    from dataflow.core.events import Event

__all__ = ["Used"]

#: Where the metadata of a node have what it used, by name.
USAGE: Final = "usage"


class Used:
    """Adds up; what was remembered, or stood already, has used nothing now."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = {}
        self._hits: set[str] = set()

    def see(self, event: Event) -> None:
        """Take in an event."""
        if event.kind is EventKind.MEMO_HIT:
            self._hits.add(event.path)
        elif event.kind is EventKind.NODE_FINISHED:
            if event.path not in self._hits:
                self._add(event.data["metadata"].get(USAGE))
            self._hits.discard(event.path)

    def _add(self, usage: object) -> None:
        if not isinstance(usage, Mapping):
            return
        for name, number in usage.items():
            if type(name) is str and type(number) in (int, float) and isfinite(number):
                self._sums[name] = self._sums.get(name, 0) + number

    def text(self) -> str:
        """Tell the sums that are not zero, on one line; empty if there are none."""
        return ", ".join(
            f"{_number(total)} {visible(name.replace('_', ' '))}"
            for name, total in self._sums.items()
            if total
        )


def _number(total: float) -> str:
    return f"{total:,}" if isinstance(total, int) else f"{total:.6f}".rstrip("0").rstrip(".")
