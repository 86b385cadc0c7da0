"""The mode for one agent, in which a file with a workflow is a conversation with the agent that is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dataflow import Flow, FlowInvalid
from dataflow.cli import main
from dataflow_agent import ModelRequest, scripted
from tests.nodes.formats.cagent.workflows import AGENTS

FILES = {
    "with a workflow": f"{AGENTS}workflow: [{{type: agent, name: x}}, {{type: agent, name: z}}]\n",
    "without one": AGENTS,
}


def told(request: ModelRequest) -> list[str]:
    return [f"{message.role}:{message.content}" for message in request.messages]


async def test_an_agent_answers_the_prompt_and_then_each_reply(tmp_path: Path) -> None:
    for text in FILES.values():
        await talk(text, tmp_path)


async def talk(text: str, tmp_path: Path) -> None:
    (tmp_path / "flow.yaml").write_text(text, encoding="utf-8")
    flow = Flow.load(tmp_path / "flow.yaml", agent="y")
    asked: list[list[str]] = []

    def answer(request: ModelRequest) -> str:
        asked.append(told(request))
        return f"answer {len(asked)}"

    with scripted(answer):
        paused: Any = await flow.run(prompt="P")
        assert paused.asks[0].show == "answer 1"
        paused = await flow.resume(paused, {paused.asks[0].id: "more"})
    assert asked == [["system:y", "user:P"], ["system:y", "user:P", "assistant:answer 1", "user:more"]]
    assert paused.asks[0].show == "answer 2"


def test_an_agent_is_talked_to_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run keeps which agent it is with, so that a reply goes on with it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATAFLOW_SCRIPTED", "answers.yaml")
    Path("flow.yaml").write_text(FILES["with a workflow"], encoding="utf-8")
    Path("answers.yaml").write_text("[{text: One.}]", encoding="utf-8")
    assert main(["run", "flow.yaml#agent=y", "hi", "--json", "--log-format", "cagent"]) == 3
    done = capsys.readouterr()
    assert "Step Context" not in done.err
    paused = json.loads(done.out.splitlines()[-1])
    assert [ask["show"] for ask in paused["asks"]] == ["One."]
    Path("answers.yaml").write_text("[{text: Two.}]", encoding="utf-8")
    assert main(["resume", paused["run"], f"{paused['asks'][0]['id']}=more", "--json"]) == 3
    gone_on = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [ask["show"] for ask in gone_on["asks"]] == ["Two."]


def test_the_other_agents_of_the_file_are_checked_before_a_talk(tmp_path: Path) -> None:
    (tmp_path / "flow.yaml").write_text("agents: {a: {model: m/a}, b: {model: nobody}}\n", encoding="utf-8")
    with pytest.raises(FlowInvalid, match=r"DF4012 agents\.b\.model: agent 'b':"):
        Flow.load(tmp_path / "flow.yaml", agent="a")
