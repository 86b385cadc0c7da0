"""Timeouts also end what blocks or will not be cancelled; threads that cannot be ended are told (S9.2)."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import pytest
from anyio.lowlevel import EventLoopToken

from dataflow import Event, EventKind, Firing, Flow, Limit, NodeTimeout, fallback, node, this_firing, threaded
from dataflow.runtime.call import MOST_BLOCKING
from tests.behaviour.table import Played, failed_run, play, states_of
from tests.support.steady import set_forward, warn_of_blocking


@pytest.fixture(autouse=True)
async def no_thread_is_left() -> AsyncIterator[None]:
    """Let no task and no thread outlive the test."""
    tasks, threads = len(anyio.get_running_tasks()), running_threads()
    yield
    assert len(anyio.get_running_tasks()) == tasks
    for thread in running_threads() - threads:
        thread.join(20)  # what it ran has returned, it may be about to end
    assert running_threads() <= threads


def running_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if not thread.name.startswith("Trio thread")}


class Blocking:
    """Code that blocks a thread until it is released; leaving the block waits for its threads."""

    def __init__(self, token: EventLoopToken | None) -> None:
        self._token = token
        self.release = threading.Event()
        self.firings: list[Firing] = []
        self.ended: list[str] = []
        self.entered: list[bool] = []
        self.threads: list[threading.Thread] = []

    def __call__(self) -> str:
        self.threads.append(threading.current_thread())
        self.firings.append(this_firing())
        if self._token is not None:
            anyio.from_thread.run_sync(set_forward, 60, token=self._token)
        self.release.wait()
        self.ended.append("late")
        return "late"

    def is_not_wanted(self) -> bool:
        return bool(self.firings) and self.firings[0].cancelled()

    async def next_one(self) -> None:
        self.entered.append(bool(self.ended))

    def until_it_has_returned(self) -> None:
        self.release.set()
        for thread in self.threads:
            thread.join()


@contextmanager
def blocking(*, for_long: bool = False) -> Iterator[Blocking]:
    """Give code that blocks, and when it has begun a minute passes for who waits `for_long`."""
    code = Blocking(anyio.lowlevel.current_token() if for_long else None)
    try:
        yield code
    finally:
        code.until_it_has_returned()


def warned(played: Played, code: str) -> list[Event]:
    return [one for one in played.events if one.kind is EventKind.WARNING and one.data["code"] == code]


def only(function: Callable[..., Any], **settings: Any) -> Flow:
    with Flow("f") as f:
        slow = f.add(node(**settings)(function).with_(name="slow"))
        f.output("o", fallback(slow.out, "none"))
    return f


async def test_code_that_blocks_a_thread_is_timed_out_while_everything_else_goes_on() -> None:
    ticks: list[float] = []

    async def tick() -> None:
        for _ in range(5):
            ticks.append(monotonic())
            await anyio.sleep(0.02)

    async def after(x: str) -> str:
        raise AssertionError("never called")

    with blocking() as code:
        with Flow("f") as f:
            slow = f.add(node(timeout=0.1)(threaded(code)).with_(name="slow"))
            f.output("o", f.add(after, x=slow.out).out)
            f.add(tick)
        begun = monotonic()
        played = await play(f.using(errors="continue"))
        assert monotonic() - begun >= 0.1
        assert (code.ended, len(ticks)) == ([], 5)
        assert states_of(played.result) == {"slow": "timed_out", "after": "not_run", "tick": "done"}
        await until(lambda: code.firings)
        code.until_it_has_returned()
        assert code.ended == ["late"]
    assert "late" not in repr(played.events) + repr(dict(played.result.outputs))


async def test_code_that_blocks_the_event_loop_is_reported_and_timed_out_when_it_comes_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    warn_of_blocking(monkeypatch, above=MOST_BLOCKING)

    async def blocks() -> str:
        time.sleep(0.15)  # noqa: ASYNC251 - it is to block
        return "late"

    for settings, value, state in (({}, "late", "done"), ({"timeout": 0.1}, "none", "timed_out")):
        played = await play(only(blocks, on_error="skip", **settings))
        (warning, *_) = warned(played, "loop_blocked")
        assert (warning.path, warning.data["seconds"] >= 0.15) == ("slow", True)
        assert re.match(r"DF0842 slow: .* \d+\.\d+ s", warning.data["text"])
        assert (played.result["o"], states_of(played.result)) == (value, {"slow": state})
    assert "late" not in repr(played.events)


async def test_code_that_swallows_its_cancellation_or_raises_is_timed_out_all_the_same() -> None:
    seen: list[bool] = []

    async def stubborn() -> str:
        seen.append(this_firing().cancelled())
        try:
            await anyio.sleep_forever()
        except BaseException:  # noqa: BLE001 - as bad code does
            seen.append(this_firing().cancelled())
        return "late"

    async def untidy() -> str:
        try:
            await anyio.sleep_forever()
        finally:
            raise KeyError("left over")

    result = await only(stubborn, timeout=0.01, on_error="skip").run()
    assert (states_of(result), result["o"], seen) == ({"slow": "timed_out"}, "none", [False, True])
    cause = (await failed_run(only(untidy, timeout=0.01))).__cause__
    assert isinstance(cause, NodeTimeout)
    assert isinstance(cause.__cause__, KeyError)


async def test_a_firing_whose_frame_fails_is_cancelled_and_not_timed_out() -> None:
    """Also if it comes back after its time."""

    async def waits() -> None:
        waiting.set()
        await anyio.sleep_forever()

    async def clears_up() -> None:
        waiting.set()
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                set_forward(60)
                await anyio.sleep(0.01)

    async def fails() -> None:
        await waiting.wait()
        raise ValueError("no")

    for function in (waits, clears_up):
        waiting = anyio.Event()
        with Flow("f") as f:
            f.add(node(timeout=30, retries=3)(function))
            f.add(fails)
        failed = await failed_run(f)
        assert states_of(failed.result) == {function.__name__: "cancelled", "fails": "failed"}


async def test_a_thread_that_runs_on_is_reported_once_and_knows_that_it_is_not_wanted() -> None:
    with blocking(for_long=True) as code:
        played = await play(only(threaded(code), timeout=30, default="instead"))
        assert played.result["o"] == "instead"
        (warning,) = warned(played, "thread_abandoned")
        assert (warning.path, "slow" in warning.data["text"]) == ("slow", True)
        assert list(played.result.warnings) == [warning.data["text"]]
        (firing,) = code.firings
        assert firing.cancelled()
    result = await only(threaded(lambda: "quick"), timeout=30).run()
    assert (result["o"], result.warnings) == ("quick", ())


async def test_a_thread_that_runs_on_keeps_its_slot_until_it_returns() -> None:
    settings: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
        ({}, {"max_concurrency": 1}),
        ({"limit": "one"}, {"limits": {"one": 1}}),
        ({"limit": "one"}, {"limits": {"one": Limit(1)}}),
    )
    for setting, using in settings:
        with blocking(for_long=True) as code:
            with Flow("f") as f:
                slow = node(timeout=30, on_error="skip", **setting)(threaded(code))
                f.add(slow.with_(name="slow"))
                f.add(node(**setting)(code.next_one))
            async with f.using(**using).start() as run:
                await until(code.is_not_wanted, 60 + 20)
                assert code.entered == []
                code.release.set()
                assert set(states_of(await run).values()) == {"timed_out", "done"}
            assert code.entered == [True]


async def until(holds: Callable[[], object], seconds: float = 20) -> None:
    with anyio.fail_after(seconds):
        while not holds():  # noqa: ASYNC110 - as above
            await anyio.sleep(0.001)


async def test_a_shared_slot_of_a_thread_comes_back_although_its_run_and_event_loop_have_ended() -> None:
    shared = Limit(1)
    with blocking() as code:
        flow = only(threaded(code), timeout=0.3, on_error="skip", limit="one")
        flow.using(limits={"one": shared}).run_sync()
        code.until_it_has_returned()

    async def next_one() -> int:
        return 1

    flow = only(next_one, limit="one", timeout=20)
    assert flow.using(limits={"one": shared}).run_sync()["o"] == 1
