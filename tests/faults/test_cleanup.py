"""F-C07: the clean-up of a node that is cut short may wait, for as long as `using(cleanup=)` allows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import anyio
import pytest
from anyio.lowlevel import checkpoint

from dataflow import DataflowError, Flow, RunFailed, collect, each, node, race, this_firing
from dataflow.base.backend import on_asyncio

WHOLE: Final = ["closing", "closed"]


class Log(list[str]):
    """What nodes did, and an event that is set once one of them waits."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = anyio.Event()

    async def wait(self) -> None:
        self.waiting.set()
        await anyio.sleep_forever()

    async def close(self) -> None:
        self.append("closing")
        for _ in range(3):
            await anyio.sleep(0.001)
        self.append("closed")


def plain(log: Log) -> Callable[..., Any]:
    async def hangs(x: int) -> int:
        try:
            await log.wait()
        finally:
            await log.close()
        return x

    return hangs


def generator(log: Log) -> Callable[..., Any]:
    async def hangs(x: int) -> AsyncIterator[int]:
        try:
            yield x
            await log.wait()
        finally:
            await log.close()

    return hangs


def manager(log: Log) -> Callable[..., Any]:
    @asynccontextmanager
    async def connection() -> AsyncIterator[None]:
        try:
            yield
        finally:
            await log.close()

    async def hangs(x: int) -> int:
        async with connection(), anyio.create_task_group() as group:
            group.start_soon(anyio.sleep_forever)
            with anyio.move_on_after(60):
                await log.wait()
        return x

    return hangs


async def fails(x: int) -> int:
    raise ValueError(x)


def only(hangs: Callable[..., Any], **settings: Any) -> Flow:
    with Flow() as f:
        f.output("o", f.add(node(hangs).with_(name="hangs", **settings), x=1).out)
    return f


async def timeout(_: Log, hangs: Any) -> None:
    await only(hangs, timeout=0.02, on_error="skip").run()


async def deadline(_: Log, hangs: Any) -> None:
    await only(hangs, deadline=0.02, on_error="skip").run()


async def timeout_of_the_flow_node(_: Log, hangs: Any) -> None:
    with Flow() as f:
        f.output("o", f.add(only(hangs).with_(timeout=0.02, on_error="skip")).out.o)
    await f.run()


async def timeout_of_the_run(_: Log, hangs: Any) -> None:
    with pytest.raises(RunFailed):
        await only(hangs).using(timeout=0.02).run()


async def cancel(log: Log, hangs: Any) -> None:
    async with only(hangs).start() as run:
        await log.waiting.wait()
        run.cancel()
        assert (await run).states["hangs"].value == "cancelled"


async def leaving_the_block(log: Log, hangs: Any) -> None:
    with suppress(KeyError):
        async with only(hangs).start():
            await log.waiting.wait()
            raise KeyError


async def failure_of_a_sibling(log: Log, hangs: Any) -> None:
    async def fails_then(x: int) -> int:
        await log.waiting.wait()
        raise ValueError(x)

    with Flow() as f:
        f.add(hangs, x=1)
        f.add(fails_then, x=1)
    with pytest.raises(RunFailed):
        await f.run()


async def failure_of_another_item(log: Log, hangs: Any) -> None:
    async def item(x: int) -> Any:
        if x:
            await log.waiting.wait()
            raise ValueError(x)
        found = hangs(x)
        return await found if isinstance(found, Awaitable) else [piece async for piece in found]

    with Flow() as f:
        f.output("o", collect(f.add(item, x=each([0, 1])).out))
    with pytest.raises(RunFailed):
        await f.run()


async def lost_race(log: Log, hangs: Any) -> None:
    async def wins(x: int) -> int:
        await log.waiting.wait()
        return x

    with Flow() as f:
        f.output("o", race(f.add(wins, x=1).out, f.add(hangs, x=1).out))
    assert (await f.run())["o"] == 1


async def cancelled_from_outside(log: Log, hangs: Any) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(only(hangs).run)
        await log.waiting.wait()
        group.cancel_scope.cancel()


async def end_of_a_live_session(log: Log, hangs: Any) -> None:
    with suppress(DataflowError):
        async with only(hangs).live() as session, anyio.create_task_group() as group:
            group.start_soon(session.get, "o")
            await log.waiting.wait()
            group.cancel_scope.cancel()


WAYS: Final = (
    timeout, deadline, timeout_of_the_flow_node, timeout_of_the_run, cancel, leaving_the_block,
    failure_of_a_sibling, failure_of_another_item, lost_race, cancelled_from_outside, end_of_a_live_session,
)  # fmt: skip


@pytest.mark.parametrize("kind", [plain, generator, manager])
async def test_clean_up_may_wait_however_a_node_is_cut_short(kind: Any, subtests: pytest.Subtests) -> None:
    for way in WAYS:
        with subtests.test(way.__name__):
            log = Log()
            await way(log, kind(log))
            assert log == WHOLE


def stubborn(log: Log) -> Callable[..., Any]:
    async def hangs(x: int) -> int:
        try:
            await log.wait()
        finally:
            log.append("began")
            await checkpoint()
            log.append("went on")
            await anyio.sleep_forever()
        return x

    return hangs


async def test_clean_up_that_takes_longer_is_cancelled_again(subtests: pytest.Subtests) -> None:
    for cleanup, expected in ((0, ["began"]), (0.02, ["began", "went on"])):
        with subtests.test(f"{cleanup=}"):
            log = Log()
            async with only(stubborn(log)).using(cleanup=cleanup).start() as run:
                await log.waiting.wait()
                run.cancel()
                assert (await run).status == "cancelled"
            assert log == expected


def shields_clean_up(log: Log) -> Callable[..., Any]:
    async def hangs(x: int) -> int:
        try:
            await log.wait()
        finally:
            with anyio.CancelScope(shield=True):
                await log.close()
        return x

    return hangs


def shields_at_that_moment(log: Log) -> Callable[..., Any]:
    async def hangs(x: int) -> int:
        with anyio.CancelScope(shield=True):
            log.waiting.set()
            await log.close()
        await anyio.sleep_forever()
        return x

    return hangs


def shields_in_a_task(log: Log) -> Callable[..., Any]:
    async def hangs(x: int) -> int:
        async with anyio.create_task_group() as group:
            group.start_soon(shields_clean_up(log), x)
        return x

    return hangs


async def test_shielded_code_ends_whatever_the_grace(subtests: pytest.Subtests) -> None:
    """As the page on errors shows, for tasks that a node starts, and for what must not be interrupted."""
    for kind in (shields_clean_up, shields_at_that_moment, shields_in_a_task):
        with subtests.test(kind.__name__):
            log = Log()
            async with only(kind(log)).using(cleanup=0).start() as run:
                await log.waiting.wait()
                run.cancel()
                assert (await run).status == "cancelled"
            assert log == WHOLE


async def test_a_resource_that_was_being_opened_is_closed() -> None:
    log = Log()

    @asynccontextmanager
    async def opens() -> AsyncIterator[None]:
        try:
            await log.wait()
            yield
        finally:
            with anyio.CancelScope(shield=not on_asyncio()):
                await log.close()

    async def hangs(x: int) -> int:
        async with this_firing().opened("a", opens):
            return x

    await cancel(log, hangs)
    assert log == WHOLE


async def test_a_second_cancellation_does_not_wait_for_the_grace() -> None:
    """On asyncio only: on trio a scope is cancelled once."""
    if not on_asyncio():
        return
    log, closing = Log(), asyncio.Event()

    async def hangs(x: int) -> int:
        try:
            await log.wait()
        finally:
            closing.set()
            await anyio.sleep_forever()
        return x

    task = asyncio.create_task(only(hangs).using(cleanup=3600).run())
    await log.waiting.wait()
    task.cancel()
    await closing.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_no_cancellation_ends_shielded_code(subtests: pytest.Subtests) -> None:
    """On asyncio the second and third one, as of nested `asyncio.timeout`, reach every task of the run."""
    if not on_asyncio():
        return
    for kind in (shields_clean_up, shields_at_that_moment, shields_in_a_task):
        with subtests.test(kind.__name__):
            log = Log()
            task = asyncio.create_task(only(kind(log)).run())
            await log.waiting.wait()
            while "closed" not in log:
                task.cancel()
                await checkpoint()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert log == WHOLE


def test_the_grace_is_a_setting_of_flows_and_documents() -> None:
    flow = only(fails)
    for given in (0, 0.5, 30):
        assert flow.using(cleanup=given).settings.cleanup == given
    for wrong in (-1, float("inf"), float("nan"), True, "5"):
        with pytest.raises(ValueError, match="DF"):
            flow.using(cleanup=wrong)  # type: ignore[arg-type]
