"""Asks and stores in loops that feedback edges make: a chat waits for the user in each round (S6.3, S11)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import SKIP, DataflowError, Flow, Maybe, Store, node
from tests.behaviour.asks import in_a_process
from tests.behaviour.nodes import inc, square, tallying, total
from tests.behaviour.table import states_of

SCRIPT: Final = """
import sys
import anyio
from dataflow import Store
from tests.behaviour.test_feedback_asks import chat


async def main(run: str, text: str) -> None:
    flow = chat().using(store=Store.sqlite("runs.db"))
    result = await flow.run() if not run else await flow.resume(run, {sys.argv[3]: text})
    print(result.run_id, result.status, *[f"{ask.id}={ask.show}" for ask in result.asks], flush=True)
    if result.outputs:
        print(dict(result.outputs), flush=True)


anyio.run(main, *sys.argv[1:3])
"""


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


async def test_a_chat_loop_waits_for_the_user_in_each_round() -> None:
    flow = chat().using(store=Store.memory())
    result = await flow.run()
    shown: list[Any] = []
    for number, text in enumerate(("one", "two", "bye")):
        (ask,) = result.asks
        assert ask.id == f"user[{number}]"
        shown.append(ask.show)
        result = await flow.resume(result.run_id, {ask.id: text})
    assert (result.status, result.outputs) == ("completed", {"last": "re:two"})
    assert shown == [None, "re:one", "re:two"]
    assert result.get("joined.out") == "re:one|re:two"


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


async def test_a_chat_loop_without_a_store_lives_in_its_results() -> None:
    flow = chat()
    paused = await flow.run()
    again = await flow.resume(paused, {"user[0]": "one"})
    assert [ask.id for ask in again.asks] == ["user[1]"]
    result = await flow.resume(again, {"user[1]": "bye"})
    assert states_of(result) == {
        "user": "done", "joined": "done", "user[0]": "done", "user[0]/reply": "done", "user[1]": "done",
        "user[1]/reply": "done",
    }  # fmt: skip


def test_each_answer_may_come_in_a_process_of_its_own(tmp_path: Path) -> None:
    (told,) = in_a_process(SCRIPT, tmp_path, "", "")
    run = told.split()[0]
    assert told == f"{run} paused user[0]=None"
    assert in_a_process(SCRIPT, tmp_path, run, "one", "user[0]") == [f"{run} paused user[1]=re:one"]
    assert in_a_process(SCRIPT, tmp_path, run, "two", "user[1]") == [f"{run} paused user[2]=re:two"]
    assert in_a_process(SCRIPT, tmp_path, run, "bye", "user[2]") == [f"{run} completed", "{'last': 're:two'}"]


async def test_nothing_of_a_round_that_has_ended_is_run_again() -> None:
    store, calls = Store.memory(), list[str]()

    async def heard(text: str) -> Maybe[str]:
        calls.append(text)
        return await reply(text)

    def listening() -> Flow:
        flow = Flow("chat").using(store=store)
        user = flow.ask(str, "You:", name="user")
        flow.add(heard, text=user.out)
        flow.connect("heard", "user.show", feedback=True, limit=None)
        return flow

    run = (await listening().run()).run_id
    for number, text in enumerate(("one", "two", "bye")):
        await listening().resume(run, {f"user[{number}]": text})
    assert calls == ["one", "two", "bye"]


async def spoken(text: str) -> AsyncIterator[str]:
    for word in text.split():
        yield word


async def test_a_stream_has_the_pieces_of_all_rounds() -> None:
    async def next_line(said: list[str]) -> Maybe[str]:
        return "and again" if "once" in said else SKIP

    flow = Flow()
    said = flow.add(node(spoken), text="only once")
    flow.add(next_line, said=said.out)
    flow.connect("next_line", "spoken.text", feedback=True)
    async with flow.start() as run:
        assert [piece async for piece in run.stream(said.out)] == ["only", "once", "and", "again"]


def edited(store: Store, *, is_edited: bool) -> Flow:
    """Wire a loop and an ask behind it; the edited flow has further nodes that read what is in the loop."""
    flow = Flow("edited").using(store=store)
    step = flow.add(inc, x=0)
    flow.connect("inc", "inc.x", feedback=True, limit=3)
    flow.after(flow.ask(bool, "Go on?", name="ask"), step.done)
    if is_edited:
        flow.add(square)  # type: ignore[call-arg]
        flow.add(total)  # type: ignore[call-arg]
        flow.connect("inc", "square.x")
        flow.connect("inc", "total.xs", leave="all")
    return flow


async def test_what_reads_a_loop_that_has_ended_may_be_added_while_a_run_waits() -> None:
    store = Store.memory()
    paused = await edited(store, is_edited=False).run()
    with tallying() as tally:
        result = await edited(store, is_edited=True).resume(paused.run_id, {"ask": True})
    told: list[Any] = [result.get("square.out"), result.get("total.out")]
    assert told == [9, 6]
    assert tally.runs() == {"square": 1, "total": 1}
