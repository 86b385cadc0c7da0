"""Why of paused runs: the journal tells what the run in memory tells (S3.3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dataflow import SKIP, Flow, Maybe
from dataflow.inspection.stored_reasons import StoredReasons
from dataflow.inspection.stored_run import read_run
from dataflow.stores.sqlite import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path


async def add(x: int, y: int) -> int:
    return x + y


async def up(x: int) -> int:
    return x + 1


def of_blocks() -> Flow:
    """A loop that has ended, and a loop that has not begun."""
    with Flow("blocks") as flow:
        with flow.loop(name="before", limit=2) as loop:
            carried = loop.carry(0)
            carried.next(flow.add(up, x=carried.out).out)
            done = loop.result(carried.out)
        asked = flow.ask(int, "Go on?", name="asked", show=done)
        with flow.loop(name="after", limit=2) as loop:
            carried = loop.carry(asked.out)
            carried.next(flow.add(add, x=carried.out, y=done).out)
            last = loop.result(carried.out)
        flow.output("end", flow.add(up, x=last).out)
    return flow


async def small(x: int) -> Maybe[int]:
    return x if x < 3 else SKIP


def of_feedback() -> Flow:
    """Rounds that a feedback edge makes, and that have ended, with readers of what leaves them."""
    flow = Flow("feedback")
    flow.input("x", int, default=0)
    counted = flow.add(up)  # type: ignore[call-arg]  # `connect` wires the port
    passed = flow.add(small, x=counted.out)
    flow.connect("$in.x", "up.x")
    flow.connect("small", "up.x", feedback=True, limit=None)
    asked = flow.ask(int, "Go on?", name="asked", show=counted.out)
    flow.output("end", flow.add(add, x=passed.out, y=asked.out).out)
    flow.output("count", passed.out)
    return flow


async def test_the_journal_tells_what_the_run_tells(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db")
    for flow, names in ((of_blocks(), ("end", "up_2")), (of_feedback(), ("end", "count", "add"))):
        result = await flow.using(store=store).run()
        assert result.status == "paused"
        reasons = StoredReasons(read_run(store, store.find(result.run_id)))
        for name in names:
            told = re.sub(r" since \S+ \S+Z", "", str(reasons.explain(name)))
            told = told.replace("has no value so far", "did not settle: the run was paused")
            assert told == result.why(name)
