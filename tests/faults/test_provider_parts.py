"""F-A04: what a provider wants back travels with the message, and goes to this provider alone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import ExecutionContext, Flow, Message, ProviderParts, RunFailed, Store, ToolCall, node
from dataflow.core.turns import estimated_tokens
from dataflow_agent import Agent, ModelRequest, Options, tools
from dataflow_agent.models.providers.litellm_requests import arguments_of
from tests.support.model_wires import (
    MODELS,
    SIGNATURE,
    Asked,
    Said,
    model_keys,
    openai_chunk,
    openai_end,
    wire_server,
)

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(900)]

CALLING: Final = Said(
    thinking=("I look ", "outside."), calls=(("weather", {"city": "Rome"}),), finish="calls"
)
SUNNY: Final = Said(text=("Sunny.",))
DETAILS: Final = [
    {"type": "reasoning.text", "text": "I look outside.", "index": 0, "signature": SIGNATURE},
    {"type": "reasoning.encrypted", "data": "c2VjcmV0", "index": 1},
]


@node
async def weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"sunny in {city}"


def refused(why: str) -> tuple[int, dict[str, Any]]:
    return 400, {"error": {"message": why, "type": "invalid_request_error", "code": "400"}}


def answers_of(asked: Asked) -> list[Any]:
    """Return the messages of the model in a request."""
    if "contents" in asked.body:
        return [one for one in asked.body["contents"] if one["role"] == "model"]
    return [one for one in asked.body["messages"] if one["role"] == "assistant"]


def wanted(shape: str, message: Any) -> bool:
    """Return whether a message has what its provider documents as required."""
    match shape:
        case "anthropic":
            first, second, *_ = message["content"]
            return bool(first.get("signature") == SIGNATURE and second["type"] == "redacted_thinking")
        case "gemini":
            return any(
                part.get("thoughtSignature") == SIGNATURE for part in message["parts"] if "text" not in part
            )
        case "ollama":
            return bool(message.get("thinking") == "I look outside.")
        case _:
            return bool(message.get("reasoning_content") == "I look outside.")


def enforcing(shape: str) -> Any:
    """Answer with a call, and then only who sends back what came with it."""

    def answer(asked: Asked) -> Any:
        found = answers_of(asked)
        if not found:
            return CALLING
        return SUNNY if wanted(shape, found[0]) else refused("a part of the answer is missing")

    return answer


def lead(server: Any, shape: str, *, stream: bool, model: str = "") -> Agent:
    options: dict[str, Any] = {"reasoning_effort": "low", "max_tokens": 4000} if shape == "anthropic" else {}
    return Agent("lead", model=model or MODELS[shape], base_url=server.base_url, stream=stream, **options)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(
    ("shape", "model"),
    [(shape, MODELS[shape]) for shape in MODELS] + [("openai", "deepseek/deepseek-reasoner")],
)
async def test_a_model_that_thinks_can_call_tools(
    shape: str, model: str, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_keys(monkeypatch)
    with wire_server(enforcing(shape), shape) as server:
        reply = await lead(server, shape, stream=stream, model=model)("weather?", tools=tools(weather))
        assert reply.text == "Sunny."
        reply = await lead(server, shape, stream=stream, model=model)(
            "and now?", context=reply.context, tools=tools(weather)
        )
        assert reply.text == "Sunny."
        assert all(wanted(shape, answers_of(one)[0]) for one in server.asked[1:])


async def test_details_of_openrouter_go_back_as_they_came(monkeypatch: pytest.MonkeyPatch) -> None:
    model_keys(monkeypatch)
    call = {"id": "k0", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
    head, tail = DETAILS[0] | {"text": "I look "}, DETAILS[0] | {"text": "outside.", "signature": ""}

    def answer(asked: Asked) -> Any:
        found = answers_of(asked)
        if found:
            assert found[0]["reasoning_details"] == DETAILS
            return SUNNY
        if not asked.is_streamed:
            message = {"role": "assistant", "content": "", "tool_calls": [call], "reasoning_details": DETAILS}
            choice = {"index": 0, "message": message | {"reasoning": "I"}, "finish_reason": "tool_calls"}
            return {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice]}
        pieces: list[Any] = [{"reasoning": one["text"], "reasoning_details": [one]} for one in (head, tail)]
        pieces.append({"reasoning_details": DETAILS[1:]})
        return [
            *map(openai_chunk, [*pieces, {"tool_calls": [{"index": 0, **call}]}]),
            *openai_end("tool_calls"),
        ]

    for stream in (True, False):
        with wire_server(answer) as server:
            agent = lead(server, "openai", stream=stream, model="openrouter/deepseek/deepseek-r1")
            assert (await agent("weather?", tools=tools(weather))).text == "Sunny."


async def test_a_resumed_run_sends_them_back_from_its_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_keys(monkeypatch)
    is_down = True

    def answer(asked: Asked) -> Any:
        if answers_of(asked) and is_down:
            return 500, {"error": {"message": "it is our fault"}}
        return enforcing("anthropic")(asked)

    with wire_server(answer, "anthropic") as server, Flow("f") as flow:
        agent = lead(server, "anthropic", stream=True)
        flow.output("text", flow.add(agent, prompt="weather?", tools=tools(weather)).out.text)
        stored = flow.using(store=Store.sqlite(str(tmp_path / "runs.db")))
        with pytest.raises(RunFailed) as caught:
            await stored.run()
        is_down = False
        result = await stored.resume(caught.value.result.run_id)
    assert result["text"] == "Sunny."


def test_they_go_to_the_service_that_gave_them_alone() -> None:
    parts = ProviderParts("anthropic", json.dumps({"thinking_blocks": [{"type": "thinking"}]}))
    message = Message("assistant", "Hi", provider_parts=parts)
    for model, url, is_sent in (
        ("anthropic/claude", "", True),
        ("anthropic:other", "", True),
        ("anthropic/claude", "http://127.0.0.1:9", False),
        ("openai/gpt", "", False),
    ):
        request = ModelRequest(model, (message,), options=Options(base_url=url))
        [sent] = arguments_of(request)["messages"]
        assert ("thinking_blocks" in sent) is is_sent
    at_server = replace(message, provider_parts=replace(parts, provider="anthropic http://127.0.0.1:9"))
    request = ModelRequest("anthropic/c", (at_server,), options=Options(base_url="http://127.0.0.1:9"))
    assert "thinking_blocks" in arguments_of(request)["messages"][0]


def test_trimming_counts_them_and_keeps_them_with_their_message() -> None:
    parts = ProviderParts("anthropic", "x" * 400)
    plain = Message("assistant", "", (ToolCall("c", "w", "{}"),))
    signed = replace(plain, provider_parts=parts)
    assert estimated_tokens(signed) - estimated_tokens(plain) == 100
    turn = (Message("user", "q"), signed, Message("tool", "r", tool_call_id="c"), Message("assistant", "a"))
    context = ExecutionContext("c").append_turn(*turn)
    assert context.trimmed(1_000).messages == turn
    assert not any(message.provider_parts for message in context.trimmed(50).messages)
