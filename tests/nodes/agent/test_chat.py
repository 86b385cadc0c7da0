"""`agent.chat`: what the model is asked, and what comes of its answer (S10.2, S10.3)."""

from __future__ import annotations

from typing import Any

import pytest

from dataflow import (
    ExecutionContext,
    Flow,
    Message,
    ProcessMemo,
    Retry,
    RunFailed,
    node,
)
from dataflow_agent import (
    Chat,
    Emit,
    ModelAnswer,
    ModelRequest,
    ScriptedAnswer,
    answered_by,
    chat,
    scripted,
)
from tests.nodes.agent.agent_tools import said

MODEL = Chat(model="openai/gpt")


def talk(config: Chat = MODEL, context: ExecutionContext | None = None, **settings: Any) -> Flow:
    """One turn, in a conversation if one is given."""
    with Flow("talk") as flow:
        wired = {} if context is None else {"context": flow.input("context", ExecutionContext, context)}
        step = flow.add(
            node(chat).with_(**settings) if settings else chat,
            prompt=flow.input("prompt", str, "hi"),
            config=config,
            **wired,
        )
        flow.output("text", step.out.text)
        flow.output("context", step.out.context)
    return flow


async def failed(flow: Flow) -> RunFailed:
    with pytest.raises(RunFailed) as caught:
        await flow.run()
    return caught.value


async def test_an_answer_is_a_text_and_a_conversation_with_the_whole_turn() -> None:
    with scripted("hello there") as script:
        result = await talk(Chat(model="openai/gpt", system="Be very brief.")).run(prompt="hi you")
    assert result["text"] == result["context"].current_output == "hello there"
    assert said(result["context"]) == [("user", "hi you"), ("assistant", "hello there")]
    assert result["context"].context_id == f"{result.run_id}/chat"
    assert [request.messages[1:] for request in script.requests] == [(Message("user", "hi you"),)]
    assert result.metadata["chat"] == {
        "model": "openai/gpt",
        "finish_reason": "stop",
        "usage": {"input_tokens": 5, "output_tokens": 2, "cost": 0.0},
    }
    with scripted("hello"):
        assert (await chat({"prompt": "hi"}, None, MODEL)).outputs == {"text": "hello"}


async def test_the_conversation_goes_on_and_the_one_before_stays_as_it_was() -> None:
    before = ExecutionContext("c", message_history=[Message("user", "a"), Message("assistant", "b")])
    with scripted("d") as script:
        result = await talk(context=before).run(prompt="c")
    assert said(before) == [("user", "a"), ("assistant", "b")]
    assert said(result["context"]) == [*said(before), ("user", "c"), ("assistant", "d")]
    assert [message.content for message in script.requests[0].messages] == ["a", "b", "c"]
    assert script.requests[0].session_id == "c"


async def test_the_instructions_stand_once_at_the_head_of_the_request() -> None:
    cases: list[Any] = [
        (None, "", []),
        (None, "Be brief.", ["Be brief."]),
        (ExecutionContext("c", system_instructions="In verse."), "", ["In verse."]),
        (ExecutionContext("c", system_instructions="In verse."), "Be brief.", ["In verse.\n\nBe brief."]),
    ]
    for context, own, head in cases:
        with scripted("hello") as script:
            result = await talk(Chat(model="openai/gpt", system=own), context).run()
        sent = [(message.role, message.content) for message in script.requests[0].messages]
        assert sent == [*(("system", text) for text in head), ("user", "hi")]
        assert said(result["context"]) == [("user", "hi"), ("assistant", "hello")]


async def test_the_model_of_a_node_wins_over_that_of_the_context() -> None:
    cases: list[Any] = [
        ("openai/gpt", "", "", "openai/gpt"),
        ("openai:gpt", "", "", "openai/gpt"),
        ("openrouter/meta/llama:free", "", "", "openrouter/meta/llama:free"),
        ("ollama:llama3:8b", "", "", "ollama/llama3:8b"),
        ("openai/gpt", "anthropic", "claude", "openai/gpt"),
        ("", "", "anthropic/claude", "anthropic/claude"),
        ("", "", "anthropic:claude", "anthropic/claude"),
        ("", "anthropic", "claude", "anthropic/claude"),
    ]
    for own, provider, model, called in cases:
        with scripted("hello") as script:
            await talk(Chat(model=own), ExecutionContext("c", provider, model)).run()
        assert [request.model for request in script.requests] == [called]


async def test_the_pieces_of_an_answer_are_passed_on_as_they_come() -> None:
    for pieces in (["he", "llo"], ["hello"]):
        with scripted(ScriptedAnswer(pieces=tuple(pieces))):
            async with talk().start() as run:
                assert [piece async for piece in run.stream("text")] == pieces
                assert (await run)["text"] == "hello"


async def test_an_answer_that_broke_off_leaves_nothing_behind_and_what_came_along_is_sent_as_it_is() -> None:
    """HF22: no tail has to be cleaned, since a turn that fails leaves none (S10.3)."""
    for tail in ("user", "assistant"):
        messages = Message("user", "a"), Message("assistant", "b"), Message(tail, "tail")
        before = ExecutionContext("c", message_history=messages)
        with scripted(ScriptedAnswer(pieces=("he",), error="stream_interrupted"), "hello") as script:
            async with talk(context=before, retries=1).start() as run:
                events = [event async for event in run.events() if event.kind in ("piece", "pieces_void")]
                result = await run
        assert [event.kind.value for event in events] == ["piece", "pieces_void", "piece"]
        assert said(result["context"]) == [*said(before), ("user", "hi"), ("assistant", "hello")]
        sent = [[message.content for message in request.messages] for request in script.requests]
        assert sent == [["a", "b", "tail", "hi"]] * 2


async def test_a_missing_key_is_tried_again_only_where_it_is_named() -> None:
    cases: list[Any] = [
        ({"retries": 2}, 1),
        ({"retries": Retry(2, on=("rate_limit",))}, 1),
        ({"retries": Retry(2, on=("missing_key",))}, 3),
    ]
    for settings, attempts in cases:
        with scripted(ScriptedAnswer(error="missing_key", repeat=True)) as script:
            failure = await failed(talk(**settings))
        assert [one.type for one in failure.failures] == ["MissingKey"]
        assert len(script.requests) == attempts


async def test_what_a_script_has_answered_is_not_remembered() -> None:
    with Flow("dry") as flow:
        step = flow.add(node(chat).with_(memo="process"), prompt="hi", config=Chat(model="a/b"))
        flow.output("text", step.out.text)
    flow = flow.using(memo=ProcessMemo())
    for text in ("one", "two"):
        with scripted(text):
            result = await flow.run()
        assert result["text"] == text
    assert "not memoized (process): the node says" in result.why("chat")


class Calling:
    """A provider that counts its calls, and is no script."""

    def __init__(self) -> None:
        self.calls = 0

    async def answer(self, request: ModelRequest, emit: Emit) -> ModelAnswer:
        self.calls += 1
        emit("hello")
        return ModelAnswer("hello", model=request.model)


async def test_a_remembered_answer_begins_a_conversation_of_its_own() -> None:
    remembered, provider = node(chat).with_(memo="process"), Calling()
    with Flow("twice") as flow:
        for name in ("left", "right"):
            step = flow.add(remembered.with_(name=name), prompt="hi", config=Chat(model="a/b"))
            flow.output(name, step.out.context)
    flow = flow.using(memo=ProcessMemo())
    with answered_by(provider):
        results = [await flow.run() for _ in range(2)]
    assert provider.calls == 1
    for result in results:
        assert [one.context_id for one in result.outputs.values()] == [
            f"{result.run_id}/left", f"{result.run_id}/right",
        ]  # fmt: skip
