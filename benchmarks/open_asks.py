"""How long it takes to list what all runs of a store ask for, as `dataflow asks` does."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.functions import increment
from benchmarks.question import Question, Way
from benchmarks.timing import Work, microseconds
from dataflow import Flow, collect, each
from dataflow.inspection.open_asks import asks_of
from dataflow.stores import Store

__all__ = ["QUESTION", "listing"]

#: How many asks each run has open.
ASKS_OF_RUN: Final = 10
#: How many nodes of each run fire before it asks: no journal is to be read for its asks.
FIRINGS: Final = 100


def asking() -> Flow:
    """Wire a chain, then an ask for each item of a list."""
    with Flow("asking") as flow:
        number = flow.input("number", int)
        items = flow.input("items", list[str])
        for _ in range(FIRINGS):
            number = flow.add(increment, number).out
        flow.output("number", number)
        answer = flow.ask(bool, "Is it right?", show=each(items), name="ask").out
        flow.output("answers", collect(answer))
    return flow


def listing(folder: Path, asks: int) -> Work:
    """List so many asks, a few of each run."""
    store = Store.sqlite(folder / "runs.db")
    flow = asking().using(store=store)
    items = [f"item {number}" for number in range(ASKS_OF_RUN)]
    for number in range(asks // ASKS_OF_RUN):
        flow.run_sync(number=number, items=items)

    async def run() -> int:
        return len({(ask.run, ask.id) for ask in asks_of(store)})

    return Work(run, asks, 1)


def milliseconds(asks: int) -> float:
    """Measure in a folder that is removed."""
    with TemporaryDirectory() as folder:
        return microseconds(listing(Path(folder), asks), "asyncio") / 1_000


QUESTION = Question(
    "asks",
    "{:,} open asks of a store listed",
    "ms in all",
    (1_000,),
    {Way.ASYNCIO: milliseconds},
    target=50.0,
)
