"""Workflows of Agentron Studio on the command line: branches, agents, and runs in their own words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cli.conftest import Cli, Done

DUET: Any = {
    "id": "wf-1",
    "name": "duet",
    "nodes": [
        {"id": "p", "type": "agent", "parameters": {"agentName": "Poet"}},
        {"id": "c", "type": "agent", "parameters": {"agentName": "Critic"}},
    ],
    "edges": [{"id": "e1", "source": "p", "target": "c"}],
    "branches": [{"id": "nightly", "nodes": [{"id": "w", "type": "agent", "parameters": {"agentId": "7"}}]}],
}
TEAM: Any = [
    {"id": "5", "name": "Poet", "model": "scripted/answers.json"},
    {"id": "6", "name": "Critic", "model": "scripted/answers.json", "tools": ["request_user_help"]},
    {"id": "7", "name": "Watcher", "model": "scripted/answers.json"},
]
ASKING: Any = {
    "tool_calls": [{"name": "request_user_help", "arguments": {"question": "ok?", "reason": "unsure"}}]
}


@pytest.fixture
def duet(folder: Path) -> str:
    for name, data in (("duet.json", DUET), ("team.json", TEAM), ("answers.json", ["roses", "red"])):
        (folder / name).write_text(json.dumps(data), encoding="utf-8")
    return "duet.json#agents=team.json"


def record(done: Done) -> dict[str, Any]:
    line = next(line for line in done.err.splitlines() if line.startswith("{"))
    found: dict[str, Any] = json.loads(line)
    began = found.pop("startedAt")
    if found["status"] != "waiting_for_user":
        assert began <= found.pop("finishedAt")
    found.pop("id")
    return found


def test_its_run_is_told_in_its_words(cli: Cli, duet: str, snapshot: SnapshotAssertion) -> None:
    done = cli("run", duet, "--log-format", "agentron")
    assert done.out == "output: red\n"
    told = [line for line in done.err.splitlines() if line[0] in "RNU"]
    assert "\n".join([*told, json.dumps(record(done), indent=2)]) == snapshot


def test_the_record_of_a_branch_names_it(cli: Cli, duet: str) -> None:
    found = record(cli("run", duet, "--branch", "nightly", "--log-format", "agentron"))
    assert (found["targetId"], found["targetBranchId"]) == ("wf-1", "nightly")
    assert [step["nodeId"] for step in found["output"]["trail"]] == ["w"]


def test_a_run_that_asks_goes_on_with_the_reply(cli: Cli, duet: str) -> None:
    Path("answers.json").write_text(json.dumps(["roses", ASKING, "asked"]), encoding="utf-8")
    done = cli("run", duet, "--log-format", "agentron")
    found = record(done)
    assert (done.code, found["status"]) == (3, "waiting_for_user")
    trail = found["output"].pop("trail")
    assert found["output"] == {"question": "ok?", "reason": "unsure"}
    assert [step["nodeId"] for step in trail] == ["p"]
    (run,) = cli("runs", "--json").json["runs"]
    blank = cli("resume", run["run"], "c/wait= ")
    assert (blank.code, "DF0601" in blank.err) == (2, True)
    assert cli("resume", run["run"], "c/wait=go").out == "output: go\n"
