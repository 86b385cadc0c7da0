"""Asks whose time is over: they take their default or fail, by a timer or when the run is resumed (S11.1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import trio
from trio.testing import MockClock

from dataflow import AnswerRefused, Flow, Result, RunFailed
from tests.behaviour.asks import Place, homes
from tests.behaviour.nodes import ident
from tests.behaviour.table import states_of, typed

#: So short that it is over before anything else can happen; the timer itself only fires while a node runs.
AT_ONCE: Final = 1e-9
STORES: Final[tuple[Place, ...]] = ("memory", "sqlite")


async def wait(seconds: float) -> str:
    await trio.sleep(seconds)
    return "waited"


def expiring(expires: float, **default: Any) -> Flow:
    with Flow() as f:
        asked = f.ask(int, "?", expires=expires, **default)
        f.output("out", f.add(ident, x=asked.out).out)
    return f


def beside(flow: Flow, seconds: float) -> Flow:
    """Place a flow beside a node that runs so long."""
    with Flow() as f:
        step = f.add(flow.with_(name="asks"))
        f.output("waited", f.add(wait, seconds=seconds).out)
        f.output("out", step.out.out)
    return f


def jumping(main: Any) -> Any:
    """Run on a clock that jumps to the next moment at which something happens."""
    return trio.run(main, clock=MockClock(autojump_threshold=0))


def test_an_ask_takes_its_default_or_fails_while_the_run_is_executed() -> None:
    for default in (0, 7):
        result = jumping(beside(expiring(30, default=default), 60).run)
        assert typed(dict(result.outputs)) == typed({"waited": "waited", "out": default})
    with pytest.raises(RunFailed) as failed:
        jumping(beside(expiring(30), 60).run)
    [failure] = failed.value.failures
    assert (failure.path, failure.code) == ("asks/ask", "DF0830")


def test_an_ask_whose_time_is_not_over_stays_open_and_no_run_waits_for_it() -> None:
    result = jumping(beside(expiring(90, default=1), 60).run)
    assert (result.status, [ask.id for ask in result.asks]) == ("paused", ["asks/ask"])
    assert jumping(expiring(30, default=1).run).status == "paused"


def test_an_answer_in_time_counts_and_a_default_is_reported_as_one() -> None:
    async def main(answers: dict[str, object]) -> tuple[Result, list[tuple[str, Any]]]:
        async with beside(expiring(30, default=1), 60).start() as run:
            events = run.events()
            await trio.sleep(29)
            await run.answer(answers)
            answered = [event async for event in events if event.kind == "ask_answered"]
            return await run, [(event.path, event.data["by"]) for event in answered]

    for answers, value, by in (({"asks/ask": 5}, 5, "run"), ({}, 1, "default")):
        result, answered = jumping(lambda answers=answers: main(answers))
        assert (result["out"], answered) == (value, [("asks/ask", by)])


async def test_an_ask_that_expired_in_the_pause_takes_its_default_first_thing(tmp_path: Path) -> None:
    for home in homes(tmp_path):
        flow = expiring(AT_ONCE, default=3)
        paused = await home.placed(flow).run()
        assert paused.status == "paused"
        with pytest.raises(AnswerRefused, match="DF0829 answer to 'ask': "):
            await home.resume(flow, paused, {"ask": 5})  # too late, and the run stays as it is
        result = await home.resume(flow, paused, {})
        assert (result.status, result["out"]) == ("completed", 3)


async def test_an_ask_that_expired_in_the_pause_fails_without_a_default(tmp_path: Path) -> None:
    for home in homes(tmp_path):
        flow = expiring(AT_ONCE)
        paused = await home.placed(flow).run()
        with pytest.raises(AnswerRefused, match="DF0829 answer to 'ask': "):
            await home.resume(flow, paused, {"ask": 5})
        with pytest.raises(RunFailed, match="DF0830") as failed:
            await home.resume(flow, paused, {})
        assert states_of(failed.value.result) == {"ask": "failed", "ident": "not_run"}
        if home.place in STORES:
            again = await home.resume(flow, paused, {})
            assert [ask.id for ask in again.asks] == ["ask"]
