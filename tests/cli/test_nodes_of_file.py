"""The lines of progress of a flow of another system: one for each node of its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.nodes.formats.agentflow.flowing import approval, start, workflow

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


def test_an_agent_beside_a_nested_file_has_a_line_for_all_it_is_made_of(told: Any, folder: Path) -> None:
    written(folder, workflow([start(), "a"], "s>a"))
    own = "own: {type: agent.agent, config: {model: openai/gpt}, values: {prompt: hi}, after: [inner]}"
    document = f"dataflow: 1\nnodes:\n  inner: {{flow: flow.json}}\n  {own}\n"
    (folder / "outer.yaml").write_text(document, encoding="utf-8")
    found = told("outer.yaml", "one", "two")
    assert [path for path in found if path.startswith("inner")] == ["inner/s", "inner/a", "inner"]
    assert "own/turn[0]/ask" in found


def test_what_goes_on_after_an_answer_has_a_line_for_each_node(cli: Cli, told: Any, folder: Path) -> None:
    told(written(folder, workflow([start(), approval("p"), "a"], "s>p p.approve>a")), "one")
    (run,) = cli("runs", "--json").json["runs"]
    done = cli("resume", run["run"], "p/ask=approve")
    assert [line.split()[:2] for line in done.err.splitlines()[:-2]] == [["done", "p"], ["done", "a"]]


def test_steps_that_run_beside_others_have_lines(told: Any, folder: Path) -> None:
    steps = "[{type: agent, name: x, id: p}, {type: parallel, id: inner, steps: [{type: agent, name: x}]}]"
    (folder / "flow.yaml").write_text(
        f"{AGENTS}workflow: [{{type: parallel, id: par, steps: {steps}}}]\n", encoding="utf-8"
    )
    expected = {"start", "par/p", "par/inner/x", "par/inner", "par", "end"}
    assert set(told("flow.yaml", "one", "two")) == expected
