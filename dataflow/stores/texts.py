"""How texts and times stand in the database of a store."""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["read_text", "read_time", "written_text", "written_time"]


def written_text(text: str) -> str | bytes:
    """Write a text: as bytes if it has halves of surrogate pairs, which no text of SQLite has."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def read_text(text: str | bytes) -> str:
    """Read a text that was written so."""
    return text if isinstance(text, str) else text.decode("utf-8", "surrogatepass")


def written_time(moment: datetime) -> str:
    """Write a time so that times sort as texts."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def read_time(text: str) -> datetime:
    """Read a time that was written so."""
    return datetime.fromisoformat(text)
