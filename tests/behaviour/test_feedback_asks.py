"""Asks and stores in loops that feedback edges make: a chat waits for the user in each round (S6.3, S11)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dataflow import SKIP, DataflowError, Flow, Maybe
from tests.behaviour.asks import homes
from tests.behaviour.nodes import counted, tallying
from tests.behaviour.table import states_of


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
