"""The work of a node that goes through many items or pieces: counted, bounded, with turns for others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from anyio.lowlevel import checkpoint

__all__ = ["A_TURN", "MOST_WORK", "Work"]

#: The steps that one node may take, each of at most some hundred nanoseconds.
MOST_WORK: Final = 1_000_000_000
#: The steps after which others get a turn.
A_TURN: Final = 20_000


@dataclass(slots=True)
class Work:
    """The steps of one node: how many it has taken, and at how many others are next."""

    taken: int = 0
    turn_at: int = A_TURN

    def spend(self, steps: int) -> None:
        """Count steps, about as many as there are characters and items; raises ValueError for too many."""
        self.taken += steps
        if self.taken > MOST_WORK:
            raise ValueError(
                "the items together take too much work; expected at most "
                f"{MOST_WORK:,} steps, of which each character and item that is looked at is one"
            )

    async def turn(self) -> None:
        """Let others have a turn if enough was done since the last."""
        if self.taken >= self.turn_at:
            self.turn_at = self.taken + A_TURN
            await checkpoint()
