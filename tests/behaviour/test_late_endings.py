"""What ends late, in the wrong moment or with the wrong exception is called what it is (S9.2, S9.5, S18)."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import pytest
import trio.testing

from dataflow import Flow, NodeTimeout, Retry, RunFailed, fallback, node, race, this_firing, threaded
from tests.behaviour.nodes import inc, src
from tests.behaviour.table import play, states_of


async def comes_late_and_cancelled(x: int) -> int:
    time.sleep(0.06)  # noqa: ASYNC251 - it blocks, so its time passes unnoticed
    raise asyncio.CancelledError


async def comes_late(x: int) -> int:
    time.sleep(0.06)  # noqa: ASYNC251 - as above
    return x


async def test_a_node_that_is_late_and_cancels_itself_is_timed_out_and_no_other_is() -> None:
    with Flow() as f:
        f.add(node(comes_late_and_cancelled).with_(timeout=0.03, on_error="skip"), x=1)
        f.output("o", f.add(inc, x=5).out)
    result = await f.run()
    assert result.outputs == {"o": 6}
    assert states_of(result) == {"comes_late_and_cancelled": "timed_out", "inc": "done"}


async def test_a_flow_node_that_is_late_because_its_code_blocks_is_timed_out() -> None:
    with Flow("inner") as inner:
        inner.output("y", inner.add(comes_late, x=1).out)
    with Flow() as f:
        f.output("o", fallback(f.add(inner.with_(timeout=0.03, on_error="skip")).out.y, 9))
    result = await f.run()
    assert result.outputs == {"o": 9}
    assert states_of(result) == {"inner": "timed_out", "inner/comes_late": "done"}


async def test_a_run_that_is_late_because_its_code_blocks_has_failed() -> None:
    with Flow() as f:
        f.output("o", f.add(comes_late, x=1).out)
    with pytest.raises(RunFailed) as raised:
        await f.using(timeout=0.03).run()
    assert isinstance(raised.value.__cause__, NodeTimeout)


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


async def test_a_node_that_gives_up_a_blocking_call_of_its_own_goes_on() -> None:
    seen: list[bool] = []
    with blocked() as gate:

        @threaded
        def blocks() -> int:
            gate.wait()
            seen.append(this_firing().cancelled())
            return 1

        async def host(x: int) -> int:
            with anyio.move_on_after(0.02):
                await blocks()
            this_firing().emit("after")
            seen.append(this_firing().cancelled())
            return x

        with Flow() as f:
            f.output("o", f.add(host, x=7).out)
        played = await play(f, {})
    assert played.result.outputs == {"o": 7}
    assert [event.data["piece"] for event in played.events if event.kind == "piece"] == ["after"]
    assert seen[0] is False
    [warning] = played.result.warnings
    assert "host gave up a blocking call" in warning


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


async def test_a_flow_node_that_has_failed_keeps_its_failure_while_its_frame_is_closed() -> None:
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
        f.add(inner)
        f.add(fails_later)
    with pytest.raises(RunFailed) as raised:
        await f.run()
    assert [one.path for one in raised.value.failures] == ["inner/fails_first", "fails_later"]
    assert states_of(raised.value.result)["inner"] == "failed"


class OddMeta(type):
    def __instancecheck__(cls, instance: object) -> bool:
        raise RuntimeError("odd")


class OddError(Exception, metaclass=OddMeta):
    """Whose class breaks what asks for it."""


class Status:
    def __eq__(self, other: object) -> bool:
        raise ValueError("ambiguous")

    __hash__ = None  # type: ignore[assignment]  # as arrays have none


class StatusError(Exception):
    status_code = Status()


class TextError(Exception):
    def __str__(self) -> str:
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("on", "error"), [((OddError,), ValueError("v")), (("timeout",), StatusError()), (("foo",), TextError())]
)
async def test_a_pattern_that_breaks_matches_nothing(
    on: tuple[type[Exception] | str, ...], error: Exception
) -> None:
    async def fails() -> None:
        raise error

    with Flow() as f:
        f.add(node(fails).with_(retries=Retry(2, on=on)))
    with pytest.raises(RunFailed) as raised:
        await f.run()
    assert raised.value.__cause__ is error
