"""The bounds of what the text and list types make, so that no small input makes a huge value."""

from __future__ import annotations

from typing import Final

__all__ = ["MOST_CHARACTERS", "MOST_ITEMS", "check_characters", "check_items"]

#: The characters of a text that is made, or read as JSON.
MOST_CHARACTERS: Final = 10_000_000
#: The items of a list that is made.
MOST_ITEMS: Final = 1_000_000


def check_characters(count: int) -> None:
    """Refuse a text that is too long; raises ValueError."""
    if count > MOST_CHARACTERS:
        raise ValueError(f"the text would have {count:,} characters; expected at most {MOST_CHARACTERS:,}")


def check_items(count: int) -> None:
    """Refuse a list that is too long; raises ValueError."""
    if count > MOST_ITEMS:
        raise ValueError(f"the list would have {count:,} items; expected at most {MOST_ITEMS:,}")
