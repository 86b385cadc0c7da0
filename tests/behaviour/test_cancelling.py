"""Cancelling is structured, and the record tells the truth (S9.6, S18)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from anyio import CancelScope, Event, create_task_group, get_running_tasks, sleep_forever
from anyio.lowlevel import checkpoint

from dataflow import EventKind, Flow, Run, RunFailed, collect, each
from tests.behaviour.nodes import ident, inc, one, src, tallying
from tests.behaviour.table import reasons, states_of


@pytest.fixture(autouse=True)
async def nothing_is_left() -> AsyncIterator[None]:
    """Let no task outlive the test."""
    before = len(get_running_tasks())
    yield
    assert len(get_running_tasks()) == before


def hanging(begun: Event, *, items: int = 0) -> Flow:
    """Wire src to a node that hangs to one that is never reached; with items, the node hangs in each."""
    waiting = max(items, 1)

    async def hang(x: int) -> int:
        nonlocal waiting
        waiting -= 1
        if not waiting:
            begun.set()
        await sleep_forever()
        return x

    with Flow() as f:
        first = f.add(src, x=1)
        if items:
            stuck = f.add(hang, x=each(list(range(items))))
            f.output("o", f.add(ident, x=collect(stuck.out)).out)
        else:
            f.output("o", f.add(inc, x=f.add(hang, x=first.out).out).out)
        f.output("first", first.out)
    return f


async def until_begun(flow: Flow, begun: Event, runs: list[Run]) -> None:
    with tallying():
        async with flow.start() as run:
            runs.append(run)
            await begun.wait()
            await sleep_forever()


async def test_cancel_ends_what_runs_and_keeps_what_is_done() -> None:
    begun = Event()
    with tallying() as tally:
        async with hanging(begun).start() as run:
            await begun.wait()
            run.cancel("enough")
            result = await run
    assert run.status == result.status == "cancelled"
    assert states_of(result) == {"src": "done", "hang": "cancelled", "inc": "not_run"}
    assert result.outputs == {"first": 1}
    assert tally.runs() == {"src": 1}
    assert reasons(result, "hang") == ["  because enough"]
    assert reasons(result, "inc") == ["  because enough"]


async def test_cancel_ends_every_item_of_a_map() -> None:
    begun = Event()
    with tallying():
        async with hanging(begun, items=20).start() as run:
            await begun.wait()
            run.cancel()
            result = await run
    states = states_of(result)
    assert {states.pop(f"hang[{number}]") for number in range(20)} == {"cancelled"}
    assert states == {"src": "done", "hang": "cancelled", "ident": "not_run"}


async def test_cancel_before_the_first_node() -> None:
    with tallying() as tally:
        async with hanging(Event()).start() as run:
            events = run.events()
            run.cancel("at once")
            kinds = [event.kind async for event in events]
            result = await run
    assert states_of(result) == {"src": "not_run", "hang": "not_run", "inc": "not_run"}
    assert tally.runs() == {}
    assert kinds[0] is EventKind.RUN_STARTED
    assert kinds[-1] is EventKind.RUN_FINISHED


async def test_cancel_of_a_run_that_is_failing_keeps_the_failure() -> None:
    begun = Event()

    async def hang() -> int:
        begun.set()
        await sleep_forever()
        return 1

    async def fail() -> int:
        raise LookupError("first")

    with Flow() as f:
        f.add(fail)
        f.add(hang)
    async with f.using(errors="continue").start() as run:
        await begun.wait()
        run.cancel()
        with pytest.raises(RunFailed, match="first") as raised:
            await run
    assert states_of(raised.value.result) == {"fail": "failed", "hang": "cancelled"}


async def test_cancel_twice_keeps_the_first_reason() -> None:
    begun = Event()
    with tallying():
        async with hanging(begun).start() as run:
            await begun.wait()
            run.cancel("first")
            run.cancel("second")
            assert reasons(await run, "inc") == ["  because first"]


async def test_cancel_after_the_end_changes_nothing() -> None:
    with Flow() as f:
        f.output("o", f.add(one).out)
    with tallying():
        async with f.start() as run:
            await run
            run.cancel("late")
            result = await run
    run.cancel("later")
    assert (await run).status == result.status == "completed"


async def test_a_node_may_cancel_its_own_run() -> None:
    runs: list[Run] = []

    async def stop(x: int) -> int:
        runs[0].cancel("from inside")
        await checkpoint()
        return x

    with Flow() as f:
        f.output("o", f.add(inc, x=f.add(stop, x=1).out).out)
    with tallying():
        async with f.start() as run:
            runs.append(run)
            result = await run
    assert states_of(result) == {"stop": "cancelled", "inc": "not_run"}


async def test_an_outer_cancel_scope_ends_the_run() -> None:
    begun, runs = Event(), list[Run]()
    async with create_task_group() as group:
        group.start_soon(until_begun, hanging(begun), begun, runs)
        await begun.wait()
        group.cancel_scope.cancel()
    result = await runs[0]
    assert result.status == "cancelled"
    assert states_of(result) == {"src": "done", "hang": "cancelled", "inc": "not_run"}


async def test_an_outer_cancel_scope_ends_flow_run() -> None:
    begun, ended = Event(), []

    async def owner() -> None:
        with tallying():
            try:
                await hanging(begun).run()
            finally:
                ended.append("left")

    with CancelScope() as scope:
        async with create_task_group() as group:
            group.start_soon(owner)
            await begun.wait()
            scope.cancel()
    assert ended == ["left"]


async def test_the_stream_ends_when_the_run_is_cancelled_from_outside() -> None:
    begun, streams = Event(), []

    async def owner() -> None:
        with tallying():
            async with hanging(begun).start() as run:
                streams.append(run.events())
                await sleep_forever()

    async with create_task_group() as group:
        group.start_soon(owner)
        await begun.wait()
        group.cancel_scope.cancel()
    events = [event async for event in streams[0]]
    assert (events[-1].kind, events[-1].data) == (EventKind.RUN_FINISHED, {"status": "cancelled"})


async def test_an_error_in_the_block_cancels_the_run_and_comes_out_bare() -> None:
    begun, runs = Event(), list[Run]()

    async def owner() -> None:
        async with hanging(begun).start() as run:
            runs.append(run)
            await begun.wait()
            raise LookupError("mine")

    with tallying(), pytest.raises(LookupError, match="mine"):
        await owner()
    result = await runs[0]
    assert result.status == "cancelled"
    assert states_of(result) == {"src": "done", "hang": "cancelled", "inc": "not_run"}
    assert "LookupError" in result.why("hang")


async def test_leaving_the_block_waits_for_the_end_of_the_run() -> None:
    gate = Event()

    async def slow() -> int:
        await gate.wait()
        return 1

    with Flow() as f:
        f.output("o", f.add(slow).out)
    async with f.start() as run:
        gate.set()
    assert run.status == "completed"
    assert (await run)["o"] == 1
