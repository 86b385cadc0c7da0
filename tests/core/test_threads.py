"""Blocking calls in daemon threads of our own."""

from __future__ import annotations

import threading

import anyio

from dataflow import Flow, this_firing, threaded
from dataflow.core.threads import call_in_thread


def add(a: int, b: int = 1, *, c: int = 0) -> int:
    return a + b + c


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
