"""Values as they really are: a class of its own over `str` or `list` may say of itself what it likes."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["plain_list", "plain_text"]

T = TypeVar("T")


def plain_text(text: str) -> str:
    """Return the characters that are really there, as a `str` and nothing else."""
    return str.__str__(text)


def plain_list(items: list[T]) -> list[T]:
    """Return the items that are really there, as a `list` and nothing else."""
    return items if type(items) is list else list.copy(items)
