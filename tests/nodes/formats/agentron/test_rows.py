# ruff: noqa: E501 - a row is a line
"""The behaviours of workflows of Agentron Studio, a row for each, and runs in its own words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, Result, Run, RunFailed, Store
from dataflow.durable.ownership import cancel_stored
from dataflow.errors import RunTaken
from dataflow_agent import ModelFailed, ModelRequest, ScriptedAnswer, ScriptedCall, scripted
from dataflow_formats.agentron.file import Condition, fault_in, holds
from dataflow_formats.agentron.words import AgentronWords
from tests.nodes.formats.agentron.walking import MODEL, agent, always, edge, flow_of, ran, steps, workflow
from tests.nodes.formats.golden import converted
from tests.nodes.formats.rows import Row, check_rows

#: What is no part of running a workflow that was asked for, with the reason.
LATER: Final = {
    "AG12": "schedules: nothing starts by itself yet",
    "AG13": "schedules", "AG14": "schedules", "AG15": "schedules", "AG16": "schedules", "AG17": "schedules",
    "AG22": "server: workflows are kept in files, which have no versions",
}  # fmt: skip
NIGHTLY: Final = {"id": "nightly", "nodes": [agent("w")], "edges": []}
ASKING: Final = ScriptedAnswer(
    tool_calls=(ScriptedCall(name="request_user_help", arguments={"question": "ok?", "reason": "unsure"}),)
)
HELPED: Final = [
    {"id": "1", "name": "A", "model": "openai/gpt-5"},
    {"id": "2", "name": "B", "model": "openai/gpt-5", "tools": ["request_user_help"]},
    {"id": "3", "name": "C", "model": "openai/gpt-5"},
]
ABC: Final = workflow("abc", "ab", "bc", agents=HELPED)
FORK: Final = workflow("abc", edge("a", "b", "yes"), edge("a", "c"))


def path_of(data: dict[str, Any], *answers: str, **options: Any) -> tuple[str, str]:
    found = ran(data, *answers, **options)
    return found.nodes, found.result.status


def speaks_in_turn(request: ModelRequest) -> str:
    told = str(request.messages[-1].content)
    return str(int(told.rpartition("\n")[2]) + 1) if "Output from" in told else "1"


def fifteen_turns() -> tuple[int, str, str]:
    """Look at what the 16th turn is told: how many lines of turns, the first and the last of them."""
    flow = flow_of(workflow("ab", "ab", "ba", maxRounds=8))
    with scripted(speaks_in_turn) as script:
        flow.run_sync()
    told = str(script.requests[-1].messages[-1].content)
    lines = told.partition("Recent turns:\n")[2].partition("\n\n")[0].splitlines()
    return len(lines), lines[0], lines[-1]


async def paused_and_resumed() -> dict[str, Any]:
    store = Store.memory()
    with scripted("roses", ASKING, "asked"):
        paused = await flow_of(ABC).using(store=store).run()
    with scripted("so be it") as script:
        resumed = await flow_of(ABC).using(store=store).resume(paused.run_id, {"b/wait": "go"})
    return {
        "paused": [(ask.id, ask.prompt, ask.show) for ask in paused.asks],
        "told": [str(request.messages[-1].content).rpartition("\n\n")[2] for request in script.requests],
        "nodes": [(step["node"], step["output"]) for step in steps(resumed)],
        "status": (paused.status, resumed.status),
    }


async def cancelled_while_it_waits() -> list[str]:
    store = Store.memory()
    with scripted("roses", ASKING, "asked"):
        paused = await flow_of(ABC).using(store=store).run()
    cancel_stored(store, paused.run_id)
    with pytest.raises(RunTaken) as refused:
        cancel_stored(store, paused.run_id)
    return [paused.status, refused.value.code]


def failing() -> tuple[str, str, str]:
    found = ran(workflow("ab", "ab"), "roses", ModelFailed("openai/gpt-5", "boom"))
    path, kind, code = str(found.error).partition(" failed: ")[2].split(": ", 2)
    return found.nodes, found.result.status, f"{path}: {kind}: {code.split()[0]}"


def trail() -> list[tuple[Any, ...]]:
    found = steps(ran(workflow("ab", "ab"), "roses", "red").result)
    return [(step["order"], step["node"], step["output"], step["to"], step["to_agent"]) for step in found]


def branch() -> tuple[str, Any, str]:
    data = workflow("a", branches=[NIGHTLY])
    found = ran(data, branch="nightly")
    return found.nodes, flow_of(data, branch="nightly").wiring.meta["agentron"]["branch"], ran(data).nodes


ROWS: Final = [
    Row("AG01", "rounds count arrivals at the first node", lambda: path_of(workflow("ab", "ab", "ba", maxRounds=3)), ("a b a b a b", "completed")),
    Row("AG02", "a chain is gone through once", lambda: path_of(workflow("abc", "ab", "bc", maxRounds=5)), ("a b c", "completed")),
    Row("AG03", "without edges the nodes run as they are listed", lambda: path_of(workflow("ca")), ("c a", "completed")),
    Row("AG04", "without a limit it is 100", lambda: len(path_of(workflow("ab", "ab", "ba"))[0].split()), 200),
    Row("AG05", "a loop without the first node is limited too", lambda: path_of(workflow("abc", "ab", "bc", "cb", maxRounds=2)), ("a b c b c", "completed")),
    Row("AG06", "the first edge whose condition holds is followed", lambda: (path_of(FORK, "Yes!", "x")[0], path_of(FORK, "no", "x")[0]), ("a b", "a c")),
    Row("AG07", "where none holds, the first edge is", lambda: path_of(workflow("abc", edge("a", "b", "yes"), edge("a", "c", "perhaps")), "no", "x")[0], "a b"),
    Row("AG08", "an agent is told what the one before it gave", lambda: ran(workflow([agent("a", "Poet"), "b"], "ab"), "roses", "x").prompts[1].rpartition("\n\n")[2], "Output from Poet:\nroses"),
    Row("AG09", "and the last 12 turns", fifteen_turns, (12, "B: 4", "A: 15")),
    Row("AG10", "inputs of the run count before parameters", lambda: ran(workflow([agent("a", url="x")]), inputs={"url": "y"}).prompts, ["This is the first turn.\nurl: y"]),
    Row("AG11", "a branch runs alone", branch, ("w", "nightly", "a")),
    Row("AG18", "each call of an agent is a step", trail, [(0, "a", "roses", "b", "B"), (1, "b", "red", None, None)]),
    Row("AG19", "a failure leaves the steps before it", failing, ("a", "failed", "b/agent/turn[0]/ask: ModelFailed: DF2117")),
    Row("AG20", "a reply goes to the next agent", paused_and_resumed, {
        "paused": [("b/wait", "ok?", {"reason": "unsure"})], "told": ["Reply of the user:\ngo"],
        "nodes": [("b", "go"), ("c", "so be it")], "status": ("paused", "completed"),
    }),
    Row("AG21", "a run that waits is cancelled once", cancelled_while_it_waits, ["paused", "DF1114"]),
]  # fmt: skip


async def test_a_behaviour_is_as_its_row_says(subtests: pytest.Subtests) -> None:
    await check_rows(ROWS, subtests)


def test_each_behaviour_has_a_row_or_a_reason() -> None:
    assert sorted([*(row.id for row in ROWS), *LATER]) == [f"AG{number:02}" for number in range(1, 23)]


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


WAITING: Final = {"id": "w", "type": "wait_for_user", "parameters": {"question": "Which one?"}}


async def told(running: Any, words: AgentronWords) -> tuple[list[str], Result]:
    """Return the lines that a sitting of a run comes to, the record last."""
    async with running as run:
        assert isinstance(run, Run)
        lines = [line async for event in run.events() for line in words.see(event)]
        result = await run
    return [*lines, *words.end(result.outputs)], result


async def test_what_was_replied_is_told_and_the_trail_begins_anew() -> None:
    flow = flow_of(workflow(["a", WAITING, "b"], "aw", "wb"))
    with scripted("roses", "red"):
        lines, paused = await told(flow.start(), AgentronWords(flow.to_dict()))
        record = json.loads(lines[-1])
        assert record["status"] == "waiting_for_user"
        assert "finishedAt" not in record
        assert record["output"]["question"] == "Which one?"
        lines, _ = await told(flow.resuming(paused, {"w/wait": "this"}), AgentronWords(flow.to_dict()))
    assert lines[:-1] == [
        'RunStarted {"workflowId": "small"}', 'UserResponded {"content": "this"}',
        'NodeRequested {"nodeId": "b"}', 'NodeCompleted {"nodeId": "b", "output": "red"}',
    ]  # fmt: skip
    record = json.loads(lines[-1])
    assert [step["nodeId"] for step in record["output"]["trail"]] == ["w", "b"]
    assert record["output"]["trail"][1]["inputIsUserReply"] is True


async def test_the_trail_has_the_calls_of_tools() -> None:
    agents = [{"name": "A", "model": MODEL, "tools": ["tests.nodes.agent.agent_tools:add"]}]
    flow = flow_of(workflow("ab", "ab", agents=agents))
    calls = (ScriptedCall(name="add", arguments={"a": 1, "b": 2}), ScriptedCall(name="subtract"))
    with scripted(ScriptedAnswer(tool_calls=calls), "three", "so it is"):
        lines, _ = await told(flow.start(), AgentronWords(flow.to_dict()))
    first, second = json.loads(lines[-1])["output"]["trail"]
    added, unknown = first["toolCalls"]
    assert added == {"name": "add", "argsSummary": '{"a": 1, "b": 2}', "resultSummary": "3"}
    assert (unknown["name"], "subtract" in unknown["resultSummary"]) == ("subtract", True)
    assert "toolCalls" not in second


async def test_the_step_that_failed_has_its_round_and_the_error_of_its_own_turn() -> None:
    flow = flow_of(workflow("ab", "ab", "ba", maxRounds=3))
    with scripted("1", "2", ModelFailed("openai/gpt-5", "boom")):
        async with flow.start() as run:
            words = AgentronWords(flow.to_dict())
            lines = [line async for event in run.events() for line in words.see(event)]
            with pytest.raises(RunFailed):
                await run
    assert lines[-1] == 'NodeRequested {"nodeId": "a"}'
    output = json.loads([*words.end({})][-1])["output"]
    failed = output["trail"].pop()
    assert [step["nodeId"] for step in output["trail"]] == ["a", "b"]
    assert (failed["nodeId"], failed["order"], failed["round"]) == ("a", 2, 1)
    earlier = output["trail"][0]
    assert [key for key in failed if key in earlier] == [key for key in earlier if key in failed]
    assert failed["error"] == output["error"]
    assert failed["error"].startswith("DF2117 model 'openai/gpt-5':")
