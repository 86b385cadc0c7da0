"""Names for what a file does not have, but its document does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container

__all__ = ["free_name"]


def free_name(name: str, taken: Container[str], between: str = "_") -> str:
    """Return a name that is not taken: the given one, or the first of `name_2`, `name_3` and so on."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}{between}{number}"
    return found
