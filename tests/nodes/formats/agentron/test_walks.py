"""Ways through a workflow that a walk takes, conditions of edges, schedules, and an example."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from dataflow import Flow
from dataflow_agent import scripted
from dataflow_formats.agentron.file import Condition, fault_in, holds
from tests.nodes.formats.agentron.walking import MODEL, agent, always, edge, flow_of, ran, steps, workflow
from tests.nodes.formats.golden import converted


def test_agents_are_told_what_they_have_to_know() -> None:
    assert ran(workflow("a")).prompts == ["Do your task."]
    data = workflow(["a", agent("b", topic="rain")], "ab", turnInstruction="Go on.")
    found = ran(data, inputs={"noSharedOutput": True, "mood": ["glad"]})
    assert found.prompts[1] == 'Go on.\n\ntopic: rain\nmood: ["glad"]'
    agents = [
        {"id": "1", "name": "Ada", "model": "claude-x", "systemPrompt": "{{ role }}, {{ input.role }}."},
        {"name": "Bob", "instructions": "{{ unknown }}"},
    ]
    nodes = [{"id": "a", "type": "agent", "config": {"agentId": "1", "role": "first"}}, agent("b", "Bob")]
    found = ran(workflow(nodes, "ab", agents=agents, turnInstruction="Be brief."))
    told = [[str(message.content) for message in request.messages] for request in found.requests]
    assert [request.model for request in found.requests] == ["anthropic/claude-x", MODEL]
    assert told == [
        ["first, first.", "Be brief.\n\nThis is the first turn.\nrole: first"],
        ["{{ unknown }}", "Be brief.\n\nRecent turns:\nAda: said\n\nOutput from Ada:\nsaid"],
    ]


def test_agents_may_stand_in_a_file_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "team.json").write_text(json.dumps([{"name": "A", "model": "gpt-5"}]), encoding="utf-8")
    (tmp_path / "flow.json").write_text(json.dumps(workflow("a")), encoding="utf-8")
    flow = Flow.load(tmp_path / "flow.json", agents="team.json")
    with scripted("hi") as script:
        assert flow.run_sync()["output"] == "hi"
    assert script.requests[0].model == MODEL


def test_rounds_are_of_the_workflow_or_of_its_branch() -> None:
    data = workflow("abc", "ab", edge("b", "c", "enough"), edge("b", "a"), maxRounds=2)
    found = ran(data, "1", "2", "3", "4")
    assert (found.nodes, found.result["output"]) == ("a b a b", "4")
    loop = workflow("ab", "ab", "ba")
    branches = [{"id": "n", **loop, "maxRounds": 2}, {"id": "m", **loop}]
    data = workflow("x", maxRounds=1, branches=branches)
    assert ran(data, branch="n").nodes == "a b a b"
    assert len(ran(data, branch="m").nodes.split()) == 200


CASES: Final = [
    ("message_type", "done", "done", True),
    ("message_type", "done", "Done", False),
    ("message_type", "done", '{"type": "done"}', True),
    ("message_type", "done", '{"kind": "done"}', False),
    ("message_type", "done", '{"type": "done"', False),
    ("message_type", "", "", True),
    ("content_contains", "yes", "Yes!", True),
    ("content_contains", "STRASSE", "Straße", True),
    ("content_contains", "", "x", True),
    ("mood", "good", "bad", True),
]


def test_a_condition_holds_or_not() -> None:
    found = [holds(Condition(type=kind, value=value), output) for kind, value, output, _ in CASES]
    assert found == [outcome for *_, outcome in CASES]


GOOD = ["60", "1", "5", "daily@09:00", "daily@00:00", "daily@23:59", "weekly@1,3,5", "weekly@0", "weekly@6"]
BAD = [
    *("", " 30 ", "5s", "1.9", "1e3", "0", "-1", "abc", "٦٠", "daily@ 9:00", "daily@09:00\n", "daily@9:30"),
    *("daily@99:99", "daily@24:00", "daily@12", "Daily@09:00", "weekly@7", "weekly@mon", "weekly@1,,2"),
    *("weekly@-1", "weekly@", "weekly@1,1"),
]


def refused(mode: str, schedules: Sequence[str]) -> list[str]:
    """Return the schedules that a mode refuses as values of the wrong form."""
    faults = {schedule: fault_in(mode, schedule) for schedule in schedules}
    wrong = {schedule: fault for schedule, fault in faults.items() if fault is not None}
    assert [(fault.code, fault.found) for fault in wrong.values()] == [("DF4002", repr(one)) for one in wrong]
    return [*wrong]


def test_the_example_of_the_document_takes_turns_for_ten_rounds() -> None:
    with scripted(always):
        found = steps(Flow.load(converted("agentron/turns")).run_sync(inputs={"mood": "glad"}))
    assert [step["node"] for step in found] == ["a1", "a2"] * 10
    assert [step["agent"] for step in found[:2]] == ["<agent-1-id>", "<agent-2-id>"]


def test_schedules_are_read_strictly_and_kept() -> None:
    assert refused("interval", GOOD) == []
    assert refused("interval", BAD) == BAD
    assert fault_in("continuous", None) is None
    assert refused("continuous", ["5", "daily@09:00", "0", "x"]) == ["daily@09:00", "0", "x"]
    branches = [
        {"id": "n", "name": "Night", "nodes": [], "executionMode": "interval", "schedule": "daily@03:30"},
        {"id": "c", "nodes": [], "executionMode": "continuous"},
    ]
    assert flow_of(workflow("a", branches=branches)).wiring.meta["agentron"] == {
        "name": "small",
        "executionMode": "one_time",
        "branches": [
            {"id": "n", "name": "Night", "executionMode": "interval", "schedule": "daily@03:30"},
            {"id": "c", "executionMode": "continuous"},
        ],
    }
