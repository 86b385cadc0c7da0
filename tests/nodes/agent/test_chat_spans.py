"""Spans of calls of models: the names of the conventions, and no content unless it is asked for (S19)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from opentelemetry.trace import SpanKind, StatusCode

from dataflow import ExecutionContext, Flow, Image, Message, Retry, RunFailed, ToolCall, node
from dataflow_agent import Chat, ScriptedAnswer, ScriptedCall, chat, scripted
from tests.support.spans import Spans

ASKED = Chat(
    model="bedrock/claude", temperature=0.5, max_tokens=100, reasoning_effort="low", system="Be kind."
)


def talk(config: Chat = ASKED, **settings: Any) -> Flow:
    with Flow("talk") as flow:
        answered = flow.add(
            node(chat).with_(**settings),
            prompt=flow.input("prompt", str, "a question"),
            context=flow.input("context", ExecutionContext, ExecutionContext("session")),
            config=config,
        )
        flow.output("text", answered.out.text)
    return flow


async def test_a_call_of_a_model_has_a_span_inside_that_of_its_node() -> None:
    spans = Spans()
    with scripted("an answer"):
        await talk().using(**spans.settings).run()
    assert spans.parents() == {"chat claude": "chat", "chat": "run talk", "run talk": None}
    span = spans.one("chat claude")
    assert span.kind is SpanKind.CLIENT
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "aws.bedrock",
        "gen_ai.request.model": "claude",
        "gen_ai.conversation.id": "session",
        "gen_ai.output.type": "text",
        "gen_ai.request.max_tokens": 100,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.reasoning.level": "low",
        "gen_ai.request.stream": True,
        "gen_ai.response.model": "bedrock/claude",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 4,
        "gen_ai.usage.output_tokens": 2,
    }
    assert "question" not in spans.text()
    assert "answer" not in spans.text()
    assert "kind." not in spans.text()


async def test_a_provider_is_called_as_here_unless_the_conventions_call_it_otherwise() -> None:
    spans = Spans()
    with scripted(ScriptedAnswer(value=1)):
        await talk(Chat(model="openai/gpt", answer=int, stream=False)).using(**spans.settings).run()
    assert spans.told("chat gpt", "gen_ai.provider.name") == "openai"
    assert spans.told("chat gpt", "gen_ai.output.type") == "json"
    assert spans.told("chat gpt", "gen_ai.request.stream") is None


async def test_each_attempt_has_a_call_and_a_failed_one_says_with_what() -> None:
    spans = Spans()
    with scripted(ScriptedAnswer(error="rate_limited"), "an answer"):
        await talk(retries=Retry(1)).using(**spans.settings).run()
    failed, answered = [span for span in spans.all if span.name == "chat claude"]
    assert (failed.status.status_code, failed.status.description) == (StatusCode.ERROR, "RateLimited")
    assert (failed.attributes or {})["error.type"] == "RateLimited"
    assert answered.status.status_code is StatusCode.UNSET


async def test_an_answer_that_does_not_fit_is_in_no_span_either() -> None:
    spans = Spans()
    with scripted("not a number"), pytest.raises(RunFailed):
        await talk(Chat(model="openai/gpt", answer=int)).using(**spans.settings).run()
    assert spans.one("chat").status.description == "AnswerUnfit"
    assert "not a number" not in spans.text()


async def test_with_content_the_messages_are_told_as_the_conventions_say() -> None:
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
    told = {
        name.removeprefix("gen_ai."): json.loads(str(spans.told("chat claude", name)))
        for name in ("gen_ai.system_instructions", "gen_ai.input.messages", "gen_ai.output.messages")
    }
    assert told == {
        "system_instructions": [{"type": "text", "content": "Be kind."}],
        "input.messages": [
            {
                "role": "user",
                "parts": [
                    {"type": "text", "content": "see this"},
                    {"type": "blob", "modality": "image", "mime_type": "image/png", "content": ""},
                ],
            },
            {
                "role": "assistant",
                "parts": [
                    {"type": "tool_call", "id": "c1", "name": "look", "arguments": {"at": "it"}},
                    {"type": "tool_call", "id": "c2", "name": "look", "arguments": "{at"},
                ],
            },
            {
                "role": "tool",
                "parts": [{"type": "tool_call_response", "id": "c1", "response": "it is\nred"}],
            },
            {
                "role": "tool",
                "parts": [{"type": "tool_call_response", "id": "c2", "response": "nothing"}],
            },
            {"role": "assistant", "parts": [{"type": "text", "content": "red"}]},
            {"role": "user", "parts": [{"type": "text", "content": "a question"}]},
        ],
        "output.messages": [
            {
                "role": "assistant",
                "parts": [{"type": "text", "content": "an answer"}],
                "finish_reason": "stop",
            }
        ],
    }


async def test_calls_of_tools_are_content() -> None:
    asking = ScriptedAnswer(tool_calls=(ScriptedCall(name="look", arguments={"at": "secretly"}),))
    quiet, telling = Spans(), Spans(content=True)
    for spans in (quiet, telling):
        with scripted(asking), pytest.raises(RunFailed):
            await talk().using(**spans.settings).run()
    assert "secretly" not in quiet.text()
    assert "secretly" in str(telling.told("chat claude", "gen_ai.output.messages"))
    assert quiet.told("chat claude", "gen_ai.response.finish_reasons") == ("tool_calls",)
