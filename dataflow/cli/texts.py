"""Small texts: durations, tables, and text of others on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataflow.base.wording import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MOST_REASON", "duration", "one_line", "table"]

MOST_REASON: Final = 200  # characters of why a firing has ended, on its line


def one_line(text: str, limit: int = 500) -> str:
    """Put a text on one line, shortened to `limit` characters."""
    line = " ".join(visible(text[: 4 * limit]).split())
    return line if len(line) <= limit else line[: limit - 3] + "..."


def duration(seconds: float) -> str:
    """Write a duration as people read it."""
    seconds = max(seconds, 0.0)
    if seconds < 0.1:
        return f"{seconds:.2f} s"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours < 48 else f"{hours // 24} days"


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Write rows as lines, their columns one below the other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
