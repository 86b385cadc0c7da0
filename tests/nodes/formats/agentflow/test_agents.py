"""Agents of a workflow: what their model is asked with, loops that go on, and agents below others."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from dataflow import Store
from dataflow_agent import ModelFailed, ScriptedAnswer, ScriptedCall, scripted
from dataflow_formats.agentflow.words import AgentFlowWords
from tests.nodes.formats.agentflow.flowing import (
    agent,
    approval,
    flow_of,
    if_,
    ran,
    repeated,
    start,
    told,
    workflow,
)

ABLE: Final[dict[str, Any]] = {"tools": {"subagents": True}}
CALLING: Final = ScriptedAnswer(tool_calls=(ScriptedCall(name="subagent_b_b", arguments={"prompt": "look"}),))
TEAM: Final = workflow(
    [start(), agent("a", **ABLE), agent("b", systemPrompt="You look.")], "s>a a.subagent>b"
)


def test_a_model_is_asked_with_the_settings_of_its_agent() -> None:
    data = {"systemPrompt": "Be brief.", "model": "gpt-5-mini", "reasoningEffort": "high"}
    (request,) = ran(
        workflow([start(), agent("a", "hi", tools={"web_search": True}, **data)], "s>a")
    ).requests
    assert (request.model, request.options.reasoning_effort) == ("openai/gpt-5-mini", "high")
    assert (request.options.web_search, request.messages[-1].content) == (True, "hi")
    assert "Be brief." in str(request)


def test_a_node_after_a_loop_that_goes_on_runs_in_each_round() -> None:
    nodes = [start(), agent("w", "w"), if_("i", ("equal", "done")), "z"]
    answers = iter(["more", "more", "done"])
    found = ran(
        workflow(nodes, "s>w w>i i.false>w w>z"),
        lambda request: next(answers) if request.messages[-1].content == "w" else repeated(request),
    )
    assert sorted(prompt for prompt in found.prompts if prompt != "w") == ["Z done", "Z more", "Z more"]


async def test_the_note_of_an_approval_has_a_port_and_stands_in_prompts() -> None:
    nodes = [start("draft"), approval("p"), agent("z", "{{APPROVAL_NOTE}}: {{PREVIOUS_OUTPUT}}")]
    flow = flow_of(workflow(nodes, "s>p p.approve>z")).using(store=Store.memory())
    with scripted(repeated):
        paused = await flow.run()
        result = await flow.resume(paused.run_id, {"p/ask": {"decision": "approve", "note": "nice"}})
    assert result["z"] == "R[nice: draft]"
    assert result.get("p.note") == "nice"


async def test_an_agent_below_is_called_as_a_tool_and_told_of() -> None:
    flow = flow_of(TEAM)
    with scripted(CALLING, "seen", "done") as script:
        entries, record, _ = await told(flow.start(), AgentFlowWords(flow.to_dict()))
    assert record["state"]["a"] == "done"
    assert "b" not in record["state"]
    assert [str(request.messages[-1].content) for request in script.requests][1] == "look"
    calls: list[Any] = [
        (node, kind, json.loads(content)) for node, kind, content in entries if kind.startswith("subagent")
    ]
    assert [(node, kind) for node, kind, _ in calls] == [
        ("a", "subagent_call_start"),
        ("a", "subagent_call_end"),
    ]
    known = {"parentNodeId": "a", "subagentNodeId": "b", "subagentName": "B", "depth": 1}
    assert all(known.items() <= content.items() for _, _, content in calls)
    assert calls[1][2]["message"] == "seen"


async def test_a_failing_model_is_told_once() -> None:
    flow = flow_of(workflow([start(), "a", "b"], "s>a a>b"))
    with scripted(ModelFailed("openai/gpt-5", "boom")):
        entries, record, _ = await told(flow.start(), AgentFlowWords(flow.to_dict()))
    (failed,) = [entry for entry in entries if "error" in entry[1]]
    assert failed[:2] == ("a", "llm_error")
    assert failed[2].startswith("DF2117 model 'openai/gpt-5': ")
    assert (record["status"], record["currentNodeId"]) == ("failed", None)


async def test_an_answer_is_told_in_the_sitting_that_it_is_given_to() -> None:
    flow = flow_of(workflow([start("draft"), approval("p"), "a"], "s>p p.approve>a"))
    with scripted(repeated):
        first, paused_record, paused = await told(flow.start(), AgentFlowWords(flow.to_dict()))
        answer = {"p/ask": {"decision": "approve", "note": " ok "}}
        second, record, _ = await told(flow.resuming(paused, answer), AgentFlowWords(flow.to_dict()))
    assert first[-2:] == [("p", "step_start", "approval"), ("p", "wait_input", "p?")]
    assert paused_record["waitingForInput"] is True
    assert second[0] == ("p", "input_received", "Approved: ok")
    assert record["state"]["p_approval"] == {"decision": "approve", "note": " ok "}
    assert (record["status"], record["waitingForInput"]) == ("completed", False)


pytestmark = pytest.mark.anyio
