"""Limits on the work and the results of the text and list node types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeVar

from anyio.lowlevel import checkpoint

__all__ = [
    "A_TURN",
    "MOST_CHARACTERS",
    "MOST_ITEMS",
    "MOST_WORK",
    "Work",
    "check_characters",
    "check_items",
    "plain_list",
    "plain_text",
]

#: The characters of a text that is made, or read as JSON.
MOST_CHARACTERS: Final = 10_000_000
#: The items of a list that is made.
MOST_ITEMS: Final = 1_000_000
#: The steps that one node may take, each of at most some hundred nanoseconds.
MOST_WORK: Final = 1_000_000_000
#: The steps after which others get a turn.
A_TURN: Final = 20_000
T = TypeVar("T")


def check_characters(count: int) -> None:
    """Refuse a text that is too long; raises ValueError."""
    if count > MOST_CHARACTERS:
        raise ValueError(f"the text would have {count:,} characters; expected at most {MOST_CHARACTERS:,}")


def check_items(count: int) -> None:
    """Refuse a list that is too long; raises ValueError."""
    if count > MOST_ITEMS:
        raise ValueError(f"the list would have {count:,} items; expected at most {MOST_ITEMS:,}")


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


def plain_text(text: str) -> str:
    """Return the characters that are really there, as a `str` and nothing else."""
    return str.__str__(text)


def plain_list(items: list[T]) -> list[T]:
    """Return the items that are really there, as a `list` and nothing else."""
    return items if type(items) is list else list.copy(items)
