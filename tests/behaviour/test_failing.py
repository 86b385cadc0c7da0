"""How a run fails: what it cancels, raises and leaves; one that cannot go on (S8.4, S9.4, S9.5)."""

from __future__ import annotations

from typing import Any

import pytest
from anyio import Event, sleep_forever
from anyio.lowlevel import checkpoint

from dataflow import EventKind, Flow, RunFailed, each
from tests.behaviour.nodes import inc, pair, src, tallying
from tests.behaviour.table import failed_run, play, reasons, states_of

pytestmark = pytest.mark.usefixtures("nothing_is_left")


class BoomError(Exception):
    """The user's own."""


async def fail(x: int) -> int:
    raise BoomError(f"boom {x}")


def failing_join(gate: Event, begun: Event | None, *, swapped: bool) -> Flow:
    """Wire B05: a fails, b waits at the gate, j reads both; `begun` holds a until b has begun."""

    async def a(x: int) -> int:
        if begun is not None:
            await begun.wait()
        raise ValueError("bad a")

    async def b(x: int) -> int:
        if begun is not None:
            begun.set()
        await gate.wait()
        return x

    with Flow("B05") as f:
        source = f.add(src, x=1)
        if swapped:
            second, first = f.add(b, x=source.out), f.add(a, x=source.out)
        else:
            first, second = f.add(a, x=source.out), f.add(b, x=source.out)
        f.output("j", f.add(pair, p=first.out, q=second.out).out)
    return f


async def test_a_failed_branch_does_not_leave_the_join_waiting() -> None:
    """B05(i)"""
    for swapped in (False, True):
        for begun in (None, Event()):
            with tallying() as tally:
                failed = await failed_run(failing_join(Event(), begun, swapped=swapped))
            assert [list(f)[:5] for f in failed.failures] == [["a", "a", 1, "ValueError", "bad a"]]
            states = {"src": "done", "a": "failed", "b": "cancelled", "pair": "not_run"}
            assert (failed.result.status, states_of(failed.result)) == ("failed", states)
            assert tally.runs() == {"src": 1}
            for place in ("pair", "b", "pair.out"):
                assert reasons(failed.result, place) == ["  because a failed: ValueError: bad a"]


async def test_independent_parts_finish_under_continue() -> None:
    """B05(ii)"""
    gate = Event()
    async with failing_join(gate, Event(), swapped=False).using(errors="continue").start() as run:
        async for event in run.events():
            if event.path == "a" and event.kind is EventKind.NODE_FINISHED:
                gate.set()
        with pytest.raises(RunFailed) as raised:
            await run
    result = raised.value.result
    assert states_of(result) == {"src": "done", "a": "failed", "b": "done", "pair": "not_run"}
    port: Any = "b.out"
    assert (result.status, result.get(port)) == ("failed", 1)


async def test_the_cause_is_the_users_own_exception_and_the_traceback_begins_in_the_users_file() -> None:
    with Flow() as f:
        f.output("o", f.add(fail, x=3).out)
    failed = await failed_run(f)
    assert str(failed).endswith("failed: fail: BoomError: boom 3")
    assert isinstance(failed.__cause__, BoomError)
    assert failed.__cause__.args == ("boom 3",)
    lines = failed.failures[0].traceback.splitlines()
    assert [line for line in lines if "File" in line] == [line for line in lines if "test_failing.py" in line]
    assert '    raise BoomError(f"boom {x}")' in lines
    assert lines[-1].endswith("BoomError: boom 3")


async def test_what_a_node_raises_on_being_cancelled_is_no_failure() -> None:
    begun = Event()

    async def noisy() -> int:
        begun.set()
        try:
            await sleep_forever()
        finally:
            raise RuntimeError("noise")

    async def fail_later() -> int:
        await begun.wait()
        raise BoomError("first")

    with Flow() as f:
        f.add(noisy)
        f.add(fail_later)
    failed = await failed_run(f)
    assert [failure.path for failure in failed.failures] == ["fail_later"]
    assert type(failed.__cause__) is BoomError
    assert states_of(failed.result) == {"noisy": "cancelled", "fail_later": "failed"}


async def either(late: bool, x: object, gate: Any) -> int:
    if not late:
        await gate.wait()
    gate.set()
    raise BoomError("late" if late else "early")


async def test_failures_are_a_group_in_the_order_of_their_nodes_not_of_time() -> None:
    for scope in ("root", "map", "loop"):
        gate = Event()
        with Flow() as f:
            if scope == "map":
                f.add(either, late=each([False, True]), x=1, gate=gate)
            else:
                with f.loop(limit=1) as it:
                    v = it.carry(0)
                    v.next(v.out)
                    for late in (False, True):
                        f.add(either, late=late, x=v.out if scope == "loop" else 1, gate=gate)
        failed = await failed_run(f.using(errors="continue"))
        assert [failure.message for failure in failed.failures] == ["early", "late"]
        group = failed.__cause__
        assert isinstance(group, ExceptionGroup)
        assert [(type(e), str(e)) for e in group.exceptions] == [(BoomError, "early"), (BoomError, "late")]


async def test_a_failure_is_raised_by_the_block_and_each_time_the_run_is_awaited() -> None:
    with Flow() as f:
        f.add(fail, x=1)
    with pytest.raises(RunFailed, match="boom 1"):
        async with f.start():
            await checkpoint()
    async with f.start() as run:
        for _ in range(2):
            with pytest.raises(RunFailed, match="boom 1"):
                await run
    with pytest.raises(RunFailed, match="boom 1"):
        await run


async def test_an_unsettled_port_fails_the_run_and_its_stream_ends() -> None:
    with Flow() as f:
        f.output("o", f.add(inc, x=f.add(src, x=f.input("x", int)).out).out)
    f.compile().root.waits[1] += 1  # its last node waits for one port more than it has
    played = await play(f, {"x": 1})
    assert played.failed is not None
    [failure] = played.failed.failures
    assert "internal error" in failure.message
    assert "inc.out" in failure.message
    assert "src.out" not in failure.message
    assert (played.result.status, played.tally.runs()) == ("failed", {"src": 1})
    last = played.events[-1]
    assert (last.kind, last.data) == (EventKind.RUN_FINISHED, {"status": "failed", "failures": [""]})
