"""Small texts: durations, counts, and text of others made safe to show."""

from __future__ import annotations

from typing import Final

__all__ = ["counted", "duration", "one_line", "visible"]

_KEPT: Final = "\n\t"
_CONTROLS: Final = {
    code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in _KEPT
}


def visible(text: str) -> str:
    """Write control characters as escapes, so that no text of others can steer a terminal."""
    return text.translate(_CONTROLS)


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


def counted(count: int, noun: str) -> str:
    """Write a count with its noun: `1 node`, `3 nodes`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
