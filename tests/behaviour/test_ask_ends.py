"""Asks while a run is executed, in many processes, in rounds; a pause is no failure (S5.3, S6.3, S11)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from dataflow import (
    SKIP,
    AnswerRefused,
    DataflowError,
    Event,
    Flow,
    Maybe,
    NodeOutput,
    Ports,
    Run,
    RunFailed,
    Store,
    node,
    race,
    this_firing,
)
from tests.behaviour.asking_flows import together
from tests.behaviour.asks import homes
from tests.behaviour.nodes import counted, ident, tallying
from tests.behaviour.table import states_of, wired
from tests.support.processes import printed_in


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


@wired
def racing(f: Flow) -> None:
    gate = f.ask(str, "Now?", name="gate")
    slow = f.ask(str, "Or then?", name="slow")
    f.output("first", race(f.add(ident, x=gate.out).out, slow.out))
    f.output("end", f.ask(str, "The end?", name="end").out)


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


@wired
def failing(f: Flow) -> None:
    go = f.ask(int, "Go?", name="go")
    f.output("left", f.add(breaks, x=go.out).out)
    f.output("right", f.ask(str, "Beside?", name="beside").out)


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


DRAFTS: Final = """
import sys
import anyio
from dataflow import Store
from tests.behaviour.asking_flows import approved_drafts
from tests.behaviour.nodes import tallying

async def main(run, *answer):
    flow = approved_drafts().using(store=Store.sqlite("runs.db"))
    with tallying() as tally:
        if run:
            decision, note = answer
            given = {"decision": decision, "note": note} if note else decision
            [ask] = [one.id for one in (await flow.resume(run)).asks]
            result = await flow.resume(run, {ask: given})
        else:
            result = await flow.run()
    print(result.run_id, result.status, *(ask.show for ask in result.asks))
    print(dict(result.outputs), *tally.paths, sep="|")

anyio.run(main, *sys.argv[1:])
"""


def test_a_pause_in_a_loop_asks_in_each_round_with_a_process_for_each_answer(tmp_path: Path) -> None:
    told, ran = printed_in(tmp_path, "-c", DRAFTS, "")
    run, *rest = told.split()
    assert (rest, ran) == (["paused", "d1"], "{}|drafts[0]/draft")
    told, ran = printed_in(tmp_path, "-c", DRAFTS, run, "reject", "r1")
    assert told.split() == [run, "paused", "d2"]
    assert ran == "{}|drafts[0]/no|drafts[0]/over|drafts[0]/both|drafts[1]/draft"
    told, ran = printed_in(tmp_path, "-c", DRAFTS, run, "reject", "r2")
    assert told.split() == [run, "paused", "d3"]
    told, ran = printed_in(tmp_path, "-c", DRAFTS, run, "approve", "")
    assert told.split() == [run, "completed"]
    log = [["d1", "reject", "r1"], ["d2", "reject", "r2"], ["d3", "approve", ""]]
    assert ran.partition("|")[0] == str({"log": log})
    journal = Store.sqlite(tmp_path / "runs.db").records(run)
    exits = [record.data for record in journal if record.kind == "loop_exited"]
    assert ['"iterations":3' in data and '"reason":"condition"' in data for data in exits] == [True]


@counted
async def reply(text: str) -> Maybe[str]:
    return SKIP if text == "bye" else f"re:{text}"


async def joined(texts: list[str]) -> str:
    return "|".join(texts)


def chat() -> Flow:
    """Wire a chat that goes on as long as there is a reply, and tells all replies in the end."""
    flow = Flow("chat")
    user = flow.ask(str, "You:", name="user")
    answer = flow.add(reply, text=user.out)
    flow.add(joined)  # type: ignore[call-arg]
    flow.connect("reply", "user.show", feedback=True, limit=None)
    flow.connect("reply", "joined.texts", leave="all")
    flow.output("last", answer.out)
    return flow


async def test_a_chat_loop_waits_for_the_user_in_each_round(tmp_path: Path) -> None:
    """Each answer may come to another flow object, as in another process, and nothing is run again."""
    for home in homes(tmp_path):
        flow = chat()
        with tallying() as tally:
            result, shown = await home.placed(flow).run(), list[Any]()
            for number, text in enumerate(("one", "two", "bye")):
                (ask,) = result.asks
                assert ask.id == f"user[{number}]"
                shown.append(ask.show)
                flow = flow if home.place == "result" else chat()
                result = await home.resume(flow, result, {ask.id: text})
        assert (result.status, result.outputs) == ("completed", {"last": "re:two"})
        assert shown == [None, "re:one", "re:two"]
        assert result.get("joined.out") == "re:one|re:two"
        assert tally.paths == ["user[0]/reply", "user[1]/reply", "user[2]/reply"]
        assert states_of(result) == {
            "user": "done", "joined": "done", "user[0]": "done", "user[0]/reply": "done", "user[1]": "done",
            "user[1]/reply": "done", "user[2]": "done", "user[2]/reply": "done",
        }  # fmt: skip


async def test_a_chat_that_waits_has_no_last_reply_yet_but_its_ask_shows_it() -> None:
    """Nothing leaves a loop while it may come round again (S6.4)."""
    flow = chat()
    result = await flow.resume(await flow.run(), {"user[0]": "one"})
    for port in ("reply", "reply.out", "last"):
        with pytest.raises(DataflowError, match=r"DF0817 .*loop 'user'"):
            result.get(port)
    with pytest.raises(KeyError, match=r"DF0817 output 'last': .*loop 'user'"):
        result["last"]
    assert (result.outputs, [ask.show for ask in result.asks]) == ({}, ["re:one"])
