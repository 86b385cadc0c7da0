"""Workflows of Clickweave on the command line: runs in their own words, and the folders that they leave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.nodes.formats.clickweave.workflows import (
    node,
    press,
    saved,
    server,
    typing,
    workflow,
)


def target(folder: Path, data: dict[str, Any], options: str = "", **answers: list[Any]) -> str:
    command = server(folder, **answers).replace("%", "%25").replace("#", "%23").replace("&", "%26")
    return f"{saved(folder, data)}#server={command}{options}"


def told(lines: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines.splitlines() if line.startswith("{")]


def executions(folder: Path) -> list[Path]:
    return sorted((folder / ".clickweave" / "runs" / "my-flow").glob("*"))


def test_a_run_leaves_the_folder_of_its_execution(cli: Cli, folder: Path) -> None:
    done = cli("run", target(folder, workflow([typing("a", "Click #5")])), "--log-format", "clickweave")
    assert done.code == 0, done.err
    (execution,) = executions(folder)
    assert json.loads((execution / "click-5" / "run.json").read_text(encoding="utf-8"))["status"] == "Ok"
    events = told((execution / "events.jsonl").read_text(encoding="utf-8"))
    assert [event["event_type"] for event in events] == ["workflow_completed"]


def test_a_record_that_is_none_ends_no_run(cli: Cli, folder: Path) -> None:
    file = target(folder, workflow([typing("a"), press("b")]), press_key=[{"error": "no"}])
    assert cli("run", file, "--log-format", "clickweave").code == 1
    (execution,) = executions(folder)
    (run,) = cli("runs", "--json").json["runs"]
    record = execution / "b" / "run.json"
    for number, written in enumerate(
        (b"", b'{"status": "Ru', b"\xff\xfe{", b"[]", b"{}", b'{"status": 1}'), 2
    ):
        record.write_bytes(written)
        done = cli("resume", run["run"], "--log-format", "clickweave")
        assert (done.code, "Traceback" in done.err) == (1, False)
        record = execution / "b" / str(number) / "run.json"
        assert json.loads(record.read_text(encoding="utf-8"))["status"] == "Failed"


def test_a_folder_that_cannot_be_written_is_a_warning(cli: Cli, folder: Path) -> None:
    (folder / ".clickweave").write_text("", encoding="utf-8")
    done = cli("run", target(folder, workflow([typing("a")])), "--log-format", "clickweave")
    assert done.code == 0
    assert done.err.count("warning: the records of the run end here: ") == 1


def test_the_models_are_told_at_the_start(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "answers.json").write_text('["done"]', encoding="utf-8")
    monkeypatch.setenv("DATAFLOW_SCRIPTED", "answers.json")
    data = workflow([node("a", "a", "AiStep", prompt="Look.")])
    file = target(folder, data, "&model=openai/gpt-5&vision_model=openai/eyes")
    done = cli("run", file, "--log-format", "clickweave")
    first = told(done.err)[0]
    assert first["event_type"] == "models"
    assert first["payload"] == {"model": "openai/gpt-5", "vision_model": "openai/eyes"}
