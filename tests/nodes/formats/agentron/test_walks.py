"""Ways through a workflow that a walk takes, and those that the report warns of."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

import anyio

from dataflow import EventKind, Flow, NodeState
from dataflow.authoring.loops import find_loops
from dataflow_agent import ScriptedAnswer, ScriptedCall, scripted
from tests.nodes.agent.serving import SERVER
from tests.nodes.formats.agentron.walking import MODEL, agent, edge, flow_of, ran, steps, workflow

WAITING: Final = {"id": "w", "type": "wait_for_user", "parameters": {"question": "Which one?"}}


def test_at_the_limit_the_output_is_that_of_the_node_before_the_next_round() -> None:
    data = workflow("abc", "ab", edge("b", "c", "enough"), edge("b", "a"), maxRounds=2)
    found = ran(data, "1", "2", "3", "4")
    assert (found.nodes, found.result["output"]) == ("a b a b", "4")


def test_a_node_that_no_edge_leads_to_never_runs() -> None:
    data = workflow("abc", "ab", "cb", "cc")
    found = ran(data)
    assert (found.nodes, found.result.states["c"]) == ("a b", NodeState.SKIPPED)


def test_where_no_condition_holds_the_run_says_so() -> None:
    found = ran(workflow("ab", edge("a", "b", "yes")), "no", "x").result
    assert found.metadata["a/next"]["unrouted"] is True
    assert [warning.split(": ")[0] for warning in found.warnings] == ["DF4204 node 'a'"]
    held = ran(workflow("ab", edge("a", "b", "yes")), "yes", "x").result
    assert (held.warnings, "unrouted" in held.metadata["a/next"]) == ((), False)


def test_each_agent_has_its_own_model_and_instructions() -> None:
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


def test_an_agent_without_anything_is_told_to_do_its_task() -> None:
    assert ran(workflow("a")).prompts == ["Do your task."]


def test_what_others_said_can_be_kept_from_agents() -> None:
    data = workflow(["a", agent("b", topic="rain")], "ab", turnInstruction="Go on.")
    found = ran(data, inputs={"noSharedOutput": True, "mood": ["glad"]})
    assert found.prompts[1] == 'Go on.\n\ntopic: rain\nmood: ["glad"]'


def test_an_agent_calls_functions_and_the_tools_of_a_server() -> None:
    tools: list[Any] = ["tests.nodes.agent.agent_tools:add", {"command": [sys.executable, SERVER]}]
    agents = [{"name": "A", "model": MODEL, "tools": tools}]
    calls = (
        ScriptedCall(name="add", arguments={"a": 1, "b": 2}),
        ScriptedCall(name="echo", arguments={"text": "hello"}),
    )
    found = ran(workflow("a", agents=agents), ScriptedAnswer(tool_calls=calls), "done")
    results = [message.content for message in found.requests[1].messages if message.role == "tool"]
    assert results == ["3", "hello"]


def test_a_node_may_wait_for_somebody_by_itself() -> None:
    flow = flow_of(workflow(["a", WAITING, "b"], "aw", edge("w", "b", "yes"), edge("w", "a")))
    with scripted("roses", "red") as script:
        paused = flow.run_sync()
        assert [(ask.id, ask.prompt) for ask in paused.asks] == [("a[0]/w/wait", "Which one?")]
        resumed = anyio.run(flow.resume, paused, {"a[0]/w/wait": "Yes!"})
    assert resumed["output"] == "red"
    assert str(script.requests[1].messages[-1].content).endswith("Reply of the user:\nYes!")
    assert [step["follows_reply"] for step in steps(resumed)] == [False, False, True]


def test_heads_are_where_a_loop_is_entered() -> None:
    edges = [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("d", "a"), ("d", "d")]
    found = {number: loop.heads for loop in find_loops("a", edges) for number in loop.back}
    assert found == {2: frozenset("b"), 4: frozenset("a"), 5: frozenset("d")}


def test_the_end_of_a_loop_at_its_limit_is_an_event() -> None:
    flow = flow_of(workflow("ab", "ab", "ba", maxRounds=2))
    with scripted(lambda _: "x"):

        async def exits() -> list[str]:
            async with flow.start() as run:
                return [
                    event.data["reason"]
                    async for event in run.events()
                    if event.kind is EventKind.LOOP_EXITED and event.path == "a"
                ]

        assert anyio.run(exits) == ["max_iterations"]


def test_a_run_warns_of_a_loop_that_ends_at_its_rounds() -> None:
    entries = workflow("abc", edge("a", "b", "said"), "ac", "bc", "cb", maxRounds=2)
    loops = {
        ("DF0834 a", "2"): workflow("ab", "ab", "ba", maxRounds=2),
        ("DF0834 b", "1"): workflow("abc", "ab", "bc", "cb", maxRounds=1),
        ("DF0834 b_or_c", "4"): entries,
    }
    warned = [ran(data).result.warnings[0] for data in loops.values()]
    assert [re.findall(r"^(DF\d+ \w+): .*?(\d+)", one) for one in warned] == [[told] for told in loops]
    left_before = workflow("ab", edge("a", "b", "said"), "aa", maxRounds=1)
    assert ran(left_before).result.warnings == ()


def test_a_branch_has_its_own_rounds() -> None:
    loop = workflow("ab", "ab", "ba")
    branches = [{"id": "n", **loop, "maxRounds": 2}, {"id": "m", **loop}]
    data = workflow("x", maxRounds=1, branches=branches)
    assert ran(data, branch="n").nodes == "a b a b"
    assert len(ran(data, branch="m").nodes.split()) == 200


def test_what_means_the_same_has_no_remarks() -> None:
    flow = flow_of(workflow("abc", "ab", edge("b", "a", "again"), "bc", maxRounds=3))
    assert list(flow.report) == []
