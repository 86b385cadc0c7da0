"""What happens in a test does not depend on the speed of the machine, and clocks that are set forward."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

import pytest
import trio
from trio.testing import MockClock

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


def set_forward(seconds: float) -> None:
    """Let time pass at once: what is due by then is so when the event loop comes back."""
    if trio.lowlevel.in_trio_run():
        clock: Any = trio.lowlevel.current_clock()
        object.__setattr__(clock, "offset", clock.offset + seconds)  # it is frozen, and not to be replaced
    else:
        loop = asyncio.get_running_loop()
        before = loop.time
        vars(loop)["time"] = lambda: before() + seconds


def jumping(main: Callable[[], Any]) -> Any:
    """Run on trio with a clock that jumps to the next timer whenever nothing else can run."""
    return trio.run(main, clock=MockClock(autojump_threshold=0))
