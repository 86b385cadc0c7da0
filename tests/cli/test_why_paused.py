"""Why of paused runs: the journal tells what the run in memory tells (S3.3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from dataflow import SKIP, Flow, Maybe
from dataflow.inspection.stored_reasons import StoredReasons
from dataflow.inspection.stored_run import read_run
from dataflow.stores.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


async def add(x: int, y: int) -> int:
    return x + y


async def up(x: int) -> int:
    return x + 1


async def ident(x: int) -> int:
    return x


def steps(name: str) -> Flow:
    with Flow(name) as flow:
        x = flow.input("x", int, default=0)
        flow.output("x", flow.add(ident, x=flow.add(up, x=x).out).out)
    return flow


def of_flow_nodes() -> Flow:
    """Flow nodes around an ask: one that has ended, and one that has not begun."""
    with Flow("nodes") as flow:
        before = flow.add(steps("before"))
        asked = flow.ask(int, "Go on?", name="asked", show=before.out.x)
        total = flow.add(add, x=before.out.x, y=asked.out)
        flow.output("end", flow.add(steps("end"), x=total.out).out.x)
    return flow


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


FLOWS = (of_flow_nodes, of_blocks, of_feedback)


async def both(flow: Flow, path: Path, name: str) -> tuple[str, str]:
    """Tell why by the run and by its journal, the times and what each calls a block that waits left out."""
    store = SqliteStore(path / "runs.db")
    result = await flow.using(store=store).run()
    assert result.status == "paused"
    explained = StoredReasons(read_run(store, store.runs()[0])).explain(name)
    assert explained is not None
    journal = re.sub(r" since \S+ \S+Z", "", str(explained))
    return result.why(name), journal.replace("has no value so far", "did not settle: the run was paused")


@pytest.mark.parametrize("make", FLOWS)
async def test_a_node_that_has_not_begun_waits_for_the_same_in_the_journal(
    make: Callable[[], Flow], tmp_path: Path
) -> None:
    memory, journal = await both(make(), tmp_path, next(reversed(make().compile().wiring.block.nodes)))
    assert journal == memory
    assert memory.endswith("because ask 'asked' waits for an answer: Go on?")


@pytest.mark.parametrize("make", FLOWS)
async def test_an_output_waits_for_the_same_in_the_journal(make: Callable[[], Flow], tmp_path: Path) -> None:
    memory, journal = await both(make(), tmp_path, "end")
    assert journal == memory


async def test_an_output_of_rounds_that_have_ended_has_what_their_last_round_gave(tmp_path: Path) -> None:
    memory, journal = await both(of_feedback(), tmp_path, "count")
    assert journal == memory
