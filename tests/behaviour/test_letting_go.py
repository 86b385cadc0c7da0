"""Rounds and items that have ended keep only what leaves them (S8.5)."""

from __future__ import annotations

import gc
from typing import Any
from weakref import ref

from dataflow import Flow, collect, each


class Thing:
    """Something whose end can be seen."""


async def weigh(thing: Any) -> int:
    return 1


async def count(x: int) -> int:
    return x + 1


async def test_items_let_their_values_go() -> None:
    made: list[ref[Thing]] = []

    async def make(x: int) -> Any:
        thing = Thing()
        made.append(ref(thing))
        return thing

    with Flow() as f:
        f.output("o", collect(f.add(weigh, thing=f.add(make, x=each([1, 2, 3])).out).out))
    result = await f.run()
    gc.collect()
    assert result["o"] == [1, 1, 1]
    assert [thing() for thing in made] == [None, None, None]


async def test_rounds_let_their_values_go() -> None:
    made: list[ref[Thing]] = []

    async def make(x: int) -> Any:
        thing = Thing()
        made.append(ref(thing))
        return thing

    with Flow() as f:
        with f.loop() as it:
            v = it.carry(0)
            thing = f.add(make, x=v.out)
            f.add(weigh, thing=thing.out)
            counted = f.add(count, x=v.out)
            it.until(counted.out, lambda x: x == 3)
            v.next(counted.out)
        f.output("last", it.result(thing.out))
    result = await f.run()
    gc.collect()
    assert [thing() is not None for thing in made] == [False, False, True]
    assert result["last"] is made[2]()
