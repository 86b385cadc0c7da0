"""What was cancelled in a map or flow node in which something had failed runs on resume (S9.4, S11.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import anyio
import pytest

from dataflow import Flow, collect, each
from tests.properties.ledger import Ledger

CALLS = Counter[str]()


async def fails(x: int) -> int:
    raise ValueError(str(x))


async def lasts(x: int) -> int:
    """Last for ever the first time."""
    CALLS["lasts"] += 1
    if CALLS["lasts"] == 1:
        await anyio.sleep_forever()
    return x


def inner() -> Flow:
    """Wire a node that fails and one beside it that is still running then."""
    with Flow("inner") as flow:
        x = flow.input("x", int)
        flow.output("y", flow.add(fails, x=x).out)
        flow.output("z", flow.add(lasts, x=x).out)
    return flow


def skipped() -> Flow:
    with Flow("outer") as outer:
        outer.output("o", outer.add(inner().with_(on_error="skip"), x=1).out.z)
    return outer


def collected() -> Flow:
    with Flow("outer") as outer:
        items = outer.add(inner(), x=each([1], on_error="collect"))
        outer.output("o", collect(items.out.z))
    return outer


async def test_what_was_cancelled_beside_a_failure_runs(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Callable[[], Flow], str]] = [(skipped, "inner"), (collected, "inner[0]")]
    for wire, at in cases:
        with subtests.test(at):
            CALLS.clear()
            ledger = Ledger()
            flow = wire().using(errors="continue", store=ledger)
            async with flow.start() as run:
                async for event in run.events():
                    if event.kind == "node_finished" and event.path == f"{at}/fails":
                        run.cancel()
                cut = await run
            assert cut.status == "cancelled"
            assert {cut.states[at], cut.states[f"{at}/lasts"]} == {"cancelled"}
            result = await flow.resume(run.id)
            assert result.status == "completed"
            assert {place: result.states[place].value for place in (at, f"{at}/fails", f"{at}/lasts")} == {
                at: "failed",
                f"{at}/fails": "failed",
                f"{at}/lasts": "done",
            }
