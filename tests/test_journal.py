"""The writing of a journal, where its end comes before what is to be written (S11.2, S12.2)."""

from __future__ import annotations

from typing import cast

import anyio

from dataflow import Store
from dataflow.backend import caller
from dataflow.events import EventKind
from dataflow.journal import Entry, Journal
from dataflow.stores import Hold


class Released:
    """Holds a run, and tells how often it was given up."""

    def __init__(self) -> None:
        self.count = 0

    def release(self) -> None:
        self.count += 1


async def test_what_pauses_after_the_run_was_given_up_does_not_wait() -> None:
    hold = Released()
    journal = Journal(Store.memory(), "a run", cast("Hold", hold), caller())
    await journal.close()
    with anyio.fail_after(10):
        assert await journal.pause(Entry(1, EventKind.RUN_PAUSED.value, "", {}, {}, None, ())) == ()
        await journal.close()
    assert hold.count == 1
