"""Runs whose process died after a failure, resumed when what has failed is mended (S11.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from dataflow import Flow, RunFailed, collect, each, fallback, flow
from dataflow.stores import Store
from tests.properties.ledger import Ledger

BROKEN: Final = {"is_broken": True}


async def ten() -> int:
    if BROKEN["is_broken"]:
        raise ValueError("not yet")
    return 10


async def listed() -> list[int]:
    return [1, 2]


async def add(x: int, y: int) -> int:
    return x + y


async def total(xs: list[int]) -> int:
    return sum(xs)


def items(f: Flow) -> Any:
    """Read in each item what has failed outside."""
    return f.add(total, xs=collect(f.add(add, x=each(f.add(listed).out), y=f.add(ten).out).out)).out


def rounds(f: Flow) -> Any:
    """Add in each round what has failed outside, and keep all that came of it."""
    failed = f.add(ten)
    with f.loop(name="up", limit=3) as it:
        v = it.carry(0)
        summed = f.add(add, x=v.out, y=failed.out)
        v.next(f.add(add, x=v.out, y=1).out)
        it.until(v.out, lambda v: v > 0)
    return f.add(total, xs=it.all(summed.out)).out


@flow
def within(f: Flow, x: int) -> int:
    found: Any = items(f)
    return f.add(add, x=found, y=x).out


def inside_a_flow(f: Flow) -> Any:
    return f.add(within, x=1).out


def instead(f: Flow) -> Any:
    """Take something else for the list that was not made."""
    made = collect(f.add(add, x=each([1, 2]), y=f.add(ten).out).out)
    return f.add(total, xs=fallback(made, [0])).out


FLOWS: Final[dict[Callable[[Flow], Any], int]] = {
    items: 23,
    rounds: 21,
    inside_a_flow: 24,
    instead: 23,
}


def made(wire: Callable[[Flow], Any], store: Store) -> Flow:
    with Flow("mended") as f:
        f.output("o", wire(f))
    return f.using(errors="continue", store=store)


async def fail(wire: Callable[[Flow], Any]) -> Ledger:
    BROKEN["is_broken"] = True
    ledger = Ledger()
    with pytest.raises(RunFailed, match="not yet"):
        await made(wire, ledger).run()
    BROKEN["is_broken"] = False
    return ledger


async def test_nothing_is_kept_that_came_of_the_failure_whichever_record_is_the_last(
    subtests: pytest.Subtests,
) -> None:
    for wire, output in FLOWS.items():
        with subtests.test(wire.__name__):
            ledger = await fail(wire)
            for count in range(1, len(ledger.journal()) + 1):
                result = await made(wire, ledger.kept(count)).resume(ledger.run)
                assert (count, result.status, result.outputs) == (count, "completed", {"o": output})
