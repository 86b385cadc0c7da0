"""Nothing outlives a run: no process, thread, open file or object (S9.2, S9.6)."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import pytest
from anyio import CancelScope, Event, open_process, sleep_forever
from anyio.streams.text import TextReceiveStream

from dataflow import Flow, RunFailed, collect, each, threaded

PROC: Final = Path("/proc/self")
pytestmark = pytest.mark.skipif(not PROC.exists(), reason="what a process holds is read from /proc")

#: Tells that it has begun, and then ends only if it is killed.
STUBBORN: Final = "import threading; print('begun', flush=True); threading.Event().wait()"
PASSING: Final = "print('done', flush=True)"


class Held(NamedTuple):
    children: set[int]
    files: Counter[str]

    def __sub__(self, before: Held) -> Held:
        """Return what is held now and was not before; what earlier tests held may be let go meanwhile."""
        return Held(self.children - before.children, self.files - before.files)


NOTHING: Final = Held(set(), Counter())


def held() -> Held:
    gc.collect()
    children = [int(pid) for path in PROC.glob("task/*/children") for pid in path.read_text().split()]
    files: Counter[str] = Counter()
    for entry in (PROC / "fd").iterdir():
        if entry.is_symlink():  # the one that lists the folder is closed by now
            files[str(entry.readlink()).split("[")[0].split(":")[0]] += 1
    return Held(set(children), files)


async def plain(x: int) -> int:
    return x


async def failing(x: int) -> int:
    raise ValueError(f"bad {x}")


@threaded
def in_a_thread(x: int) -> int:
    return x


async def starts_a_process(x: int) -> int:
    async with await open_process([sys.executable, "-ISc", PASSING]) as process:
        await process.wait()
    return x


class Hanging:
    def __init__(self) -> None:
        self.begun = Event()
        self.pids: list[int] = []

    async def node(self, x: int) -> int:
        self.begun.set()
        await sleep_forever()
        return x

    async def process(self, x: int) -> int:
        async with await open_process([sys.executable, "-ISc", STUBBORN]) as process:
            self.pids.append(process.pid)
            assert process.stdout is not None
            await TextReceiveStream(process.stdout).receive()
            self.begun.set()
            await process.wait()
        return x


def over_items(node: Callable[..., Awaitable[int]]) -> Flow:
    with Flow() as f:
        first = f.add(plain, x=1)
        f.output("items", collect(f.add(node, x=each([1, 2, 3])).out))
        with f.loop(limit=2) as it:
            v = it.carry(first.out)
            v.next(f.add(node, x=v.out).out)
        f.output("last", v.final)
    return f


async def failing_run(flow: Flow) -> None:
    with pytest.raises(RunFailed, match="bad"):
        await flow.run()


async def cancelled(*, with_processes: bool = False) -> None:
    hanging = Hanging()
    async with over_items(hanging.process if with_processes else hanging.node).start() as run:
        await hanging.begun.wait()
        run.cancel()
        await run
    for pid in hanging.pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


async def cancelled_from_outside() -> None:
    hanging = Hanging()

    async def cancels(x: int) -> int:
        await hanging.begun.wait()
        scope.cancel()
        return x

    flow = over_items(hanging.node)
    flow.add(cancels, x=1)
    with CancelScope() as scope:
        await flow.run()
    assert scope.cancelled_caught


async def run_sync_here() -> None:
    over_items(plain).run_sync()


Scenario: TypeAlias = Callable[[], Awaitable[object]]
SCENARIOS: Final[dict[str, Scenario]] = {
    "completed": lambda: over_items(plain).run(),
    "failed": lambda: failing_run(over_items(failing)),
    "failed in the end": lambda: failing_run(over_items(failing).using(errors="continue")),
    "cancelled": cancelled,
    "cancelled from outside": cancelled_from_outside,
    "with threads": lambda: over_items(in_a_thread).run(),
    "with processes": lambda: over_items(starts_a_process).run(),
    "cancelled with processes": lambda: cancelled(with_processes=True),
    "run_sync here": run_sync_here,
}


def wait_for_threads(before: set[threading.Thread]) -> list[str]:
    """Give the threads that are about to end the time to do so; returns the names of those that do not."""
    begun = [
        thread
        for thread in threading.enumerate()
        if thread not in before and not thread.name.startswith("Trio")  # trio starts processes from a pool
    ]
    for thread in begun:
        thread.join(10)
    return [thread.name for thread in begun if thread.is_alive()]


@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_run_leaves_no_process_thread_open_file_or_object(name: str) -> None:
    scenario = SCENARIOS[name]
    threads = set(threading.enumerate())
    await scenario()  # what is opened once and for all
    assert wait_for_threads(threads) == []  # until it has ended a thread holds what it was called with
    before, objects = held(), objects_of_the_engine()
    await scenario()
    assert wait_for_threads(threads) == []
    assert objects_of_the_engine() - objects == Counter()
    assert held() - before == NOTHING


def objects_of_the_engine() -> Counter[str]:
    gc.collect()
    kinds = (type(one) for one in gc.get_objects())
    return Counter(kind.__qualname__ for kind in kinds if str(kind.__module__).startswith("dataflow."))
