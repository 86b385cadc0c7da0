"""`agent.agent`: a loop of model calls with a map over the calls of tools, as a flow node."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import anyio
import pytest
from pydantic import ValidationError

from dataflow import (
    ConversationInvalid,
    EventKind,
    ExecutionContext,
    Flow,
    FlowInvalid,
    Message,
    NodeState,
    RunFailed,
    ToolCall,
)
from dataflow_agent import (
    Agent,
    AgentConfig,
    ModelAnswer,
    ModelRequest,
    RateLimited,
    ScriptedAnswer,
    Toolbox,
    agent,
    scripted,
    tools,
)
from dataflow_agent.servers import offers
from dataflow_agent.servers.offers import Offer
from tests.nodes.agent.agent_tools import ENTERED, add, calling, fails, meet, said, slow, weather, where

lead = Agent("lead", model="openai/gpt", system="Lead.")
OVER: Final = {"may_overshoot": True}


def adding(count: int, text: str = "") -> ScriptedAnswer:
    return calling(*[("add", {"a": number, "b": 1}) for number in range(count)], text=text)


def room(placed: Agent = lead, box: Toolbox = tools(add, fails, where)) -> Flow:  # noqa: B008 - frozen
    with Flow("room") as flow:
        main = flow.context("main", system="House style.")
        story = flow.add(placed, prompt=flow.input("topic", str, "hi"), context=main, tools=box)
        flow.output("text", story.out.text)
        flow.output("context", story.out.context)
        flow.output("stopped_by", story.out.stopped_by)
    return flow


async def test_a_whole_turn_with_its_calls_is_appended_at_the_end() -> None:
    with scripted(adding(2, "let me see"), calling(("where", {})), "It is 2.") as script:
        result = await room().run()
    assert (result["text"], result["stopped_by"]) == ("It is 2.", "answer")
    assert said(result["context"]) == [
        ("user", "hi"),
        ("assistant", "let me see"), ("tool", "1"), ("tool", "2"),
        ("assistant", ""), ("tool", "lead/turn[1]/call[0]/make"),
        ("assistant", "It is 2."),
    ]  # fmt: skip
    result["context"].check()
    assert (result["context"].current_output, len(result["context"].turns())) == ("It is 2.", 1)
    first, second, third = (request.messages for request in script.requests)
    assert [(one.role, one.content) for one in first] == [("system", "House style.\n\nLead."), ("user", "hi")]
    assert (second[: len(first)], third[: len(second)]) == (first, second)
    assert [spec.name for spec in script.requests[2].tools] == ["add", "fails", "where"]


async def test_each_call_of_a_model_and_of_a_tool_is_a_firing() -> None:
    with scripted(adding(2), adding(1), "done"):
        result = await room().run()
    fired = [path for path, state in result.states.items() if state is NodeState.DONE and "[" in path]
    assert sorted(path for path in fired if path.endswith(("ask", "]"))) == [
        "lead/turn[0]/ask", "lead/turn[0]/call[0]", "lead/turn[0]/call[1]",
        "lead/turn[1]/ask", "lead/turn[1]/call[0]", "lead/turn[2]/ask",
    ]  # fmt: skip
    told = result.metadata["lead/turn[0]/ask"]
    assert (told["model"], told["finish_reason"]) == ("openai/gpt", "tool_calls")
    assert told["usage"]["input_tokens"] == 4


async def test_bad_calls_have_a_result_each_in_order_and_are_not_made() -> None:
    """B42."""
    calls = calling(
        ("add", {"a": 1, "b": 2}), ("add", '{"a": 1, '), ("sub", {"a": 1}), ("add", {"a": "x", "b": 2}),
        ("fails", {}),
    )  # fmt: skip
    ENTERED.clear()
    with scripted(calls, calling(("add", {"a": 1, "b": 5})), "done"):
        result = await room().run()
    results = [str(content) for role, content in said(result["context"]) if role == "tool"]
    assert (results[0], results[5], result["text"]) == ("3", "6", "done")
    assert [text.partition(": ")[2][:20] for text in results[1:5]] == [
        "the arguments are no", "no tool has the name", "the arguments do not", "OSError: nothing",
    ]  # fmt: skip
    assert ENTERED == ["add 1 2", "add 1 5"]


async def test_calls_of_one_answer_are_made_at_once_and_their_results_keep_the_order() -> None:
    calls = calling(("meet", {"waits": True}), ("meet", {"waits": False}))
    with scripted(calls, "done"):
        result = await room(box=tools(meet)).run()
    results = [content for role, content in said(result["context"]) if role == "tool"]
    assert results == ["true", "false"]


async def test_a_conversation_goes_on_from_agent_to_agent() -> None:
    with Flow("twice") as flow:
        first = flow.add(lead, prompt="one", context=flow.context("main"), tools=tools(add))
        second = flow.add(lead, prompt="two", context=first.out.context)
        flow.output("context", second.out.context)
    with scripted(adding(1), "first", "second") as script:
        result = await flow.run()
    assert [content for role, content in said(result["context"]) if role != "tool"] == [
        "one", "", "first", "two", "second",
    ]  # fmt: skip
    assert script.requests[2].tools == ()
    assert "lead_2/turn[0]/ask" in result.states


async def test_called_directly_it_runs_as_a_flow_of_its_own() -> None:
    with scripted(adding(1), "done") as script:
        reply = await lead("hi", tools=tools(add))
    assert (reply.text, reply.stopped_by, len(reply.context.message_history)) == ("done", "answer", 4)
    assert reply.context.context_id == reply.context.session_id == script.requests[0].session_id
    with scripted("again"):
        longer = await lead("more", context=reply.context)
    assert [one.content for one in longer.context.message_history][-2:] == ["more", "again"]
    assert longer.context.context_id == reply.context.context_id


async def test_without_a_context_it_begins_one_named_like_its_firing() -> None:
    with Flow("alone") as flow:
        flow.output("context", flow.add(lead, prompt="hi").out.context)
    with scripted("x"):
        result = await flow.run()
    assert result["context"].context_id == f"{result.run_id}/lead"


async def test_a_limit_ends_the_turn_with_the_text_so_far() -> None:
    cases: list[Any] = [
        ({"max_tool_calls": 2}, (adding(2, "1"), adding(1, "2")), "max_tool_calls", "1\n\n2", "uattA"),
        ({"max_tool_calls": 1}, (adding(2),), "max_tool_calls", "", "uA"),
        ({"max_tool_calls": 0}, (adding(1, "I would"),), "max_tool_calls", "I would", "uA"),
        ({"max_turns": 2}, (adding(1, "one"), adding(1)), "max_turns", "one", "uatA"),
        (
            {"max_turns": 1}, (adding(1, "[stopped by max_turns]"),), "max_turns",
            "[stopped by max_turns]", "uA",
        ),
        ({"max_turns": 1}, ("done",), "answer", "done", "uA"),
        ({}, (adding(10), adding(1)), "max_tool_calls", "", "ua" + 10 * "t" + "A"),
        ({"max_tool_calls": 1, **OVER}, (adding(2, "1"),), "max_tool_calls", "1", "uattA"),
        ({"max_tool_calls": 2, **OVER}, (adding(1), adding(2, "2")), "max_tool_calls", "2", "uatattA"),
        ({"max_tool_calls": 0, **OVER}, (), "max_tool_calls", "", "uA"),
        ({"max_tool_calls": 2, **OVER}, (adding(1), "Done."), "answer", "Done.", "uatA"),
    ]  # fmt: skip
    for settings, answers, stopped_by, text, roles in cases:
        with scripted(*answers):
            result = await room(Agent("lead", model="openai/gpt", **settings)).run()
        assert (result["text"], result["stopped_by"]) == (text, stopped_by)
        history = result["context"].message_history
        assert "".join(one.role[0] for one in history) == roles.lower()
        assert history[-1].tool_calls == ()
        assert history[-1].content
        result["context"].check()


async def test_time_that_is_over_ends_a_call_of_the_model() -> None:
    async def answers(request: ModelRequest) -> Any:
        if len(request.messages) > 2:
            await anyio.sleep_forever()
        return adding(1, "so far")

    with scripted(answers):
        result = await room(Agent("lead", model="openai/gpt", time_limit=3)).run()
    assert (result["text"], result["stopped_by"]) == ("so far", "time_limit")
    assert said(result["context"])[-1] == ("assistant", "[stopped by time_limit]")


async def test_time_that_is_over_ends_a_call_of_a_tool_and_the_model_is_not_asked_again() -> None:
    with scripted(calling(("slow", {"seconds": 1000.0}), text="wait")) as script:
        result = await room(Agent("lead", model="openai/gpt", time_limit=3), tools(slow)).run()
    assert (result["text"], result["stopped_by"], len(script.requests)) == ("wait", "time_limit", 1)
    assert said(result["context"])[2:] == [
        ("tool", "error: there was no time left for this call to end"),
        ("assistant", "[stopped by time_limit]"),
    ]


async def test_calls_without_ids_of_their_own_are_told_apart() -> None:
    calls = tuple(ToolCall("same", "add", f'{{"a": {number}, "b": 0}}') for number in range(2))
    with scripted(ModelAnswer("", calls, finish_reason="tool_calls"), "done"):
        result = await room().run()
    assert [one.tool_call_id for one in result["context"].message_history if one.role == "tool"] == [
        "call_1", "call_2",
    ]  # fmt: skip


async def test_only_allowed_tools_are_offered_and_called() -> None:
    picky = Agent("lead", model="openai/gpt", allowed_tools=["where"])
    with scripted(adding(1), "done") as script:
        result = await room(picky).run()
    assert [spec.name for spec in script.requests[0].tools] == ["where"]
    assert said(result["context"])[2] == (
        "tool",
        "error: no tool has the name 'add'; available: where",
    )
    with scripted("never"), pytest.raises(RunFailed) as caught:
        await room(Agent("lead", model="openai/gpt", allowed_tools=["sub"])).run()
    assert caught.value.failures[0].type == FlowInvalid.__name__


async def test_a_model_that_fails_fails_the_agent_and_may_be_asked_again() -> None:
    busy = ScriptedAnswer(error="rate_limited", retry_after=0)
    with scripted(adding(1), busy), pytest.raises(RunFailed) as caught:
        await room().run()
    assert caught.value.failures[0].type == RateLimited.__name__
    assert caught.value.failures[0].path == "lead/turn[1]/ask"
    with scripted(adding(1), busy, "done") as script:
        result = await room(Agent("lead", model="openai/gpt", retries=1)).run()
    assert (result["text"], len(script.requests)) == ("done", 3)


async def test_a_conversation_with_a_call_left_open_is_refused() -> None:
    broken = ExecutionContext("c").append(
        Message("user", "x"), Message("assistant", "", (ToolCall("1", "add", "{}"),))
    )
    with scripted("never") as script, pytest.raises(RunFailed) as caught:
        await lead("hi", context=broken)
    assert (caught.value.failures[0].type, script.requests) == (ConversationInvalid.__name__, [])


async def test_tools_are_lazy_and_not_made_on_a_branch_that_is_not_taken() -> None:
    made: list[str] = []

    async def make() -> Toolbox:
        made.append("made")
        return tools(add)

    with Flow("lazy") as flow:
        box = flow.add(make)
        exits = flow.when(flow.input("topic", str), lambda topic: topic != "no")
        flow.output("text", flow.add(lead, prompt=exits.yes, tools=box.out).out.text)
    with scripted("done"):
        await flow.run(topic="no")
        assert made == []
        await flow.run(topic="yes")
    assert made == ["made"]


async def test_pieces_of_each_answer_are_events() -> None:
    with scripted(ScriptedAnswer(pieces=("a", "b"))):
        async with room().start() as run:
            pieces = [event.data["piece"] async for event in run.events() if event.kind is EventKind.PIECE]
    assert pieces == ["a", "b"]


async def test_with_keeps_settings_and_takes_those_of_a_node() -> None:
    patient = lead.with_(name="other", on_error="skip")
    with Flow("skips") as flow:
        flow.output("text", flow.add(patient, prompt="x").out.text)
    with scripted(ScriptedAnswer(error="request_refused")):
        result = await flow.run()
    assert (result.outputs, result.states["other"]) == ({}, NodeState.FAILED)


def test_a_setting_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValidationError):
        Agent("lead", model="openai/gpt", max_tool_calls=-1)
    with pytest.raises(ValidationError):
        Agent("lead", model="no provider")


async def test_it_is_a_node_type_of_documents(tmp_path: Path) -> None:
    file = tmp_path / "room.yaml"
    file.write_text(
        "dataflow: 1\n"
        "inputs: {topic: {type: string}}\n"
        "nodes:\n"
        "  box: {type: agent.tools, config: {functions: ['tests.nodes.agent.agent_tools:add']}}\n"
        "  lead:\n"
        "    type: agent.agent\n"
        "    config: {model: openai/gpt}\n"
        "    inputs: {prompt: $in.topic, tools: box.tools}\n"
        "outputs: {text: lead.text, stopped_by: lead.stopped_by}\n"
    )
    loaded = Flow.load(file)
    with scripted(adding(1), "done"):
        assert (await loaded.run(topic="x")).outputs == {"text": "done", "stopped_by": "answer"}
    again = room().to_dict()
    assert again["nodes"]["lead"]["type"] == "agent.agent"
    assert again["nodes"]["lead"]["config"]["system"] == "Lead."


async def test_as_a_type_it_takes_a_config_and_runs_by_itself() -> None:
    with scripted(adding(1), "done"):
        reply = await agent("hi", tools=tools(add), config=AgentConfig(model="openai/gpt"))
    assert reply.text == "done"
    with Flow("typed") as flow:
        box = flow.add(offers.tools, config=Offer(functions=["tests.nodes.agent.agent_tools:weather"]))
        step = flow.add(agent, prompt="x", tools=box.out.tools, config=AgentConfig(model="openai/gpt"))
        flow.output("text", step.out.text)
    with scripted("fine") as script:
        assert (await flow.run())["text"] == "fine"
    assert [spec.name for spec in script.requests[0].tools] == [weather.__name__]
