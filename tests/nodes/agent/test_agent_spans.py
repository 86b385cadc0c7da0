"""Spans of models, agents and tools: the names of the conventions, and the right parents (S19, B52)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import anyio
import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode
from syrupy.assertion import SnapshotAssertion

from dataflow import ExecutionContext, Flow, Image, Message, RunFailed, Secret, ToolCall, node, this_firing
from dataflow_agent import Agent, Chat, ScriptedAnswer, chat, scripted, tools
from tests.nodes.agent.agent_tools import calling, fails, meet, room
from tests.nodes.agent.serving import ON_ASYNCIO
from tests.support.known_secrets import forgetting
from tests.support.spans import Spans

lead = Agent("lead", model="mistral/large", system="Be kind.")


async def look(at: str) -> str:
    """Look at something."""
    with this_firing().span(f"look {at}"):
        await anyio.lowlevel.checkpoint()
    return f"seen {at}"


def stare(at: str) -> str:
    with this_firing().span(f"stare {at}"):
        return f"stared at {at}"


BOX: Final = tools(look, stare, fails, meet)
LOOKS: Final = calling(("look", {"at": "it"}))


def around(spans: Spans) -> list[tuple[str, str | None]]:
    labels = {span.context.span_id: spans.label(span) for span in spans.all if span.context is not None}
    return sorted(
        (spans.label(span), None if span.parent is None else labels.get(span.parent.span_id))
        for span in spans.all
    )


def attributes(span: ReadableSpan) -> dict[str, Any]:
    told = dict(span.attributes or {})
    run = str(told.pop("dataflow.run.id", "RUN"))
    return {
        name: json.loads(str(value)) if name.endswith("messages") else str(value).replace(run, "RUN")
        for name, value in told.items()
    }


@ON_ASYNCIO  # one snapshot for both; the tests below ask for the same on trio
async def test_the_turn_of_an_agent_is_the_span_of_its_node_and_each_call_of_a_tool_has_one(
    snapshot: SnapshotAssertion,
) -> None:
    for content in (False, True):
        spans = Spans(content=content)
        with scripted(LOOKS, "an answer"):
            await room(lead, BOX, **spans.settings).run(prompt="a question")
        turn, call = spans.one("lead"), spans.one("execute_tool look")
        assert (turn.name, turn.kind, call.kind) == (
            "invoke_agent lead", SpanKind.INTERNAL, SpanKind.INTERNAL,
        )  # fmt: skip
        assert ([f"{one} in {outer}" for one, outer in around(spans)]) == snapshot(name="spans")
        assert (attributes(turn), attributes(call)) == snapshot
        for text in ("a question", "an answer", "seen", "Be kind"):
            assert (text in spans.text()) is content


async def test_the_turn_of_an_agent_below_is_a_span_inside_the_call_of_the_one_above() -> None:
    scout, short = (
        Agent(name, model="mistral/small", tools=tools(look), max_turns=most)
        for name, most in (("scout", 9), ("short", 1))
    )
    box = tools(scout.as_tool("Looks around."), short.as_tool("Looks once."))
    asks = (
        calling(("scout", {"prompt": "look"})), LOOKS, "it is there", calling(("short", {"prompt": "look"})),
    )  # fmt: skip
    spans = Spans(content=True)
    with scripted(*asks, LOOKS, "there"):
        await room(lead, box, **spans.settings).run()
    inside = dict(around(spans))
    place, places = "execute_tool look", []
    while (outer := inside[place]) is not None:
        place = outer
        places.append(place)
    assert {"lead/turn[0]/call[0]/scout", "lead/turn[0]/call[0]", "lead"} < {*places}
    for label, name, reason in (
        ("lead/turn[0]/call[0]/scout", "scout", "stop"),
        ("lead/turn[1]/call[0]/short", "short", "max_turns"),
        ("lead", "lead", "stop"),
    ):
        told = attributes(spans.one(label))
        assert (spans.one(label).name, told["gen_ai.agent.name"]) == (f"invoke_agent {name}", name)
        assert told["gen_ai.output.messages"][0]["finish_reason"] == reason
    assert [span.name for span in spans.all].count("execute_tool look") == 1


async def test_calls_that_are_made_at_once_are_each_inside_their_own_node_also_in_threads() -> None:
    """B52: two calls wait for each other, two are in threads, two agents run at once."""
    with Flow("rooms") as flow:
        for name in ("left", "right"):
            asked = flow.add(Agent(name, model="openai/gpt"), prompt=name, tools=BOX)
            flow.output(name, asked.out.text)

    def answer(request: Any) -> ScriptedAnswer:
        who = str(request.messages[0].content)
        if len(request.messages) > 1:
            return ScriptedAnswer(text=who)
        meeting = [("meet", {"waits": True}), ("meet", {"waits": False})] if who == "left" else []
        return calling(*meeting, *[("stare", {"at": f"{who} {number}"}) for number in range(2)])

    spans = Spans()
    with scripted(answer):
        await flow.using(**spans.settings).run()
    ids = {span.context.span_id: span for span in spans.all if span.context is not None}
    for who, first in (("left", 2), ("right", 0)):
        for number in range(2):
            [staring] = [span for span in spans.all if span.name == f"stare {who} {number}"]
            assert staring.parent is not None
            call = ids[staring.parent.span_id]
            assert call.name == "execute_tool stare"
            assert call.parent is not None
            assert spans.label(ids[call.parent.span_id]) == f"{who}/turn[0]/call[{first + number}]/make"
        assert spans.told(who, "gen_ai.agent.name") == who
    assert [pair for pair in around(spans) if pair[0] == "execute_tool meet"] == [
        ("execute_tool meet", "left/turn[0]/call[0]/make"),
        ("execute_tool meet", "left/turn[0]/call[1]/make"),
    ]
    assert len({span.context.trace_id for span in spans.all if span.context is not None}) == 1


async def test_a_tool_that_fails_has_a_span_that_says_so_and_what_is_not_called_has_none() -> None:
    asked = calling(("fails", {"why": "secretly"}), ("look", {"wrong": 1}), ("nowhere", {}))
    quiet, telling = Spans(), Spans(content=True)
    for spans in (quiet, telling):
        with scripted(asked, "an answer"):
            await room(lead, BOX, **spans.settings).run()
    [call] = [span for span in quiet.all if span.name.startswith("execute_tool")]
    assert (call.name, call.status.status_code, call.status.description) == (
        "execute_tool fails", StatusCode.ERROR, "OSError",
    )  # fmt: skip
    assert (call.attributes or {})["error.type"] == "OSError"
    assert quiet.one("lead").status.status_code is StatusCode.UNSET  # the model was told, and went on
    assert "secretly" not in quiet.text()
    assert telling.one("execute_tool fails").status.description == "OSError: secretly"


async def test_a_run_that_goes_on_tells_of_its_agent_again_whatever_it_begins_with(tmp_path: Path) -> None:
    spans = Spans()
    flow = room(lead, BOX, tmp_path, **spans.settings)
    with scripted(LOOKS, ScriptedAnswer(error="stream_interrupted")), pytest.raises(RunFailed) as caught:
        await flow.run()
    assert spans.one("lead").status.description == "StreamInterrupted"
    spans.clear()
    with scripted("an answer"):
        await flow.resume(caught.value.result.run_id)
    assert around(spans) == [
        ("chat large", "lead/turn[1]/ask#2"),
        ("lead", "run room"),
        ("lead/finish", "lead"),
        ("lead/turn", "lead"),
        ("lead/turn[1]/ask#2", "lead/turn"),
        ("run room", None),
    ]
    assert spans.one("lead").name == "invoke_agent lead"
    assert spans.told("lead", "gen_ai.request.model") == "large"
    assert spans.told("run room", "dataflow.run.id") == caught.value.result.run_id


ASKED = Chat(
    model="bedrock/claude", temperature=0.5, max_tokens=100, reasoning_effort="low", system="Be kind."
)


def talk(config: Chat = ASKED, **settings: Any) -> Flow:
    with Flow("talk") as flow:
        answered = flow.add(
            node(chat).with_(**settings),
            prompt="a question",
            context=flow.input("context", ExecutionContext, ExecutionContext("session")),
            config=config,
        )
        flow.output("text", answered.out.text)
    return flow


@ON_ASYNCIO
async def test_a_call_of_a_model_has_a_span_inside_that_of_its_node(snapshot: SnapshotAssertion) -> None:
    spans = Spans()
    with scripted("an answer"):
        await talk().using(**spans.settings).run()
    assert spans.parents() == {"chat claude": "chat", "chat": "run talk", "run talk": None}
    span = spans.one("chat claude")
    assert span.kind is SpanKind.CLIENT
    assert dict(span.attributes or {}) == snapshot
    for content in ("question", "answer", "kind."):
        assert content not in spans.text()


async def test_an_answer_that_is_none_is_in_no_span_without_content() -> None:
    asking = calling(("look", {"at": "secretly"}))
    quiet, telling = Spans(), Spans(content=True)
    for spans in (quiet, telling):
        for answer, kind in (("secretly 1", int), (asking, None)):
            spans.clear()
            with scripted(answer), pytest.raises(RunFailed):
                await talk(Chat(model="openai/gpt", answer=kind)).using(**spans.settings).run()
            assert ("secretly" in spans.text()) is (spans is telling)
            assert str(spans.one("chat").status.description).startswith("AnswerUnfit")
    assert "secretly" in str(telling.told("chat gpt", "gen_ai.output.messages"))
    assert quiet.told("chat gpt", "gen_ai.response.finish_reasons") == ("tool_calls",)


@ON_ASYNCIO
async def test_with_content_the_messages_are_told_as_the_conventions_say(snapshot: SnapshotAssertion) -> None:
    calls = ToolCall("c1", "look", '{"at": "it"}'), ToolCall("c2", "look", "{at")
    said = ExecutionContext("session").append_turn(
        Message("user", ["see this", Image("image/png", b"data")]),
        Message("assistant", "", calls),
        Message("tool", ["it is", Image("image/png", b"data"), "red"], tool_call_id="c1"),
        Message("tool", "nothing", tool_call_id="c2"),
        Message("assistant", "red"),
    )
    spans = Spans(content=True)
    with scripted("an answer"):
        await talk().using(**spans.settings).run(context=said)
    names = ("system_instructions", "input.messages", "output.messages")
    assert {name: json.loads(str(spans.told("chat claude", f"gen_ai.{name}"))) for name in names} == snapshot


@ON_ASYNCIO
async def test_content_is_masked_and_shortened_and_stays_json() -> None:
    spans, value, long = Spans(content=True), 'tok-9f$"of-a-span', "x" * 5_000
    with forgetting(), scripted(f"{long} {value}"):
        Secret("TOKEN", value).reveal()
        said = ExecutionContext("session").append_turn(
            Message("user", [f"{long[1:1991]}{value}", value]),
            Message("assistant", "", (ToolCall("c", "look", json.dumps({"at": value, "long": long})),)),
            Message("tool", f"{value} {long}", tool_call_id="c"),
            Message("assistant", "found"),
        )
        await talk().using(**spans.settings).run(context=said)
    for name in ("input.messages", "output.messages"):
        text = str(spans.told("chat claude", f"gen_ai.{name}"))
        assert ("tok-9f" in text, "[secret:TOKEN" in text, len(text) < 9_000) == (False, True, True)
        assert json.loads(text)
