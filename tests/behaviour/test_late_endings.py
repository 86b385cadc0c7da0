"""What ends late, in the wrong moment or with the wrong exception is called what it is (S9.2, S9.5, S18)."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import pytest
import trio.testing

from dataflow import Flow, NodeTimeout, Retry, RunFailed, fallback, node, race
from tests.behaviour.nodes import forever, inc, src
from tests.behaviour.table import failed_run, states_of
from tests.support.steady import set_forward


async def comes_late_and_cancelled(x: int) -> int:
    set_forward(60)  # as if it blocked: its time passes unnoticed
    raise asyncio.CancelledError


async def comes_late(x: int) -> int:
    set_forward(60)  # as above
    return x


async def test_nodes_flow_nodes_and_runs_that_are_late_as_their_code_blocks_are_timed_out() -> None:
    """No other node is, also if the late one cancels itself."""
    with Flow("inner") as inner:
        inner.output("y", inner.add(comes_late, x=1).out)
    with Flow() as f:
        f.add(node(comes_late_and_cancelled).with_(timeout=30, on_error="skip"), x=1)
        f.output("o", f.add(inc, x=5).out)
        f.output("y", fallback(f.add(inner.with_(timeout=30, on_error="skip")).out.y, 9))
    result = await f.run()
    assert result.outputs == {"o": 6, "y": 9}
    assert states_of(result) == {
        "comes_late_and_cancelled": "timed_out", "inc": "done", "inner": "timed_out",
        "inner/comes_late": "done",
    }  # fmt: skip
    assert isinstance((await failed_run(inner.using(timeout=30))).__cause__, NodeTimeout)


def test_a_deadline_that_passes_while_a_node_waits_for_a_slot_ends_it_then() -> None:
    entered: list[float] = []

    async def fails(x: int) -> int:
        entered.append(trio.current_time())
        raise ValueError("bad")

    async def holds(x: int) -> int:
        await anyio.sleep(1000)
        return x

    async def main() -> tuple[dict[str, str], float]:
        with Flow() as f:
            retry = Retry(3, backoff="fixed", first=10)
            f.add(node(fails).with_(retries=retry, deadline=30, on_error="skip"), x=1)
            f.output("o", f.add(holds, x=1).out)
        begun = trio.current_time()
        async with f.using(max_concurrency=1).start() as run:
            ends = [
                trio.current_time() - begun
                async for event in run.events()
                if event.kind == "node_finished" and event.path == "fails"
            ]
            result = await run
        return states_of(result), ends[0]

    states, ended = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    assert states == {"fails": "timed_out", "holds": "done"}
    assert len(entered) == 1
    assert ended == pytest.approx(30)


@contextmanager
def blocked() -> Iterator[threading.Event]:
    gate = threading.Event()
    try:
        yield gate
    finally:
        gate.set()


async def test_what_a_race_loser_raises_that_is_no_exception_comes_out_of_the_run() -> None:
    async def loser(x: int) -> int:
        try:
            await anyio.sleep_forever()
        finally:
            raise SystemExit("lost")

    with Flow() as f:
        f.output("o", race(f.add(loser, x=1).out, f.add(inc, f.add(inc, f.add(src, 1).out).out).out))
    with pytest.raises(SystemExit, match="lost"):
        await f.run()


def closed_while_it_cleans_up(**settings: Any) -> Flow:
    """Wire a flow node that has failed and still cleans up inside when the frame around it fails too."""
    closing, cleaned = anyio.Event(), anyio.Event()

    async def fails_first() -> None:
        raise KeyError("first")

    async def cleans_up() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            closing.set()
            with anyio.CancelScope(shield=True):
                await cleaned.wait()

    async def fails_later() -> None:
        await closing.wait()
        cleaned.set()
        raise ValueError("later")

    with Flow("inner") as inner:
        inner.add(cleans_up)
        inner.add(fails_first)
    with Flow() as f:
        f.add(inner.with_(**settings))
        f.add(fails_later)
    return f


async def test_a_flow_node_whose_frame_is_closed_keeps_a_failure_that_counts() -> None:
    """S9.1: not that of an attempt that another would follow, nor one that is handled."""
    ends: tuple[tuple[dict[str, Any], list[str], str], ...] = (
        ({}, ["inner/fails_first", "fails_later"], "failed"),
        ({"retries": 2}, ["fails_later"], "cancelled"),
        ({"on_error": "skip"}, ["fails_later"], "cancelled"),
    )
    for settings, paths, state in ends:
        failed = await failed_run(closed_while_it_cleans_up(**settings))
        assert [one.path for one in failed.failures] == paths
        assert states_of(failed.result)["inner"] == state


def raising(error: BaseException, **settings: Any) -> Flow:
    async def raises() -> None:
        raise error

    with Flow() as f:
        f.add(node(raises).with_(**settings))
    return f


async def test_a_cancellation_that_nobody_asked_for_fails_a_node() -> None:
    """One of an earlier scope, or one in a group."""
    stale = BaseException()
    with anyio.move_on_after(0):
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class() as cancelled:
            stale = cancelled
            raise
    alone = BaseExceptionGroup("a group", [asyncio.CancelledError()])
    beside = BaseExceptionGroup("a group", [asyncio.CancelledError(), ValueError("v")])
    for error in (stale, alone, beside):
        assert states_of((await failed_run(raising(error))).result) == {"raises": "failed"}


async def test_nothing_more_starts_in_a_run_that_is_cancelled_from_outside() -> None:
    async def stubborn(what: str) -> int:
        entered.append("stubborn")
        outside.cancel()
        try:
            await anyio.sleep_forever()
        except BaseException:  # noqa: BLE001 - what the test is about
            if what != "swallows":
                raise ValueError("in its cleanup") from None
        return 1

    async def behind(x: int) -> int:
        entered.append("behind")
        return x

    for what in ("swallows", "raises", "repeats"):
        entered: list[str] = []
        retries = Retry(2, backoff="fixed", first=0.001) if what == "repeats" else 0
        with Flow() as f:
            slow = f.add(node(stubborn).with_(retries=retries, default=3), what=what)
            f.output("o", f.add(behind, x=slow.out).out)
        with anyio.CancelScope() as outside:
            await f.run()
            entered.append("the run ended")
        assert entered == ["stubborn"]


def test_a_node_that_is_cancelled_and_lets_out_its_own_cancellation_holds_up_nothing() -> None:
    ends = {"race": "completed", "cancelled": "cancelled"}
    for how in ("failed", "race", "timeout", "cancelled", "late run"):
        status, states = anyio.run(helped_and_stopped, how)
        assert status == ends.get(how, "failed")
        assert states["helped"] == ("timed_out" if how == "timeout" else "cancelled")


async def helped_and_stopped(how: str) -> tuple[str, dict[str, str]]:
    """Stop a node that cancels a task of its own and waits for it."""

    async def helped(x: int) -> int:
        child = asyncio.ensure_future(asyncio.sleep(900))
        if how in ("timeout", "late run"):
            set_forward(60)
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(900)
        child.cancel()
        await child
        return x

    async def fails(x: int) -> int:
        await asyncio.sleep(0)
        raise ValueError("bad")

    async def wins(x: int) -> int:
        await asyncio.sleep(0)
        return x

    with Flow() as f:
        slow = f.add(node(helped).with_(timeout=30 if how == "timeout" else None), x=1)
        if how == "failed":
            f.add(fails, x=1)
        f.output("o", race(slow.out, f.add(wins, x=2).out) if how == "race" else slow.out)
    using = f.using(timeout=30) if how == "late run" else f
    async with using.start() as run:
        if how == "cancelled":
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            run.cancel()
        try:
            result = await run
        except RunFailed as failed:
            result = failed.result
    return result.status, states_of(result)


class StopError(BaseException):
    """No Exception, and nothing that an event loop treats in a way of its own."""


def test_what_breaks_out_of_the_engine_itself_ends_the_run_bare() -> None:
    class InterruptingError(Exception):
        """Asked what kind of error it is, it stops everything."""

        @property
        def response(self) -> object:
            raise kind("asked for")

    async def fails(x: int) -> int:
        raise InterruptingError

    with Flow() as f:
        f.add(node(fails).with_(retries=Retry(1, on=("timeout",))), x=1)
        f.add(forever, x=1)
    for backend in ("asyncio", "trio"):
        for kind in (StopError, KeyboardInterrupt):
            with pytest.raises(kind, match="asked for"):
                anyio.run(f.run, backend=backend)
