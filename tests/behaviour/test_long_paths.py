"""Long paths need no recursion (S8.1, S15.2)."""

from __future__ import annotations

from typing import Final, NamedTuple

import anyio
import pytest
from anyio import Event

from dataflow import SKIP, Flow, Maybe, Result, collect, each
from dataflow.scheduler.scheduler import Scheduler
from tests.behaviour.table import states_of
from tests.support.source import home_of

LENGTH: Final = 3000


async def step(x: int) -> int:
    return x + 1


def chain(f: Flow, port: int) -> int:
    for _ in range(LENGTH):
        port = f.add(step, x=port).out
    return port


def count(result: Result, state: str) -> int:
    return list(states_of(result).values()).count(state)


async def test_long_chains_of_values_and_skips() -> None:
    with Flow() as f:
        f.output("o", chain(f, f.input("x", int)))
    assert (await f.run(x=0))["o"] == LENGTH
    with Flow() as f:
        last = chain(f, f.when(f.input("x", int), lambda x: x > 0).yes)
        f.output("o", last)
    result = await f.run(x=0)
    reasons = result.why(last).splitlines()
    assert (count(result, "skipped"), len(reasons)) == (LENGTH, LENGTH + 2)
    assert reasons[-1] == "  because when: exit 'yes' not taken"


class Item(NamedTuple):
    value: int
    nothing: Maybe[int]


class Dead(NamedTuple):
    nothing: Maybe[int]
    value: int


async def test_an_item_that_ends_while_a_long_dead_path_is_told_is_ended_in_its_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is still to be told of its frame is told before the frame is released."""
    for steps in (1, 2, 3, 5, 1000):
        monkeypatch.setattr(home_of(Scheduler), "MOST_STEPS", steps)
        await end_beside_a_dead_path()


async def end_beside_a_dead_path() -> None:
    gate = Event()

    async def waits(x: int) -> Item:
        await gate.wait()
        return Item(x, SKIP)

    async def opens(x: int) -> Dead:
        await anyio.sleep(0.01)  # when all items wait
        gate.set()
        return Dead(SKIP, x)

    with Flow() as f:
        items = f.input("items", list[int])
        item = f.add(waits, each(items))
        f.output("o", collect(f.add(step, item.out.value).out))
        f.output("none", collect(item.out.nothing))
        port = f.add(opens, f.input("x", int)).out.nothing
        for _ in range(300):
            port = f.add(step, port).out
        f.output("dead", port)
    result = await f.run(items=[1, 2, 3, 4, 5], x=1)
    assert dict(result.outputs) == {"o": [2, 3, 4, 5, 6], "none": []}
