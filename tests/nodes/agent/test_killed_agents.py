"""An agent whose process dies in a call of a tool: what was answered before is not asked for again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

PROGRAM: Final = """
import os
import sys

import anyio

from dataflow import Flow, this_firing
from dataflow.stores.sqlite import SqliteStore
from dataflow_agent import Agent, ScriptedAnswer, ScriptedCall, scripted, tools


def told(text):
    with open("log.txt", "a") as file:
        print(text, file=file)


async def note(text: str) -> str:
    told(f"call {text} {this_firing().path}")
    if text == "deadly" and sys.argv[1] == "first":
        os._exit(9)
    return f"noted {text}"


def answer(request):
    said = sum(1 for message in request.messages if message.role == "assistant")
    told(f"ask {said}")
    if said == 2:
        return "whole"
    text = "harmless" if said == 0 else "deadly"
    return ScriptedAnswer(tool_calls=(ScriptedCall(name="note", arguments={"text": text}),))


with Flow("room") as room:
    lead = room.add(Agent("lead", model="openai/gpt"), prompt="hi", tools=tools(note))
    room.output("text", lead.out.text)


async def main():
    store = SqliteStore("runs.db")
    flow = room.using(store=store)
    if sys.argv[1] == "first":
        await flow.run()
    else:
        [run] = store.runs()
        print((await flow.resume(run.id))["text"])


if __name__ == "__main__":
    with scripted(answer):
        anyio.run(main)
"""


def test_only_the_call_that_was_cut_off_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "room.py").write_text(PROGRAM)

    def sitting(which: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "room.py", which]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    first = sitting("first")
    assert first.returncode == 9, first.stderr
    second = sitting("second")
    assert (second.stdout, second.returncode) == ("whole\n", 0), second.stderr
    assert (tmp_path / "log.txt").read_text().splitlines() == [
        "ask 0",
        "call harmless lead/turn[0]/call[0]/make",
        "ask 1",
        "call deadly lead/turn[1]/call[0]/make",
        "call deadly lead/turn[1]/call[0]/make",
        "ask 2",
    ]
