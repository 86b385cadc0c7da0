"""How many times as long as writing its records alone a run takes that is written into a file as it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.flows import flow_of, map_flow
from benchmarks.question import Question, Way
from benchmarks.shapes import chain
from benchmarks.stored import write_records
from benchmarks.timing import Work, run_on, times_as_long
from dataflow import Flow
from dataflow.stores import Store

__all__ = ["QUESTIONS", "Case", "chain_case", "map_case", "works_in"]

#: A flow, its inputs, and its outputs.
Case = tuple[Flow, Mapping[str, Any], Mapping[str, Any]]


def chain_case(nodes: int) -> Case:
    """Run a chain."""
    shape = chain(nodes)
    return flow_of(shape), {}, {f"end_{nodes - 1}": shape.result}


def map_case(items: int) -> Case:
    """Run a map."""
    numbers = list(range(items))
    return map_flow(), {"items": numbers}, {"added": [number + 1 for number in numbers]}


def works_in(folder: Path, case: Case) -> tuple[Work, Work]:
    """Run a flow in a store, and write the same records without a run."""
    flow, inputs, outputs = case
    store = Store.sqlite(folder / "runs.db")
    durable = flow.using(store=store)

    async def run() -> Mapping[str, Any]:
        return (await durable.run(**inputs)).outputs

    records = list(store.records(durable.run_sync(**inputs).run_id))
    return Work(run, outputs, 1), write_records(records, folder / "written.db")


def ratio(case_of: Callable[[int], Case], backend: str, size: int) -> float:
    """Measure both in a folder that is removed."""
    with TemporaryDirectory() as folder:
        return run_on(backend, times_as_long, works_in(Path(folder), case_of(size)))


def journaling(name: str, title: str, case_of: Callable[[int], Case]) -> Question:
    """Ask what a run in a store takes."""
    measures = {way: partial(ratio, case_of, str(way)) for way in (Way.ASYNCIO, Way.TRIO)}
    return Question(name, title, "times writing its records", (10_000,), measures, target=6.0)


QUESTIONS: Final = (
    journaling("journaling", "a chain of {:,} nodes in a store", chain_case),
    journaling("journaling-map", "a map over {:,} items in a store", map_case),
)
