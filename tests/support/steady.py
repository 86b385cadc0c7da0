"""What happens in a test is not to depend on how fast the machine is, or on what else it does."""

from __future__ import annotations

from typing import Final

import pytest

from dataflow.runtime.call import Driver
from dataflow.runtime.workers import QuickCalls, Workers
from tests.support.source import home_of

#: Longer than any test takes, in seconds.
NO_END: Final = 3600.0
#: The same as a line of Python, for a process of its own: no slice ends, and no step takes too long.
STEADY: Final = "; ".join(
    f"import {owner.__module__} as home; home.{name} = {NO_END}"
    for owner, name in ((Workers, "SLICE"), (QuickCalls, "MOST_BLOCKING"), (Driver, "MOST_BLOCKING"))
)


def end_slices_after(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let each slice of a worker end after these seconds: what is ready takes its turn then (S14.2)."""
    monkeypatch.setattr(home_of(Workers), "SLICE", seconds)


def let_no_slice_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no slice of a worker end."""
    end_slices_after(monkeypatch, NO_END)


def warn_of_blocking(monkeypatch: pytest.MonkeyPatch, *, above: float) -> None:
    """Warn of each step that keeps the event loop for more than these seconds (S9.2)."""
    for owner in (QuickCalls, Driver):
        monkeypatch.setattr(home_of(owner), "MOST_BLOCKING", above)
