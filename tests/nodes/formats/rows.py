"""What tables of behaviours share: a row, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["Row"]


class Row(NamedTuple):
    """A behaviour: its number, what it says, how it is looked at, and the outcome."""

    id: str
    behaviour: str
    look: Callable[[], Any]
    outcome: Any

    async def found(self) -> Any:
        """Look at the behaviour."""
        found = self.look()
        return await found if hasattr(found, "__await__") else found
