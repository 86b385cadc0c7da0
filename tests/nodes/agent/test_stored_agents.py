"""Agents in stored runs: no call of a model or of a tool that stands is made again (S11.3)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

from dataflow import Store
from dataflow_agent import Agent, scripted, tools
from tests.nodes.agent.agent_tools import add, calling, room


async def test_a_fork_with_another_model_asks_it_from_the_first_turn_on() -> None:
    flow = room(Agent("lead", model="openai/gpt"), tools(add), store=Store.memory())
    with scripted(calling(("add", {"a": 1, "b": 2})), "first"):
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
