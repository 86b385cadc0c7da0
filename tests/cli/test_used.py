"""What the nodes of a run have used, told at its end and in the object of `--json`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dataflow import Event, EventKind
from dataflow.cli.session import Used
from tests.cli.conftest import Cli


def event(kind: EventKind, path: str, **data: Any) -> Event:
    return Event(1, datetime.now(UTC), "run", kind, path, data)


def finished(path: str, usage: Any = None) -> Event:
    return event(EventKind.NODE_FINISHED, path, metadata={} if usage is None else {"usage": usage})


def told(*events: Event) -> str:
    used = Used()
    for one in events:
        used.see(one)
    return used.text()


def test_numbers_of_one_name_are_added_up() -> None:
    assert told() == told(finished("a")) == told(finished("a", {"tokens": 0, "cost": 0.0})) == ""
    usage = {"input_tokens": 1_200, "output_tokens": 3, "cost": 0.00025}
    text = told(finished("a", usage), finished("b"), finished("c[0]", {**usage, "cost": None}))
    assert text == "2,400 input tokens, 6 output tokens, 0.00025 cost"


@pytest.mark.parametrize(
    "odd", [3, "all", {"tokens": "3"}, {"tokens": True}, {"tokens": float("nan")}, {3: 3}]
)
def test_what_is_no_number_with_a_name_is_passed_over(odd: Any) -> None:
    assert told(finished("a", odd), finished("b", {"tokens": 1})) == "1 tokens"


def test_a_run_tells_what_its_models_used(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "answers.yaml").write_text("[one two, three]", encoding="utf-8")
    file = tmp_path / "talk.yaml"
    file.write_text(
        "dataflow: 1\nnodes:\n"
        "  a: {type: agent.chat, values: {prompt: good morning}, config: {model: a/b}}\n"
        "  b: {type: agent.chat, inputs: {prompt: a.text}, config: {model: a/b}}\n"
        "outputs: {text: b.text}\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("DATAFLOW_SCRIPTED", str(tmp_path / "answers.yaml"))
    done = cli("run", str(file), "--json")
    assert done.err.splitlines()[-2] == "used 4 input tokens, 3 output tokens"
    usage = {"input_tokens": 2, "output_tokens": 2, "cost": 0.0}
    assert done.json["metadata"]["a"] == {"model": "a/b", "finish_reason": "stop", "usage": usage}
    assert [*done.json["metadata"]] == ["a", "b"]
