"""Small texts: durations, and text of others on one line."""

from __future__ import annotations

from dataflow.wording import visible

__all__ = ["duration", "one_line"]


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
    return f"{minutes} min {rest:02d} s"
