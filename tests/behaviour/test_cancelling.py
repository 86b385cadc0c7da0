"""Cancelling is structured, of runs and of single nodes, and the record tells the truth (S9.6, S18)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import trio
from anyio import Event, create_task_group, sleep_forever

from dataflow import EventKind, Flow, Run, RunFailed, collect, each, node
from tests.behaviour.nodes import fails, forever, gated, ident, inc, src, tallying
from tests.behaviour.table import cancelled, reasons, states_of

pytestmark = pytest.mark.usefixtures("nothing_is_left")
ENDED = {"src": "done", "hang": "cancelled", "inc": "not_run"}


def hanging(begun: Event, *, items: int = 0) -> Flow:
    """Wire src to a node that hangs to one that is never reached; with items, the node hangs in each."""
    waiting = max(items, 1)

    async def hang(x: int) -> int:
        nonlocal waiting
        waiting -= 1
        if not waiting:
            begun.set()
        return await forever(x)

    with Flow() as f:
        first = f.add(src, x=1)
        if items:
            stuck = f.add(hang, x=each(list(range(items))))
            f.output("o", f.add(ident, x=collect(stuck.out)).out)
        else:
            f.output("o", f.add(inc, x=f.add(hang, x=first.out).out).out)
        f.output("first", first.out)
    return f


async def test_cancel_ends_what_runs_and_keeps_what_is_done() -> None:
    begun = Event()
    with tallying() as tally:
        async with hanging(begun).start() as run:
            await begun.wait()
            run.cancel("enough")
            run.cancel("again")
            result = await run
    assert run.status == result.status == "cancelled"
    assert states_of(result) == ENDED
    assert (result.outputs, tally.runs()) == ({"first": 1}, {"src": 1})
    assert reasons(result, "hang") == reasons(result, "inc") == ["  because enough"]


async def test_cancel_ends_every_item_of_a_map() -> None:
    begun = Event()
    states = states_of(await cancelled(hanging(begun, items=20), begun))
    assert {states.pop(f"hang[{number}]") for number in range(20)} == {"cancelled"}
    assert states == {"src": "done", "hang": "cancelled", "ident": "not_run"}


async def test_cancel_before_the_first_node() -> None:
    with tallying() as tally:
        async with hanging(Event()).start() as run:
            events = run.events()
            run.cancel("at once")
            kinds = [event.kind async for event in events]
    assert states_of(await run) == dict.fromkeys(ENDED, "not_run")
    assert (tally.runs(), kinds[0], kinds[-1]) == ({}, EventKind.RUN_STARTED, EventKind.RUN_FINISHED)


async def test_cancel_of_a_run_that_is_failing_keeps_the_failure() -> None:
    with Flow() as f:
        f.add(fails)
        f.add(node(forever).with_(name="hang"))
    with pytest.raises(RunFailed, match="bad 0") as raised:
        await cancelled(f.using(errors="continue"), _set())
    assert states_of(raised.value.result) == {"fails": "failed", "hang": "cancelled"}


def _set() -> Event:
    event = Event()
    event.set()
    return event


async def test_an_outer_cancel_scope_ends_the_run_and_its_stream() -> None:
    begun, runs, streams = Event(), list[Run](), []

    async def owner() -> None:
        async with hanging(begun).start() as run:
            runs.append(run)
            streams.append(run.events())
            await sleep_forever()

    async with create_task_group() as group:
        group.start_soon(owner)
        await begun.wait()
        group.cancel_scope.cancel()
    result = await runs[0]
    assert (result.status, states_of(result)) == ("cancelled", ENDED)
    last = [event async for event in streams[0]][-1]
    assert (last.kind, last.data) == (EventKind.RUN_FINISHED, {"status": "cancelled"})


async def test_an_error_in_the_block_cancels_the_run_and_is_raised_bare() -> None:
    begun, runs = Event(), list[Run]()

    async def owner() -> None:
        async with hanging(begun).start() as run:
            runs.append(run)
            await begun.wait()
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await owner()
    result = await runs[0]
    assert (result.status, states_of(result)) == ("cancelled", ENDED)
    assert "LookupError" in result.why("hang")


async def test_leaving_the_block_waits_for_the_end_of_the_run() -> None:
    gate = Event()
    with Flow() as f:
        f.output("o", f.add(gated(gate), x=1).out)
    async with f.start() as run:
        gate.set()
    assert (run.status, (await run)["o"]) == ("completed", 1)


async def states_when_cancelled(function: Any, begun: Event) -> dict[str, str]:
    with Flow() as f:
        f.add(node(function))
    return states_of(await cancelled(f, begun))


async def test_a_node_that_swallows_its_cancellation_is_cancelled_all_the_same() -> None:
    begun = Event()

    async def stubborn() -> int:
        begun.set()
        try:
            await sleep_forever()
        except BaseException:  # noqa: BLE001 - the mistake under test
            return 5
        return 1

    with Flow() as f:
        f.output("o", f.add(inc, x=f.add(stubborn).out).out)
    with tallying() as tally:
        assert states_of(await cancelled(f, begun)) == {"stubborn": "cancelled", "inc": "not_run"}
    assert tally.runs() == {}


async def start_in_own_group(*functions: Any) -> None:
    if trio.lowlevel.in_trio_task():
        async with trio.open_nursery() as nursery:
            for function in functions:
                nursery.start_soon(function)
    else:
        async with asyncio.TaskGroup() as group:
            for function in functions:
                group.create_task(function())


async def test_a_task_group_of_the_loops_own_kind_is_cancelled_with_its_node() -> None:
    """Also if a child raises on being cancelled, which is no failure."""

    async def noisy() -> None:
        try:
            await sleep_forever()
        finally:
            raise ValueError("noise")

    for child in (sleep_forever, noisy):
        begun = Event()

        async def parent(begun: Any = begun, child: Any = child) -> int:
            begun.set()
            await start_in_own_group(child, sleep_forever)
            return 1

        assert await states_when_cancelled(parent, begun) == {"parent": "cancelled"}


async def test_a_node_may_handle_the_failure_of_its_own_task_group() -> None:
    async def failing() -> None:
        raise ValueError("child")

    async def parent() -> str:
        try:
            await start_in_own_group(failing, sleep_forever)
        except* ValueError:
            pass
        return "handled"

    with Flow() as f:
        f.output("o", f.add(ident, x=f.add(parent).out).out)
    with tallying(checkpoints=1):
        assert (await f.run())["o"] == "handled"
