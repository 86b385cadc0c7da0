"""Tables of behaviours: a row, and a test that plays all rows of a system."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pytest


class Row(NamedTuple):
    """A behaviour: its number, what it says, a call that plays it, and the outcome."""

    id: str
    behaviour: str
    look: Callable[[], Any]
    outcome: Any


async def check_rows(rows: Iterable[Row], subtests: pytest.Subtests) -> None:
    """Play each row, and compare with its outcome."""
    for row in rows:
        with subtests.test(f"{row.id}: {row.behaviour}"):
            found = row.look()
            assert (await found if hasattr(found, "__await__") else found) == row.outcome
