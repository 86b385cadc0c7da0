"""Limits on the work and the results of the text and list node types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeVar

from anyio.lowlevel import checkpoint

from dataflow import ArgumentInvalid
from dataflow.authoring import maximum
from dataflow_control.diagnostics import TOO_LARGE, TOO_MUCH_WORK

__all__ = ["A_TURN", "MOST_CHARACTERS", "Work", "check_characters", "check_items", "plain_list", "plain_text"]

#: The most characters of a string that is created, or read as JSON.
MOST_CHARACTERS: Final = maximum("TEXT_CHARACTERS", 10_000_000)
#: The most items of a list that is created.
MOST_ITEMS: Final = maximum("LIST_ITEMS", 1_000_000)
#: The most steps of one node, each of at most some hundred nanoseconds.
MOST_WORK: Final = maximum("LIST_STEPS", 1_000_000_000)
#: The steps after which other tasks get a turn.
A_TURN: Final = 20_000
T = TypeVar("T")


def check_characters(count: int) -> None:
    """Raise ValueError for a string that is too long."""
    if count > MOST_CHARACTERS:
        expected = f"at most {MOST_CHARACTERS:,} characters"
        raise ArgumentInvalid(TOO_LARGE(what="the string", expected=expected, found=f"{count:,}"))


def check_items(count: int) -> None:
    """Raise ValueError for a list that is too long."""
    if count > MOST_ITEMS:
        expected = f"at most {MOST_ITEMS:,} items"
        raise ArgumentInvalid(TOO_LARGE(what="the list", expected=expected, found=f"{count:,}"))


@dataclass(slots=True)
class Work:
    """The steps of one node: how many it has taken, and after how many other tasks get a turn."""

    taken: int = 0
    turn_at: int = A_TURN

    def spend(self, steps: int) -> None:
        """Count steps, about one for each character and item; raises ValueError for too many."""
        self.taken += steps
        if self.taken > MOST_WORK:
            expected = f"at most {MOST_WORK:,} steps, one for each character and item that is looked at"
            raise ArgumentInvalid(TOO_MUCH_WORK(expected=expected))

    async def turn(self) -> None:
        """Give other tasks a turn if enough steps were taken since the last one."""
        if self.taken >= self.turn_at:
            self.turn_at = self.taken + A_TURN
            await checkpoint()


def plain_text(text: str) -> str:
    """Return the actual characters of a string as a plain `str`.

    A subclass may override methods, such as `__len__` or `split`, and so evade the limits.
    """
    return str.__str__(text)


def plain_list(items: list[T]) -> list[T]:
    """Return the actual items of a list as a plain `list`, also for a subclass that overrides methods."""
    return items if type(items) is list else list.copy(items)
