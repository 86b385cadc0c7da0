"""Chats in stored runs: a turn that stands is not asked for again."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from dataflow import Flow, RunFailed
from dataflow.stores.sqlite import SqliteStore
from dataflow_agent import Chat, ScriptedAnswer, chat, scripted


class Verdict(BaseModel):
    is_good: bool


def judged() -> Flow:
    with Flow("judged") as flow:
        main = flow.context("main", model="openai/gpt")
        first = flow.add(chat, prompt="Write.", context=main, config=Chat(answer=Verdict))
        second = flow.add(chat, prompt="Go on.", context=first.out.context)
        flow.output("verdict", first.out.answer)
        flow.output("context", second.out.context)
    return flow


async def test_a_run_goes_on_behind_the_turns_that_were_whole(tmp_path: Path) -> None:
    flow = judged().using(store=SqliteStore(tmp_path / "runs.db"))
    broken = ScriptedAnswer(pieces=("half",), error="stream_interrupted")
    with scripted(Verdict(is_good=True), broken), pytest.raises(RunFailed) as caught:
        await flow.run()
    with scripted("whole") as script:
        result = await flow.resume(caught.value.result.run_id)
    assert result["verdict"] == Verdict(is_good=True)
    told = [message.content for message in result["context"].message_history]
    assert told == ["Write.", '{"is_good": true}', "Go on.", "whole"]
    assert len(script.requests) == 1
    assert [one.content for one in script.requests[0].messages] == told[:3]
