"""What is measured comes to the right result, on each event loop and in each other way."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import pytest

from benchmarks import building, chain, diamonds, fan_out, layered, live, loop, mapping, memo
from benchmarks.flows import run_shape
from benchmarks.functions import suspending
from benchmarks.question import Way, WorkOf
from benchmarks.shapes import fan_out as fan_out_shape
from benchmarks.timing import Work, run_on, sleep_on


def hits_of(shape: memo.Shape) -> dict[Way, WorkOf]:
    return {Way.ASYNCIO: partial(memo.hits, shape), Way.BARE: partial(memo.fingerprints, shape)}


WORKS: Final[dict[str, tuple[Mapping[Way, WorkOf], int]]] = {
    "chain": (chain.WORKS, 20), "fan-out": (fan_out.WORKS, 20), "layered": (layered.WORKS, 100),
    "diamonds": (diamonds.WORKS, 5), "loop": (loop.WORKS, 5), "map": (mapping.WORKS, 20),
    "live": (live.WORKS, 3), "building": (building.WORKS, 20),
    "hits in series": (hits_of(memo.in_series), 20),
    "hits side by side": (hits_of(memo.side_by_side), 20),
}  # fmt: skip


@pytest.mark.parametrize("name", WORKS)
def test_a_flow_and_every_other_way_come_to_the_result(name: str) -> None:
    works, size = WORKS[name]
    for way, make in works.items():
        run_on("trio" if way is Way.TRIO else "asyncio", Work.play, make(size))


async def test_nodes_that_suspend_come_to_the_result(anyio_backend: str) -> None:
    await run_shape(fan_out_shape(20), suspending(sleep_on(anyio_backend))).play()


def test_what_sessions_are_compared_with_comes_to_the_result_too() -> None:
    for question in live.QUESTIONS:
        for way in (Way.ASYNCIO, Way.TRIO):
            assert question.measures[way](20) > 0
