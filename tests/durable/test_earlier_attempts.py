"""What a resume leaves alone: the attempts at a flow node that others have followed (S7.3, S11.3)."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from dataflow import Failure, Flow, RunFailed, this_firing
from tests.properties.diary import Diary
from tests.properties.ledger import Ledger


async def fails(x: int) -> int:
    raise ValueError(str(x))


async def told(failure: Failure | object) -> str:
    return "told"


async def same(text: str) -> str:
    return text


async def at_last(text: str) -> str:
    """Fail in the first attempt at the flow node."""
    if "~" not in this_firing().path:
        raise ValueError("not yet")
    return text


async def after(number: int) -> int:
    return number


def failing_inside() -> Flow:
    """Wire a flow node of two attempts, in each of which a loop fails."""
    with Flow("inner") as inner:
        number = inner.input("x", int)
        with inner.loop(name="rounds", limit=1) as rounds:
            carried = rounds.carry(number)
            carried.next(inner.add(fails, x=carried.out).out)
            last = rounds.result(carried.out)
        inner.output("y", last)
    with Flow("outer") as outer:
        outer.output("o", outer.add(inner.with_(retries=1), x=1).out.y)
    return outer


def failing_outside() -> Flow:
    """Wire a flow node that is given what took a failure outside; its second attempt is done."""
    with Flow("inner") as inner:
        text = inner.add(same, text=inner.input("text", str))
        inner.output("y", inner.add(at_last, text=text.out).out)
    with Flow("outer") as outer:
        broken = outer.add(fails, x=1)
        taken = outer.add(told, failure=broken.out)
        outer.output("text", outer.add(inner.with_(retries=1), text=taken.out).out.y)
        outer.output("o", outer.add(after, number=broken.out).out)
    return outer


@pytest.mark.parametrize(
    ("wire", "again", "left"),
    [
        (failing_inside, ["inner", "inner~2/rounds"], {"inner/rounds": "failed"}),
        (
            failing_outside,
            ["inner", "inner~2/at_last", "inner~2/same", "told"],
            {"inner/same": "done", "inner/at_last": "failed"},
        ),
    ],
    ids=["a failure inside", "a failure outside"],
)
async def test_what_an_earlier_attempt_came_to_is_not_forgotten(
    wire: Callable[[], Flow], again: list[str], left: dict[str, str]
) -> None:
    ledger = Ledger()
    flow = wire().using(errors="continue", store=ledger)
    with pytest.raises(RunFailed):
        await flow.run()
    with pytest.raises(RunFailed):
        await flow.resume(ledger.run)
    resumed = next(record for record in ledger.journal() if record.kind == "run_resumed")
    assert json.loads(resumed.data)["forgotten"] == again
    assert left.items() <= Diary.of(ledger.journal()).states.items()
