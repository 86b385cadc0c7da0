"""What firings share: opened once, in a task of its own, and closed when the sitting ends (S9.6)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from dataflow import Flow, RunFailed, collect, each, this_firing, threaded
from dataflow.authoring import sharing
from dataflow.base.backend import on_asyncio
from dataflow.errors import ArgumentInvalid


class Things:
    """Opens things, and tells what became of them."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.is_slow = False
        self.to_open = anyio.Event()
        self.opening = anyio.Event()
        self.error: Exception | None = None
        self.error_at_end: Exception | None = None

    def __call__(self, name: str) -> Callable[[], AbstractAsyncContextManager[str]]:
        return lambda: self.open(name)

    @asynccontextmanager
    async def open(self, name: str) -> AsyncIterator[str]:
        assert this_firing().path == "", "it belongs to no firing"
        self.told.append(f"open {name}")
        self.opening.set()
        try:
            if self.is_slow:
                await self.to_open.wait()
            if self.error is not None:
                raise self.error
            async with anyio.create_task_group():  # its scope may be left only by the task that entered
                yield name
            await checkpoint()
            if self.error_at_end is not None:
                raise self.error_at_end
        finally:
            self.told.append(f"close {name}")


def holding(things: Things) -> tuple[Flow, anyio.Event]:
    """Have a firing hold a thing open until it is cancelled; the event tells that it does."""
    is_used = anyio.Event()

    async def use() -> None:
        async with this_firing().opened("a", things("a")):
            is_used.set()
            await anyio.sleep_forever()

    with Flow("cancelled") as flow:
        flow.add(use)
    return flow, is_used


def using(things: Things, *names: str) -> Flow:
    """Have firings use things: all of them the first, and one the others in turn."""

    async def use(name: str) -> str:
        async with this_firing().opened(name, things(name)) as found:
            await checkpoint()
            things.told.append(f"use {name}")
            return found

    with Flow("using") as flow:
        flow.output("used", collect(flow.add(use, name=each(list(names))).out))
    return flow


async def test_many_firings_open_a_thing_once_and_it_is_closed_with_the_run() -> None:
    things = Things()
    flow = using(things, *["a"] * 20)
    async with flow.start() as run:
        assert (await run)["used"] == ["a"] * 20
        assert things.told == ["open a", *["use a"] * 20, "close a"]
    things.told.clear()
    await flow.run()
    assert things.told[0] == "open a", "the next run opens it anew"


async def test_an_opening_that_fails_fails_all_who_wait_and_is_done_anew() -> None:
    things = Things()
    things.is_slow, things.error = True, OSError("no wire")

    async def use(number: int) -> str:
        async with this_firing().opened("a", things("a")) as found:
            return found

    with Flow("failing") as flow:
        flow.output("used", collect(flow.add(use, number=each([1, 2])).out))
    async with anyio.create_task_group() as group:

        async def run() -> None:
            with pytest.raises(RunFailed) as caught:
                await flow.using(errors="continue").run()
            assert [one.message for one in caught.value.failures] == ["no wire"] * 2

        group.start_soon(run)
        await things.opening.wait()
        things.to_open.set()
    assert things.told == ["open a", "close a"]
    async with sharing() as shared:
        with pytest.raises(OSError, match="no wire"):
            async with shared.opened("a", things("a")):
                pytest.fail("it is not open")
        things.error = None
        async with shared.opened("a", things("a")) as found:
            assert found == "a"


async def test_a_cancelled_run_closes_what_is_open_and_gives_up_what_is_being_opened() -> None:
    for is_open in (True, False):
        things = Things()
        things.is_slow = not is_open
        flow, is_used = holding(things)
        async with flow.start() as run:
            await (is_used if is_open else things.opening).wait()
            run.cancel()
            assert (await run).status == "cancelled"
            assert things.told == ["open a", "close a"]


async def test_a_live_session_keeps_it_through_all_revisions() -> None:
    things = Things()

    async def use(name: str) -> str:
        async with this_firing().opened("a", things("a")):
            return name

    with Flow("live") as flow:
        flow.output("name", flow.add(use, name=flow.input("name", str)).out)
    async with flow.live(name="one") as live:
        assert await live.get("name") == "one"
        await live.update(name="two")
        assert await live.get("name") == "two"
        assert things.told == ["open a"]
    assert things.told == ["open a", "close a"]


async def test_an_error_when_closing_is_a_warning_of_the_run(caplog: pytest.LogCaptureFixture) -> None:
    things = Things()
    things.error_at_end = OSError("cut off")
    with caplog.at_level(logging.WARNING, "dataflow.shared"):
        result = await using(things, "a", "b").using(max_concurrency=1).run()
    assert result["used"] == ["a", "b"]
    assert [text[:7] for text in result.warnings] == ["DF0843 "] * 2
    assert result.warnings[0].startswith("DF0843 resource 'b': ")
    assert result.warnings[0].endswith("OSError: cut off")
    assert "cut off" in caplog.text
    assert things.told[-2:] == ["close b", "close a"]


async def test_closing_has_the_seconds_of_the_clean_up(subtests: pytest.Subtests) -> None:
    @asynccontextmanager
    async def hangs() -> AsyncIterator[str]:
        try:
            yield "x"
        finally:
            closing.set()
            await anyio.sleep_forever()

    async def use() -> str:
        async with this_firing().opened("k", hangs) as found:
            return found

    for name, cleanup, cancels in (("the end", 0.02, 0), ("no seconds", 0, 0), ("cancelled twice", 3600, 2)):
        with subtests.test(name):
            closing = anyio.Event()
            with Flow("hangs") as flow:
                flow.output("used", flow.add(use).out)
            kept = flow.using(cleanup=cleanup)
            if not cancels:
                [warning] = (await kept.run()).warnings
                assert warning.startswith("DF0843 resource 'k': ")
            elif on_asyncio():
                task = asyncio.create_task(kept.run())
                await closing.wait()
                for _ in range(cancels):
                    task.cancel()
                    await checkpoint()
                with pytest.raises(asyncio.CancelledError):
                    await task


async def test_a_block_that_raises_or_is_cancelled_closes_what_it_shares() -> None:
    things = Things()
    with pytest.raises(OSError, match="mine"):
        async with sharing() as shared, shared.opened("a", things("a")):
            raise OSError("mine")
    assert things.told == ["open a", "close a"]
    with anyio.CancelScope() as scope:
        async with sharing() as shared, shared.opened("a", things("a")):
            scope.cancel()
            await checkpoint()
    assert scope.cancelled_caught
    assert things.told == ["open a", "close a"] * 2


@contextmanager
def sync() -> Iterator[int]:
    yield 1


@asynccontextmanager
async def not_sync() -> AsyncIterator[int]:
    yield 1


async def coroutine() -> int:
    return 1


@threaded
def in_thread(open_it: Any) -> object:
    with this_firing().opened("a", open_it) as found:
        return found


async def in_run(open_it: Any) -> object:
    async with this_firing().opened("a", open_it) as found:
        return found


@pytest.mark.parametrize(
    ("function", "open_it", "code"),
    [
        (in_run, not_sync, ""), (in_run, sync, "DF0852"), (in_run, not_sync(), "DF0852"),
        (in_run, 3, "DF0852"), (in_run, coroutine, "DF0852"), (in_thread, sync, ""),
        (in_thread, not_sync, "DF0852"), (in_thread, sync(), "DF0852"),
    ],
)  # fmt: skip
async def test_what_is_opened_is_made_by_a_function(function: Any, open_it: Any, code: str) -> None:
    """A run shares it, and a direct call opens it for the block."""
    with Flow("opening") as flow:
        flow.output("found", flow.add(function, open_it=flow.input("open_it", Any)).out)
    with pytest.raises(RunFailed, match=code) if code else nullcontext():
        assert (await flow.run(open_it=open_it))["found"] == 1
    with pytest.raises(ArgumentInvalid, match=code) if code else nullcontext():
        assert await function(open_it) == 1
