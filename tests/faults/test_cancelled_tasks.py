"""F-R01: cancelling every task at any moment ends a run; nothing waits for a task that never took a step."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.lowlevel
import pytest
import trio

from dataflow import DataflowError, Flow, Store, collect, each, node, race, this_firing

#: Turns of the loop from the last cancellation to the end of the run, and those of its clean-up.
MOST_TURNS: Final = 30
#: In how many turns, one after the other, every task is cancelled.
REPEATED: Final = (1, 2, 7)
#: What the record of a run says whose tasks were cancelled, once or again and again.
ENDED: Final = {"cancelled", "completed", "failed", "paused"}


async def waits(x: int) -> int:
    try:
        await anyio.sleep(0.001)
    finally:
        await anyio.lowlevel.checkpoint()
    return x


async def pieces(x: int) -> AsyncIterator[int]:
    for piece in range(2):
        yield await waits(piece)


async def fails(x: int) -> int:
    await anyio.lowlevel.checkpoint()
    raise ValueError(x)


async def shares(x: int) -> int:
    @asynccontextmanager
    async def opens() -> AsyncIterator[int]:
        yield await waits(x)
        await waits(x)

    async with this_firing().opened("a", opens) as found:
        return await waits(found)


async def runs_another(x: int) -> int:
    return int((await chain().run())["o"]) + x


def chain() -> Flow:
    with Flow() as f:
        first = f.add(waits, x=1)
        f.output("o", f.add(waits, x=first.out).out)
    return f


def several() -> Flow:
    with Flow() as f:
        left, right = (f.add(node(waits).with_(name=name), x=1) for name in ("left", "right"))
        f.output("o", race(left.out, f.add(waits, x=right.out).out))
        f.output("pieces", f.add(node(pieces), x=1).out)
        f.output("shared", f.add(shares, x=1).out)
    return f


def items() -> Flow:
    with Flow() as f:
        item = f.add(waits, x=each([1, 2, 3, 4]))
        f.output("o", collect(f.add(waits, x=item.out).out))
    return f.using(max_concurrency=2)


def again() -> Flow:
    with Flow() as f:
        tries = node(fails).with_(retries=2, timeout=0.01, on_error="skip")
        f.output("o", f.add(tries, x=1).out)
        f.output("inner", f.add(chain()).out.o)
        f.output("other", f.add(runs_another, x=1).out)
    return f


def rounds() -> Flow:
    with Flow() as f:
        with f.loop(limit=3) as turn:
            last = turn.carry(0)
            made = f.add(waits, x=last.out)
            last.next(made.out)
        f.output("o", turn.all(made.out))
    return f


def asks() -> Flow:
    with Flow() as f:
        asked = f.ask(bool, "Go on?", show=f.add(waits, x=1).out)
        f.output("o", asked.out)
    return f


async def run(flow: Flow) -> None:
    await flow.run()


async def block(flow: Flow) -> None:
    async with flow.start() as started:
        async for _ in started.events():
            pass


async def live(flow: Flow) -> None:
    async with flow.live() as session:
        await session.get("o")


class Turns(asyncio.SelectorEventLoop):
    """A loop that counts its turns, and cancels every task in some of them."""

    def __init__(self, begin: int, times: int) -> None:
        super().__init__()
        self.turns, self.begin, self.last = 0, begin, begin + times - 1

    def _run_once(self) -> None:
        super()._run_once()  # type: ignore[misc]  # each turn of a loop
        self.turns += 1
        if self.begin <= self.turns <= self.last:
            for task in asyncio.all_tasks(self):
                task.cancel()
        if self.turns > self.last + MOST_TURNS:
            self.stop()


def cancelled_on_asyncio(way: Any, flow: Flow, begin: int, times: int) -> bool:
    """Run a flow, cancel all tasks from a turn on; return whether it had ended before."""
    loop = Turns(begin, times)
    try:
        with suppress(asyncio.CancelledError, DataflowError, BaseExceptionGroup):
            loop.run_until_complete(way(flow))
        assert not asyncio.all_tasks(loop), f"cancelled in turn {begin}"
        return loop.turns < begin
    finally:
        loop.close()


class Passes(trio.abc.Instrument):
    """Counts the turns of trio, and cancels a scope in one of them."""

    def __init__(self, begin: int) -> None:
        self.turns, self.begin, self.scope = 0, begin, trio.CancelScope()

    def after_io_wait(self, timeout: float) -> None:
        self.turns += 1
        if self.turns == self.begin:
            self.scope.cancel()


def cancelled_on_trio(way: Any, flow: Flow, begin: int, _: int) -> bool:
    passes = Passes(begin)

    async def main() -> None:
        with passes.scope, suppress(DataflowError):
            await way(flow)

    trio.run(main, instruments=[passes])
    assert passes.turns <= begin + MOST_TURNS, f"cancelled in turn {begin}"
    return passes.turns < begin


FLOWS: Final[tuple[Callable[[], Flow], ...]] = (chain, several, items, again, rounds, asks)


@pytest.mark.parametrize("is_stored", [False, True], ids=["memory", "store"])
@pytest.mark.parametrize("way", [run, block, live])
@pytest.mark.parametrize("make", FLOWS)
@pytest.mark.parametrize("cancelled", [cancelled_on_asyncio, cancelled_on_trio])
def test_cancelling_every_task_at_any_moment_ends_the_run(
    cancelled: Any, make: Callable[[], Flow], way: Any, *, is_stored: bool, tmp_path: Path
) -> None:
    flow = make()
    if is_stored:
        store = Store.sqlite(tmp_path / "runs.db")
        flow = flow.using(store=store)
    for times in REPEATED if cancelled is cancelled_on_asyncio else REPEATED[:1]:
        for begin in count(1):
            if cancelled(way, flow, begin, times):
                break
    if is_stored:
        began = [run for run in store.runs() if [*store.records(run.id)]]  # the others were being prepared
        assert {run.status for run in began} <= ENDED


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
def test_a_program_ends_while_a_run_goes_on_in_the_background(steps: int) -> None:
    async def main() -> None:
        background = asyncio.create_task(chain().run())
        for _ in range(steps):
            await asyncio.sleep(0)
        assert not background.done()

    with asyncio.Runner(loop_factory=lambda: Turns(steps + 2, 0)) as runner:
        runner.run(main())


async def stops_the_loop(x: int) -> int:
    asyncio.get_running_loop().stop()
    return await waits(x)


def test_a_program_ends_whose_loop_a_node_stops() -> None:
    with Flow() as f:
        f.add(stops_the_loop, x=1)
        f.add(waits, x=1)
    with pytest.raises(RuntimeError), asyncio.Runner(loop_factory=lambda: Turns(20, 0)) as runner:
        runner.run(run(f))
