"""Blocking calls in daemon threads of our own."""

from __future__ import annotations

import contextvars
import functools
import threading

import anyio
import pytest

from dataflow import Flow, this_firing, threaded
from dataflow.core.threads import call_in_thread

NAME: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="outside")


def add(a: int, b: int = 1, *, c: int = 0) -> int:
    return a + b + c


async def test_a_function_is_called_with_its_arguments() -> None:
    assert await call_in_thread(add, (1,)) == 2
    assert await call_in_thread(add, (1, 2), {"c": 3}) == 6
    assert await call_in_thread(functools.partial(add, 1)) == 2


async def test_a_parameter_may_be_called_self() -> None:
    @threaded
    def following(*, self: int) -> int:
        return self + 1

    assert await following(self=1) == 2
    flow = Flow()
    flow.output("next", flow.add(following, self=1).out)
    assert (await flow.run())["next"] == 2


async def test_it_runs_in_a_named_daemon_thread() -> None:
    def current() -> threading.Thread:
        return threading.current_thread()

    thread = await call_in_thread(current)
    assert thread is not threading.current_thread()
    assert (thread.daemon, thread.name) == (True, "dataflow current")


@pytest.mark.parametrize("error", [ValueError("broken"), SystemExit(3), KeyboardInterrupt()])
async def test_an_error_is_raised_to_who_waits(error: BaseException) -> None:
    def broken() -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        await call_in_thread(broken)
    assert caught.value is error


async def test_contextvars_are_seen_and_what_is_set_stays_inside() -> None:
    def setting() -> tuple[str, str]:
        before = NAME.get()
        NAME.set("inside")
        return before, NAME.get()

    token = NAME.set("caller")
    assert await call_in_thread(setting) == ("caller", "inside")
    assert NAME.get() == "caller"
    NAME.reset(token)


async def test_the_event_loop_goes_on_meanwhile() -> None:
    release = threading.Event()

    async def releases() -> None:
        release.set()

    async with anyio.create_task_group() as group:
        group.start_soon(releases)
        assert await call_in_thread(release.wait)


async def test_a_cancelled_caller_does_not_wait_for_the_thread() -> None:
    started, release, ended = threading.Event(), threading.Event(), threading.Event()

    def blocking() -> None:
        started.set()
        release.wait()
        ended.set()

    async with anyio.create_task_group() as group:
        group.start_soon(call_in_thread, blocking)
        await call_in_thread(started.wait)
        group.cancel_scope.cancel()
    assert not ended.is_set()
    release.set()
    await call_in_thread(ended.wait)


def test_a_loop_that_ended_does_not_disturb_the_thread() -> None:
    release, raised = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def blocking() -> None:
        threads.append(threading.current_thread())
        raised.set()
        release.wait()

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(call_in_thread, blocking)
            await call_in_thread(raised.wait)
            group.cancel_scope.cancel()

    for backend in ("asyncio", "trio"):
        release.clear()
        raised.clear()
        anyio.run(main, backend=backend)
        release.set()
    for thread in threads:
        thread.join()
    assert len(threads) == 2


@threaded
def where(a: int, *, b: str = "x") -> str:
    return f"{a}{b} {threading.current_thread().name} {this_firing().path}"


async def test_a_threaded_node_runs_in_a_thread_and_knows_its_firing() -> None:
    with Flow() as flow:
        flow.output("text", flow.add(where, 1, b="y").out)
    assert (await flow.run())["text"] == "1y dataflow where where"


async def test_a_threaded_node_can_be_called_outside_a_run() -> None:
    assert await where(2) == "2x dataflow where "
