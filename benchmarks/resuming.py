"""How many times as long as reading its records it takes a run to go on that has paused near its end."""

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.functions import increment
from benchmarks.question import Question, Way
from benchmarks.stored import read_records
from benchmarks.timing import Work, run_on, times_as_long
from dataflow import Flow
from dataflow.durable.storable import storable_of
from dataflow.stores import Store

__all__ = ["QUESTION", "works_in"]


def chain_and_ask(nodes: int) -> Flow:
    """Wire a chain, then an ask."""
    with Flow("asking") as flow:
        number = flow.input("number", int)
        for _ in range(nodes):
            number = flow.add(increment, number).out
        flow.output("number", number)
        flow.output("answer", flow.ask(bool, "Is it right?", show=number, name="ask").out)
    return flow


def works_in(folder: Path, nodes: int) -> tuple[Work, Work]:
    """Answer a run that has paused, so that it completes, and read its records without a run.

    It is executed once; each time it goes on in a new copy of its file.
    """
    flow = chain_and_ask(nodes)
    paused, copied = folder / "paused.db", folder / "copied.db"
    store = Store.sqlite(paused)
    run_id = flow.using(store=store).run_sync(number=0).run_id

    def copy() -> None:
        for path in folder.glob(f"{copied.name}*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copyfile(paused, copied)
        with copied.open("rb+") as file:
            os.fsync(file.fileno())  # else the first commit would have to

    async def resume() -> dict[str, object]:
        again = flow.using(store=Store.sqlite(copied))
        return dict((await again.resume(run_id, {"ask": True})).outputs)

    resumed = Work(resume, {"number": nodes, "answer": True}, nodes, copy)
    return resumed, read_records(store, run_id, storable_of(flow.compile()).classes)


def ratio(backend: str, size: int) -> float:
    """Measure both in a folder that is removed."""
    with TemporaryDirectory() as folder:
        return run_on(backend, times_as_long, works_in(Path(folder), size))


QUESTION = Question(
    "resuming",
    "answering a run that has paused after {:,} firings",
    "times reading its records",
    (100_000,),
    {way: partial(ratio, str(way)) for way in (Way.ASYNCIO, Way.TRIO)},
    target=2.0,
)
