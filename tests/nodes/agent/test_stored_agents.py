"""Agents in stored runs: no call of a model or of a tool that stands is made again (S11.3)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import anyio
import pytest

from dataflow import Flow, RunFailed, this_firing
from dataflow.stores.sqlite import SqliteStore
from dataflow_agent import Agent, ScriptedAnswer, Toolbox, scripted, tools
from tests.nodes.agent.agent_tools import calling

lead = Agent("lead", model="openai/gpt")
CALLED: Final[list[str]] = []
HANGING: Final[list[anyio.Event]] = []


async def note(text: str) -> str:
    """Note something, for ever if it is told to hang."""
    CALLED.append(f"{text} {this_firing().path}")
    if text == "hang" and HANGING:
        HANGING[0].set()
        await anyio.sleep_forever()
    return f"noted {text}"


async def offering() -> Toolbox:
    CALLED.append("offering")
    return tools(note)


def noting(*texts: str) -> ScriptedAnswer:
    return calling(*[("note", {"text": one}) for one in texts])


def room(path: Path) -> Flow:
    with Flow("room") as flow:
        step = flow.add(lead, prompt="hi", context=flow.context("main"), tools=flow.add(offering).out)
        flow.output("text", step.out.text)
        flow.output("context", step.out.context)
    return flow.using(store=SqliteStore(path / "runs.db"))


async def test_a_run_that_failed_in_the_middle_repeats_no_call(tmp_path: Path) -> None:
    CALLED.clear()
    broken = ScriptedAnswer(pieces=("half",), error="stream_interrupted")
    with scripted(noting("a", "b"), noting("c"), broken), pytest.raises(RunFailed) as caught:
        await room(tmp_path).run()
    done = ["a lead/turn[0]/call[0]/make", "b lead/turn[0]/call[1]/make", "c lead/turn[1]/call[0]/make"]
    assert sorted(CALLED) == [*done, "offering"]
    with scripted(noting("d"), "whole") as script:
        result = await room(tmp_path).resume(caught.value.result.run_id)
    assert CALLED[4:] == ["d lead/turn[2]/call[0]/make"]
    assert len(script.requests) == 2
    asked = [str(message.content) for message in script.requests[0].messages]
    assert asked == ["hi", "", "noted a", "noted b", "", "noted c"]
    told = [str(message.content) for message in result["context"].message_history]
    assert told == [*asked, "", "noted d", "whole"]


async def test_a_run_that_was_cancelled_in_a_call_repeats_only_that_call(tmp_path: Path) -> None:
    CALLED.clear()
    HANGING[:] = [anyio.Event()]
    flow = room(tmp_path)
    with scripted(noting("a"), noting("hang")):
        async with flow.start() as run:
            await HANGING[0].wait()
            run.cancel()
    HANGING.clear()
    with scripted("whole") as script:
        result = await flow.resume(run.id)
    assert CALLED == [
        "offering", "a lead/turn[0]/call[0]/make",
        "hang lead/turn[1]/call[0]/make", "hang lead/turn[1]/call[0]/make",
    ]  # fmt: skip
    assert (result["text"], len(script.requests)) == ("whole", 1)
    assert [message.content for message in script.requests[0].messages if message.role == "tool"] == [
        "noted a", "noted hang",
    ]  # fmt: skip


async def test_a_fork_with_another_model_asks_it_from_the_first_turn_on(tmp_path: Path) -> None:
    CALLED.clear()
    flow = room(tmp_path)
    with scripted(noting("a"), "first"):
        result = await flow.run()
    with scripted("second") as script:
        forked = await flow.fork(result.run_id, changes={"lead.config.model": "openai/other"})
    assert (forked["text"], [request.model for request in script.requests]) == ("second", ["openai/other"])


PROGRAM: Final = """
import json
import os
import sys

import anyio

from dataflow import Flow, this_firing
from dataflow.stores.sqlite import SqliteStore
from dataflow_agent import Agent, ScriptedAnswer, ScriptedCall, scripted, tools

which, answers = sys.argv[1], json.loads(sys.argv[2])


def told(text):
    with open("log.txt", "a") as file:
        print(text, file=file)


async def note(text: str) -> str:
    told(f"call {text} {this_firing().path}")
    if text == "deadly" and which == "dies":
        os._exit(9)
    return f"noted {text}"


def calls(*given):
    return ScriptedAnswer(tool_calls=tuple(ScriptedCall(name=name, arguments=one) for name, one in given))


def answer(request):
    said = sum(1 for message in request.messages if message.role == "assistant")
    told(f"ask {request.model} {said}")
    if request.model == "openai/small":
        return "below" if said else calls(("note", {"text": "asked"}), ("note", {"text": "deadly"}))
    if said == 0:
        return calls(("helper", {"prompt": "help"}), ("note", {"text": "harmless"}))
    return "whole"


helper = Agent("helper", model="openai/small", tools=tools(note, allow=["*"], ask=["note(text=asked)"]))

with Flow("room") as room:
    lead = room.add(
        Agent("lead", model="openai/large"), prompt="hi", tools=tools(note, helper.as_tool("helps"))
    )
    room.output("text", lead.out.text)


async def main():
    store = SqliteStore("runs.db")
    flow = room.using(store=store)
    runs = [*store.runs()]
    result = await (flow.resume(runs[0].id, answers) if runs else flow.run())
    print(result.status, *[ask.id for ask in result.asks], *result.outputs.values())


if __name__ == "__main__":
    with scripted(answer):
        anyio.run(main)
"""

ASK: Final = "lead/turn[0]/call[0]/helper/turn[0]/call[0]/approve"


def test_what_stood_before_the_process_died_is_not_done_again(tmp_path: Path) -> None:
    (tmp_path / "room.py").write_text(PROGRAM)

    def sitting(which: str, answers: str = "{}") -> tuple[int, str]:
        command = [sys.executable, "room.py", which, answers]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.strip() or done.stderr

    def logged() -> list[str]:
        lines = (tmp_path / "log.txt").read_text().splitlines()
        (tmp_path / "log.txt").write_text("")
        return sorted(lines)

    assert sitting("dies")[0] == 9
    inner = "lead/turn[0]/call[0]/helper/turn[0]"
    assert logged() == [
        "ask openai/large 0",
        "ask openai/small 0",
        f"call deadly {inner}/call[1]/make",
        "call harmless lead/turn[0]/call[1]/make",
    ]
    assert sitting("lives") == (0, f"paused {ASK}")
    assert logged() == [f"call deadly {inner}/call[1]/make"]
    assert sitting("lives", f'{{"{ASK}": "allow"}}') == (0, "completed whole")
    assert logged() == ["ask openai/large 1", "ask openai/small 1", f"call asked {inner}/call[0]/make"]
