"""Agents that others have as tools: nested, each in a conversation of its own (S10.6, AF20)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, NodeState, RunFailed
from dataflow_agent import Agent, ModelRequest, ScriptedAnswer, ScriptEnded, ScriptFailed, scripted, tools
from tests.nodes.agent.agent_tools import calling, results, room

MADE: Final[list[str]] = []


async def look_up(word: str) -> str:
    """Look a word up."""
    MADE.append(word)
    if word == "broken":
        raise OSError("no book")
    return f"{word} is a word"


def task(name: str, prompt: str) -> ScriptedAnswer:
    return calling((name, {"prompt": prompt}))


BOOKS: Final = tools(look_up)
reader = Agent("reader", model="openai/small", system="Read.", tools=BOOKS)
researcher = Agent(
    "researcher", model="openai/medium", system="Find facts.", tools=tools(reader.as_tool("reads books"))
)
lead = Agent("lead", model="openai/large", system="Lead.")
TEAM: Final = tools(look_up, researcher.as_tool("look facts up"))


def by_model(**answers: list[Any]) -> Callable[[ModelRequest], Any]:
    return lambda request: answers[request.model.partition("/")[2]].pop(0)


NESTED: Final[dict[str, list[Any]]] = {
    "large": [task("researcher", "foxes?"), "So it is."],
    "medium": [task("reader", "fox?"), "A fox is red."],
    "small": [calling(("look_up", {"word": "fox"})), "It says red."],
}


def nested() -> Callable[[ModelRequest], Any]:
    return by_model(**{model: [*answers] for model, answers in NESTED.items()})


async def test_agents_call_agents_each_in_a_conversation_of_its_own() -> None:
    MADE.clear()
    with scripted(nested()) as script:
        async with room(lead, TEAM).start() as run:
            finished = [
                event.data["metadata"] async for event in run.events() if event.kind == "node_finished"
            ]
            result = await run
    assert (result["text"], results(result["context"]), MADE) == ("So it is.", ["A fox is red."], ["fox"])
    assert result.warnings == ()
    sent = {request.model: [one.content for one in request.messages] for request in script.requests}
    assert sent == {
        "openai/large": ["House style.\n\nLead.", "hi", "", "A fox is red."],
        "openai/medium": ["Find facts.", "foxes?", "", "It says red."],
        "openai/small": ["Read.", "fox?", "", "fox is a word"],
    }
    ids = {request.model: request.session_id.partition("/")[2] for request in script.requests}
    assert ids["openai/small"] == "lead/turn[0]/call[0]/researcher/turn[0]/call[0]/reader"
    offered = {request.model: [spec.name for spec in request.tools] for request in script.requests}
    assert (offered["openai/large"], offered["openai/medium"]) == (["look_up", "researcher"], ["reader"])
    spec = script.requests[0].tools[1]
    assert (spec.name, spec.description) == ("researcher", "look facts up")
    assert spec.parameters["required"] == ["prompt"]
    assert spec.parameters["properties"]["prompt"]["type"] == "string"
    inner = f"{ids['openai/small']}/turn[0]"
    for path in (f"{inner}/ask", f"{inner}/call[0]/make", "lead/turn[0]/call[0]/researcher/turn[1]/ask"):
        assert result.states[path] is NodeState.DONE
    outer = {"parent": "lead", "subagent": "researcher", "call_id": "call_1", "depth": 1}
    below = {"parent": "researcher", "subagent": "reader", "call_id": "call_1", "depth": 2}
    assert [told for told in finished if str(told.get("type", "")).startswith("subagent_call")] == [
        {"type": "subagent_call_start", **outer, "message": "foxes?"},
        {"type": "subagent_call_start", **below, "message": "fox?"},
        {"type": "subagent_call_end", **below, "message": "It says red."},
        {"type": "subagent_call_end", **outer, "message": "A fox is red."},
    ]


async def test_a_subagent_that_fails_is_told_to_the_model_above_but_a_script_fails_the_run() -> None:
    broken = ScriptedAnswer(error="rate_limited")
    with scripted(by_model(large=[task("researcher", "foxes?"), "Sorry."], medium=[broken])):
        result = await room(lead, TEAM).run()
    [text] = results(result["context"])
    assert str(text).startswith("error: RateLimited: ")
    assert (result["text"], result.status) == ("Sorry.", "completed")
    told = result.metadata["lead/turn[0]/call[0]/told"]
    assert (told["type"], told["depth"], told["message"]) == ("subagent_call_error", 1, text)

    def refuses(request: ModelRequest) -> Any:
        assert request.model == "openai/large", "nobody else is asked"
        return task("researcher", "foxes?")

    first, second = NESTED["large"][0], NESTED["medium"][0]
    cases: list[Any] = [
        ([refuses], ScriptFailed, "DF2127 .*AssertionError: nobody else is asked"),
        ([first, second], ScriptEnded, "DF2126"),
    ]
    for answers, error, text in cases:
        with scripted(*answers), pytest.raises(RunFailed, match=text) as caught:
            await room(lead, TEAM).run()
        assert isinstance(caught.value.__cause__, error)


async def test_limits_of_a_subagent_and_of_the_agent_above_stop_it() -> None:
    short = Agent("short", model="openai/small", tools=BOOKS, max_tool_calls=0)
    wants = calling(("look_up", {"word": "a"}), text="I will.")
    with scripted(task("short", "hm?"), wants, "done"):
        result = await room(lead, short.as_tool("hurries")).run()
    assert results(result["context"]) == ["I will.\n\n[stopped by max_tool_calls]"]
    with scripted(task("researcher", "foxes?")) as script:
        result = await room(Agent("lead", model="openai/large", time_limit=1e-9), TEAM).run()
    assert (result["text"], len(script.requests)) == ("", 0)


ASKING: Final = tools(look_up, ask=["look_up"])


async def test_asks_of_a_subagent_pause_the_run_and_its_grants_count_above(tmp_path: Path) -> None:
    MADE.clear()
    helper = Agent("helper", model="openai/small", tools=ASKING)
    box = tools(ASKING, helper.as_tool("helps", ask=["helper(prompt=*book*)"]))
    looks = calling(("look_up", {"word": "fox"}))
    answers = {
        "large": [task("helper", "the book"), calling(("look_up", {"word": "owl"})), "done"],
        "small": [looks, "red"],
    }
    with scripted(by_model(**answers)) as script:
        first = await room(lead, box, tmp_path).run()
        [ask] = first.asks
        assert (ask.id, ask.show["tool"]) == ("lead/turn[0]/call[0]/approve", "helper")
        second = await room(lead, box, tmp_path).resume(first.run_id, {ask.id: "allow"})
        [ask] = second.asks
        assert ask.id == "lead/turn[0]/call[0]/helper/turn[0]/call[0]/approve"
        assert ask.prompt.startswith("helper wants to call look_up")
        third = await room(lead, box, tmp_path).resume(first.run_id, {ask.id: "allow_for_run"})
    assert (third["text"], MADE, len(script.requests)) == ("done", ["fox", "owl"], 5)


DOCUMENT: Final = """
dataflow: 1
nodes:
  lead:
    type: agent.agent
    config:
      model: openai/large
      tools: ["tests.nodes.agent.test_subagents:look_up"]
      subagents:
        - name: researcher
          description: look facts up
          model: openai/medium
          subagents:
            - name: reader
              description: reads
              model: openai/small
              tools: ["tests.nodes.agent.test_subagents:look_up"]
    values: {prompt: hi}
outputs: {text: lead.text}
"""


async def test_subagents_are_settings_in_a_document_and_survive_being_written(tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text(DOCUMENT)
    read = Flow.load(tmp_path / "team.yaml")
    with Flow("team") as team:
        team.output("text", team.add(lead, prompt="hi", tools=researcher.as_tool("look facts up")).out.text)
    for flow, system in ((read, []), (team, ["Lead."])):
        (tmp_path / "written.json").write_text(json.dumps(flow.to_dict()))
        for one in (flow, Flow.load(tmp_path / "written.json")):
            with scripted(nested()) as script:
                assert (await one.run())["text"] == "So it is."
            assert [said.content for said in script.requests[0].messages] == [*system, "hi"]
