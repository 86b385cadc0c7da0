"""The clock of the running event loop, set forward: no test has to wait for, or be faster than, a timeout."""

from __future__ import annotations

import asyncio
from typing import Any

import trio


def set_forward(seconds: float) -> None:
    """Let time pass at once: what is due by then is so when the event loop comes back."""
    if trio.lowlevel.in_trio_run():
        clock: Any = trio.lowlevel.current_clock()
        object.__setattr__(clock, "offset", clock.offset + seconds)  # it is frozen, and not to be replaced
    else:
        loop = asyncio.get_running_loop()
        before = loop.time
        vars(loop)["time"] = lambda: before() + seconds
