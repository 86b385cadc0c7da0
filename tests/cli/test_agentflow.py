"""Workflows of AgentFlow on the command line: joins, approvals, runs in their own words, and progress."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.nodes.formats.agentflow.flowing import agent, if_, start, workflow

MEETING = workflow([start(), agent("a", "a"), agent("b", "b"), "j"], "s>a s>b a>j b>j")


@pytest.fixture
def write(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    def write(data: Any, *answers: str) -> str:
        (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
        (folder / "flow.json").write_text(json.dumps(data), encoding="utf-8")
        monkeypatch.setenv("DATAFLOW_SCRIPTED", "answers.json")
        return "flow.json"

    return write


def entries(err: str) -> list[Any]:
    return [json.loads(line) for line in err.splitlines() if line.startswith("{")]


def test_a_run_is_told_in_the_words_of_its_system(cli: Cli, write: Any) -> None:
    done = cli("run", write(workflow([start("hi"), "a"], "s>a"), "roses"), "--log-format", "agentflow")
    *log, record = entries(done.err)
    assert [(entry["nodeId"], entry["type"], entry["content"]) for entry in log] == [
        ("s", "step_start", "start"), ("a", "step_start", "agent"), ("a", "start_prompt", "A hi"),
        ("a", "llm_response", "roses"),
    ]  # fmt: skip
    record.pop("runId")
    assert record == {
        "status": "completed",
        "state": {"s": "hi", "a": "roses", "previous_output": "roses"},
        "currentNodeId": None,
        "waitingForInput": False,
    }


def test_arrivals_are_joined_as_is_told(cli: Cli, write: Any) -> None:
    once = cli("run", f"{write(MEETING, 'one', 'two', 'three')}#joins=once")
    assert once.out.splitlines()[-1] == "j: three", once.err
    each = cli("run", write(MEETING, "one", "two", "three", "four"), "--json")
    assert len(each.json["outputs"]["j"]) == len("ab")


def test_a_failure_that_is_no_models_is_told_as_an_error(cli: Cli, write: Any) -> None:
    endless = workflow([start(), if_("i", ("equal", "y"))], "s>i i.false>i")
    done = cli("run", write(endless), "--log-format", "agentflow")
    *log, record = entries(done.err)
    assert (done.code, record["status"]) == (1, "failed")
    assert [entry["type"] for entry in log][-1] == "error"


def test_a_start_without_an_input_gives_an_empty_text(cli: Cli, write: Any) -> None:
    for data in ({}, {"initialInput": None}, {"initialInput": 0}, {"initialInput": False}):
        flow = {"nodes": [{"id": "s", "type": "start", "data": data}], "connections": []}
        assert cli("run", write(flow), "--json").json["outputs"] == {"s": ""}


AGENTS = "agents: {x: {model: openai/gpt}}\n"


@pytest.fixture
def told(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a file by scripted answers, and return which paths have lines."""
    monkeypatch.setenv("DATAFLOW_SCRIPTED", "answers.json")

    def told(file: str, *answers: str, options: tuple[str, ...] = ()) -> list[str]:
        (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
        done = cli("run", file, *options)
        return [line.split()[1] for line in done.err.splitlines() if line.startswith(("done ", "failed "))]

    return told


def written(folder: Path, data: Any) -> str:
    (folder / "flow.json").write_text(json.dumps(data), encoding="utf-8")
    return "flow.json"


def test_an_agent_has_one_line(told: Any, folder: Path) -> None:
    assert told(written(folder, workflow([start(), "a"], "s>a")), "one") == ["s", "a"]


def test_a_trace_tells_what_a_node_is_made_of(told: Any, folder: Path) -> None:
    file = written(folder, workflow([start(), "a"], "s>a"))
    assert "a/agent/turn[0]/ask" in told(file, "one", options=("--trace",))


def test_steps_that_run_beside_others_have_lines(told: Any, folder: Path) -> None:
    steps = "[{type: agent, name: x, id: p}, {type: parallel, id: inner, steps: [{type: agent, name: x}]}]"
    (folder / "flow.yaml").write_text(
        f"{AGENTS}workflow: [{{type: parallel, id: par, steps: {steps}}}]\n", encoding="utf-8"
    )
    expected = {"start", "par/p", "par/inner/x", "par/inner", "par", "end"}
    assert set(told("flow.yaml", "one", "two")) == expected
