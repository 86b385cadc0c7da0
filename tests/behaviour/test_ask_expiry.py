"""Asks whose time is over: they take their default or fail, by a timer or when the run goes on (S11.1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import trio
from trio.testing import MockClock

from dataflow import AnswerRefused, Flow, NodeOutput, Ports, Result, RunFailed, node
from dataflow_control import Approval, approval
from tests.behaviour.asks import PLACES, Home, Place
from tests.behaviour.nodes import ident
from tests.behaviour.table import states_of, typed

#: So short that it is over before anything else can happen; the timer itself only fires while a node runs.
AT_ONCE: Final = 1e-9
each_place = pytest.mark.parametrize("place", PLACES)


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


def played(flow: Flow) -> Result:
    """Run a flow on a clock that jumps to the next moment at which something happens."""
    return trio.run(flow.run, clock=MockClock(autojump_threshold=0))


@pytest.mark.parametrize("default", [0, 7])
def test_an_ask_takes_its_default_while_the_run_is_executed(default: int) -> None:
    result = played(beside(expiring(30, default=default), 60))
    assert typed(dict(result.outputs)) == typed({"waited": "waited", "out": default})


def test_an_ask_without_a_default_fails_while_the_run_is_executed() -> None:
    with pytest.raises(RunFailed) as failed:
        played(beside(expiring(30), 60))
    [failure] = failed.value.failures
    assert (failure.path, failure.code) == ("asks/ask", "DF0830")
    assert failure.message.endswith("within 30 s")


def test_an_ask_whose_time_is_not_over_stays_open() -> None:
    result = played(beside(expiring(90, default=1), 60))
    assert (result.status, [ask.id for ask in result.asks]) == ("paused", ["asks/ask"])


def test_a_run_does_not_wait_for_an_ask_to_expire() -> None:
    assert played(expiring(30, default=1)).status == "paused"


def test_an_answer_in_time_is_what_counts() -> None:
    async def main() -> Result:
        async with beside(expiring(30, default=1), 60).start() as run:
            await trio.sleep(29)
            await run.answer({"asks/ask": 5})
            return await run

    assert trio.run(main, clock=MockClock(autojump_threshold=0))["out"] == 5


def test_what_took_its_default_is_told() -> None:
    async def main() -> list[tuple[str, Any]]:
        async with beside(expiring(30, default=1), 60).start() as run:
            return [
                (event.path, event.data["by"]) async for event in run.events() if event.kind == "ask_answered"
            ]

    assert trio.run(main, clock=MockClock(autojump_threshold=0)) == [("asks/ask", "default")]


@each_place
async def test_an_ask_that_expired_in_the_pause_takes_its_default_first_thing(
    place: Place, tmp_path: Path
) -> None:
    home, flow = Home(place, tmp_path), expiring(AT_ONCE, default=3)
    paused = await home.placed(flow).run()
    assert paused.status == "paused"
    result = await home.resume(flow, paused, {})
    assert (result.status, result["out"]) == ("completed", 3)


@each_place
async def test_an_ask_that_expired_in_the_pause_fails_without_a_default(place: Place, tmp_path: Path) -> None:
    home, flow = Home(place, tmp_path), expiring(AT_ONCE)
    paused = await home.placed(flow).run()
    with pytest.raises(RunFailed, match="DF0830") as failed:
        await home.resume(flow, paused, {})
    assert states_of(failed.value.result) == {"ask": "failed", "ident": "not_run"}


@pytest.mark.parametrize("default", [{}, {"default": 3}], ids=["without", "with"])
@each_place
async def test_an_answer_that_comes_too_late_is_refused_and_the_run_stays(
    place: Place, default: dict[str, Any], tmp_path: Path
) -> None:
    home, flow = Home(place, tmp_path), expiring(AT_ONCE, **default)
    paused = await home.placed(flow).run()
    with pytest.raises(AnswerRefused, match=r"DF0829 answer to 'ask': .*expired"):
        await home.resume(flow, paused, {"ask": 5})
    if default:
        assert (await home.resume(flow, paused, {}))["out"] == 3


@pytest.mark.parametrize(
    ("default", "way", "note"),
    [
        (False, "reject", ""),
        ("approve", "approve", ""),
        ({"decision": "reject", "note": "nobody came"}, "reject", "nobody came"),
    ],
)
@each_place
async def test_an_approval_has_a_default_too(
    place: Place, default: Any, way: str, note: str, tmp_path: Path
) -> None:
    with Flow() as f:
        config = Approval(expires=AT_ONCE, default=default)
        decided = f.add(approval, value="v", config=config)
        for name in ("approve", "reject", "note"):
            f.output(name, getattr(decided.out, name))
    home = Home(place, tmp_path)
    result = await home.resume(f, await home.placed(f).run(), {})
    assert dict(result.outputs) == {way: "v", "note": note}


@pytest.mark.parametrize("place", ["memory", "sqlite"])
async def test_a_failed_ask_is_asked_again_when_the_run_is_resumed(place: Place, tmp_path: Path) -> None:
    home, flow = Home(place, tmp_path), expiring(AT_ONCE)
    paused = await home.placed(flow).run()
    with pytest.raises(RunFailed):
        await home.resume(flow, paused, {})
    again = await home.resume(flow, paused, {})
    assert [ask.id for ask in again.asks] == ["ask"]


@each_place
async def test_the_failure_tells_which_attempt_has_asked(place: Place, tmp_path: Path) -> None:
    home, tries = Home(place, tmp_path), []

    async def second() -> NodeOutput:
        tries.append(1)
        if len(tries) == 1:
            raise ConnectionError("nobody there")
        return NodeOutput(status="paused", metadata={"ask": {"expires": AT_ONCE}})

    with Flow() as flow:
        asks = node(ports=lambda _: Ports({}, {"out": int}), name="asks", retries=1)(second)
        flow.output("out", flow.add(asks).out)
    paused = await home.placed(flow).run()
    with pytest.raises(RunFailed) as failed:
        await home.resume(flow, paused, {})
    assert [failure.attempt for failure in failed.value.failures] == [2]
