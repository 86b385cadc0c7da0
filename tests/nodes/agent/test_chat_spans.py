"""Spans of calls of models: the names of the conventions, and no content unless it is asked for (S19)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from opentelemetry.trace import SpanKind, StatusCode
from syrupy.assertion import SnapshotAssertion

from dataflow import ExecutionContext, Flow, Image, Message, Retry, RunFailed, ToolCall, node
from dataflow_agent import Chat, ScriptedAnswer, chat, scripted
from tests.nodes.agent.agent_tools import calling
from tests.support.spans import Spans

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


async def test_each_attempt_has_a_call_and_a_failed_one_says_with_what() -> None:
    spans = Spans()
    with scripted(ScriptedAnswer(error="rate_limited"), "an answer"):
        await talk(retries=Retry(1)).using(**spans.settings).run()
    failed, answered = [span for span in spans.all if span.name == "chat claude"]
    assert (failed.status.status_code, failed.status.description) == (StatusCode.ERROR, "RateLimited")
    assert (failed.attributes or {})["error.type"] == "RateLimited"
    assert answered.status.status_code is StatusCode.UNSET


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
