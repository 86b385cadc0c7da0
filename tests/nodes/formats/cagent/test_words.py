"""Runs of cagent in its own words and from the command line, also of one agent that somebody talks to."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from dataflow import Flow
from dataflow.cli import main
from dataflow.stores import Store
from dataflow_agent import ModelRequest, scripted
from dataflow_formats.cagent.words import StepContext
from tests.nodes.formats.cagent.workflows import AGENTS, flow_of

FLOW = f"{AGENTS}workflow: [{{id: a, type: agent, name: x}}, {{id: b, type: agent, name: y}}]\n"
HEADING = "--- Step Context ---\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write a workflow, and answers that tell what was asked."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATAFLOW_SCRIPTED", str(tmp_path / "answers.yaml"))
    (tmp_path / "answers.yaml").write_text("[{text: A}, {text: B}]", encoding="utf-8")
    (tmp_path / "flow.yaml").write_text(FLOW, encoding="utf-8")
    return "flow.yaml"


def step_context(err: str) -> object:
    """Return what stands below the heading, up to the end of the JSON."""
    return json.JSONDecoder().raw_decode(err.partition(HEADING)[2])[0]


def test_the_step_context_stands_on_standard_error_at_the_end_also_after_a_failure(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--no-store", "--log-format", "cagent", file, "hi"]) == 0
    done = capsys.readouterr()
    expected = {"a": {"output": "A", "agent": "x"}, "b": {"output": "B", "agent": "y"}}
    assert step_context(done.err) == expected
    assert '  "a": {\n    "output": "A"' in done.err
    assert done.out == f"steps: {json.dumps(expected)}\noutput: B\n"
    Path("answers.yaml").write_text("[{text: A}, {error: rate_limited}]", encoding="utf-8")
    assert main(["run", "--no-store", "--log-format", "cagent", file, "hi"]) == 1
    assert step_context(capsys.readouterr().err) == {"a": {"output": "A", "agent": "x"}}


def test_the_prompt_is_the_argument_or_standard_input(
    file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    prompts = {("hi",): '"hi', ("-",): '"from a pipe', (): '"Please go on.'}
    for given, expected in prompts.items():
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"from a pipe\n")))
        assert main(["run", "--no-store", "--events", file, *given]) == 0
        assert f'"prompt": {{"value": {expected}' in capsys.readouterr().out


def test_a_run_that_failed_goes_on_behind_the_steps_that_stand(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first step is not asked again: the script has no other answer."""
    Path("answers.yaml").write_text("[{text: A}, {error: rate_limited}]", encoding="utf-8")
    assert main(["run", file, "hi", "--json"]) == 1
    id = json.loads(capsys.readouterr().out.splitlines()[-1])["run"]
    Path("answers.yaml").write_text("[{text: B}]", encoding="utf-8")
    assert main(["resume", id, "--json"]) == 0
    steps = json.loads(capsys.readouterr().out.splitlines()[-1])["outputs"]["steps"]
    assert steps == {"a": {"output": "A", "agent": "x"}, "b": {"output": "B", "agent": "y"}}


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
    assert [*StepContext(flow.to_dict()).end({})] == []
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


async def test_steps_side_by_side_are_kept_in_one_store(tmp_path: Path) -> None:
    """Many of them write at once, and what each has given can be read from the store."""
    steps = ", ".join(f"{{id: s{n}, type: agent, name: x}}" for n in range(30))
    flow = flow_of(f"workflow: [{{type: parallel, id: p, steps: [{steps}]}}]")
    store = Store.sqlite(tmp_path / "runs.db")
    with scripted(lambda _: "X"):
        result = await flow.using(store=store).run(prompt="P")
    assert result["steps"]["p"]["order"] == [f"s{n}" for n in range(30)]
    (kept,) = store.runs()
    assert sum(record.path.endswith("/agent") for record in store.records(kept.id)) == 2 * 30
