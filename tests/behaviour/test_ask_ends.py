"""Asks while a run is executed: answered, outrun, closed by a failure; a pause is no failure (S5.3, S11)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from dataflow import AnswerRefused, Event, Flow, NodeOutput, Ports, Run, RunFailed, node, race, this_firing
from tests.behaviour.asking_flows import together
from tests.behaviour.asks import homes
from tests.behaviour.nodes import counted, ident, tallying
from tests.behaviour.table import states_of


@asynccontextmanager
async def executed(flow: Flow, opened: int) -> AsyncIterator[Run]:
    """Execute a flow beside which a node runs as long as the block does; so many asks are open in it."""
    held = anyio.Event()

    async def beside() -> None:
        await held.wait()

    with Flow() as f:
        f.add(flow.with_(name="asks"))
        f.add(beside)
    async with f.start() as run:
        events = run.events()
        while opened:
            opened -= (await anext(events)).kind == "ask_opened"
        try:
            yield run
        finally:
            held.set()


async def closed_by(run: Run, answers: dict[str, object]) -> Event:
    """Return the event of the ask that is closed by what these answers lead to."""
    events = run.events()
    await run.answer(answers)
    while (event := await anext(events)).kind != "ask_closed":
        pass
    return event


async def test_a_run_that_is_executed_takes_each_answer_once() -> None:
    async with executed(together(), 3) as run:
        events = run.events()
        await run.answer({"asks/three": "c", "asks/one": "a", "asks/two": "b"})
        with pytest.raises(AnswerRefused, match="DF0829 answer to 'asks/one': "):
            await run.answer({"asks/one": "b"})
        answered: list[tuple[str, str]] = []
        while len(answered) < 3:
            event = await anext(events)
            answered += [(event.path, event.data["by"])] if event.kind == "ask_answered" else []
    assert answered == [("asks/three", "run"), ("asks/one", "run"), ("asks/two", "run")]
    assert run.status == "completed"


def racing() -> Flow:
    with Flow() as f:
        gate = f.ask(str, "Now?", name="gate")
        slow = f.ask(str, "Or then?", name="slow")
        f.output("first", race(f.add(ident, x=gate.out).out, slow.out))
        f.output("end", f.ask(str, "The end?", name="end").out)
    return f


async def test_an_ask_that_lost_a_race_is_closed_and_takes_no_answer(tmp_path: Path) -> None:
    async with executed(racing(), 3) as run:
        event = await closed_by(run, {"asks/gate": "g"})
        assert (event.path, "race lost" in event.data["reason"]) == ("asks/slow", True)
        with pytest.raises(AnswerRefused, match="DF0829 answer to 'asks/slow': "):
            await run.answer({"asks/slow": "late"})
    for home in homes(tmp_path):
        flow = racing()
        paused = await home.resume(flow, await home.placed(flow).run(), {"gate": "g"})
        assert ([ask.id for ask in paused.asks], states_of(paused)["slow"]) == (["end"], "cancelled")
        with pytest.raises(AnswerRefused):
            await home.resume(flow, paused, {"slow": "late"})
        result = await home.resume(flow, paused, {"end": "e"})
        assert dict(result.outputs) == {"first": "g", "end": "e"}


@counted
async def breaks(x: int) -> int:
    raise ValueError(f"bad {x}")


def failing() -> Flow:
    with Flow() as f:
        go = f.ask(int, "Go?", name="go")
        f.output("left", f.add(breaks, x=go.out).out)
        f.output("right", f.ask(str, "Beside?", name="beside").out)
    return f


async def test_an_ask_closed_by_a_failure_opens_again_when_the_run_is_resumed(tmp_path: Path) -> None:
    async with executed(failing(), 2) as run:
        assert (await closed_by(run, {"asks/go": 1})).path == "asks/beside"
        with pytest.raises(RunFailed):
            await run
    with pytest.raises(AnswerRefused):
        await run.answer({"asks/beside": "b"})
    for home in homes(tmp_path, ("memory", "sqlite")):
        flow = failing()
        paused = await home.placed(flow).run()
        with pytest.raises(RunFailed) as failed:
            await home.resume(flow, paused, {"go": 1})
        result = failed.value.result
        assert states_of(result) == {"go": "done", "breaks": "failed", "beside": "cancelled"}
        assert result.asks == ()
        with pytest.raises(RunFailed):
            await home.resume(flow, result, {"beside": "b"})


@node(ports=lambda config: Ports({"x": int}, {"text": str}))  # noqa: ARG005 - the same for each config
@counted
async def hesitant(inputs: dict[str, Any]) -> NodeOutput:
    """Fail once, then pause."""
    if this_firing().attempt == 1:
        raise ValueError("not yet")
    return NodeOutput(status="paused", metadata={"ask": {"prompt": "Well?", "show": inputs["x"]}})


async def test_no_retry_repeats_a_pause_or_a_refused_answer(tmp_path: Path) -> None:
    """B36: a node that pauses has not failed, and one that was answered is not called again."""
    with Flow() as f:
        f.output("text", f.add(hesitant.with_(retries=3), x=1).out.text)
    for home in homes(tmp_path):
        with tallying() as tally:
            paused = await home.placed(f).run()
            with pytest.raises(AnswerRefused):
                await home.resume(f, paused, {"hesitant": 3})
            result = await home.resume(f, paused, {"hesitant": "t"})
        assert (tally.paths, result["text"]) == (["hesitant", "hesitant"], "t")


async def test_what_lost_before_it_began_is_not_run_however_often_the_run_is_resumed(tmp_path: Path) -> None:
    for home in homes(tmp_path):
        with Flow() as flow:
            asks = {name: flow.ask(int, "?", name=name).out for name in ("late", "first", "last")}
            loser = flow.add(node(ident).with_(name="loser"), x=asks["late"])
            winner = flow.add(node(ident).with_(name="winner"), x=asks["first"])
            flow.output("won", race(loser.out, winner.out))
            flow.output("late", asks["late"])
        result = await home.placed(flow).run()
        for name in ("first", "late", "last"):
            result = await home.resume(flow, result, {name: 1})
        assert states_of(result)["loser"] == "not_run"
        if store := home.store():
            kinds = [record.kind for record in store.records(result.run_id) if record.path == "loser"]
            assert kinds == ["node_finished"]
