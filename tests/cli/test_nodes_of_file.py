"""The lines of progress of a flow of another system: one for each node of its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.nodes.formats.agentflow.flowing import start, workflow

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
