"""What asyncio and trio do not share, seen from either."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any

import anyio
import pytest
import trio
from anyio.lowlevel import checkpoint

from dataflow.base.backend import (
    Nursery,
    cancellation_types,
    current_task,
    forget_cancellation,
    in_event_loop,
    on_asyncio,
    split_cancellation,
    threadsafe_callback,
    yield_once,
)


async def test_the_backend_is_told(anyio_backend_name: str) -> None:
    assert on_asyncio() is (anyio_backend_name == "asyncio")
    assert cancellation_types() == (anyio.get_cancelled_exc_class(),)


async def test_an_event_loop_is_running_inside_one_and_in_no_thread_of_it() -> None:
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(in_event_loop()))
    thread.start()
    thread.join()
    assert (in_event_loop(), found) == (True, [False])


def test_without_trio_everything_is_asyncio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "trio")
    assert on_asyncio()
    assert not in_event_loop()


async def test_a_nursery_waits_for_what_it_spawned() -> None:
    done: list[int] = []

    async def work() -> None:
        await checkpoint()
        done.append(len(done))

    async with Nursery() as spawn:
        spawn(work)
        spawn(work)
        assert done == []
    assert done == [0, 1]


async def test_an_error_of_a_spawned_task_cancels_the_others() -> None:
    cancelled: list[bool] = []

    async def broken() -> None:
        await checkpoint()
        raise ValueError("broken")

    async def waits() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.append(True)

    async def both() -> None:
        async with Nursery() as spawn:
            spawn(waits)
            spawn(broken)

    with pytest.raises(ExceptionGroup) as caught:
        await both()
    assert [str(error) for error in caught.value.exceptions] == ["broken"]
    assert cancelled == [True]


async def test_a_thread_wakes_the_event_loop() -> None:
    woken = anyio.Event()
    thread = threading.Thread(target=threadsafe_callback(woken.set))
    thread.start()
    await woken.wait()
    thread.join()


def test_a_loop_that_has_ended_is_not_woken() -> None:
    called: list[bool] = []

    async def main() -> Callable[[], None]:
        return threadsafe_callback(lambda: called.append(True))

    asyncio.run(main())()
    trio.run(main)()
    assert called == []


async def test_a_group_is_parted_into_its_cancellations_and_the_rest() -> None:
    kinds = cancellation_types()
    with anyio.CancelScope() as scope:
        scope.cancel()
        try:
            await checkpoint()
        except kinds as cancellation:
            cancelled, rest = split_cancellation(BaseExceptionGroup("", [ValueError(), cancellation]), kinds)
            alone = split_cancellation(cancellation, kinds)
            raise
    assert scope.cancelled_caught
    assert isinstance(cancelled, BaseExceptionGroup)
    assert [type(error) for error in cancelled.exceptions] == [*kinds]
    assert isinstance(rest, ValueError)
    assert alone[0] is None
    several = ExceptionGroup("", [ValueError(), KeyError()])
    assert split_cancellation(several, kinds)[0] is None
    assert isinstance(split_cancellation(several, kinds)[1], ExceptionGroup)


async def test_a_pending_cancel_request_arrives_when_the_loop_goes_round() -> None:
    if not on_asyncio():
        return
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await yield_once()
    task.uncancel()
    await yield_once()


async def test_cancel_requests_are_counted_and_forgotten() -> None:
    count = current_task().cancelling
    assert count() == 0
    if not on_asyncio():
        return
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    task.cancel()
    assert count() == 2
    forget_cancellation()
    assert count() == 0
    with suppress(asyncio.CancelledError):  # up to Python 3.12 it is on its way already
        await asyncio.sleep(0)


def test_trio_that_another_thread_is_just_importing_is_no_trio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trio", ModuleType("trio"))
    assert on_asyncio()
    assert not in_event_loop()


def test_a_task_factory_that_takes_no_context_is_asked_for_none() -> None:
    made: list[object] = []

    def factory(loop: asyncio.AbstractEventLoop, coroutine: Any) -> asyncio.Task[Any]:
        made.append(coroutine)
        return asyncio.Task(coroutine, loop=loop)

    async def main() -> None:
        asyncio.get_running_loop().set_task_factory(factory)
        async with Nursery() as spawn:
            spawn(checkpoint)
        assert len(made) == 1

    asyncio.run(main())
