"""A run that goes on after a reply, in the words of Agentron Studio."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from dataflow import Result, Run, RunFailed
from dataflow_agent import ModelFailed, ScriptedAnswer, ScriptedCall, scripted
from dataflow_formats.agentron.words import AgentronWords
from tests.nodes.formats.agentron.walking import MODEL, flow_of, workflow

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
        'RunStarted {"workflowId": "small"}',
        'UserResponded {"content": "this"}',
        'NodeRequested {"nodeId": "b"}',
        'NodeCompleted {"nodeId": "b", "output": "red"}',
    ]
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
