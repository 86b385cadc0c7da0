"""Nodes that tell when they are called, and places for outcomes, for the tests of memos.

What was called is told in a global list, which is no part of a fingerprint: closures are (S13.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, TypeAlias

from dataflow import Flow, ProcessMemo, Result
from dataflow.core.policy import Reach
from dataflow.stores import Store

__all__ = ["CALLS", "Place", "alike", "called", "one_node", "places", "told"]

CALLS: Final[list[Any]] = []

#: Where outcomes are remembered across runs, by the reach.
Place: TypeAlias = tuple[Reach, ProcessMemo | Store]


def places(folder: Path) -> Iterator[Place]:
    """Give each place in turn that outlives a run, empty, with its reach; no call is noted yet."""
    file = Path(mkdtemp(dir=folder)) / "memo.db"
    for place in (ProcessMemo(), Store.memory(), Store.sqlite(file)):
        CALLS.clear()
        yield "process" if isinstance(place, ProcessMemo) else "store", place


def alike(*functions: Any) -> tuple[Any, ...]:
    """Give functions one name, so that a node type of one is called like that of another."""
    for function in functions:
        function.__qualname__ = functions[0].__qualname__
        function.__name__ = functions[0].__name__
    return functions


def called() -> list[Any]:
    calls = CALLS.copy()
    CALLS.clear()
    return calls


def one_node(place: ProcessMemo | Store, placed: Any, **inputs: Any) -> Flow:
    with Flow("one") as flow:
        flow.output("out", flow.add(placed, **inputs).out)
    return flow.using(memo=place)


async def told(
    flow: Flow, read: Callable[[Result], Any] = lambda result: result["out"], **inputs: Any
) -> Any:
    result = await flow.run(**inputs)
    return read(result), called()
