"""`agent.chat`: what the model is asked, what comes of its answer, and answers of a type (S10.2, S10.3)."""

from __future__ import annotations

from typing import Any, Final, Literal

import pytest
from pydantic import BaseModel

from dataflow import (
    Diagnostic,
    ExecutionContext,
    Flow,
    Message,
    ProcessMemo,
    RunFailed,
    node,
)
from dataflow.authoring import json_schema
from dataflow_agent import (
    AnswerUnfit,
    Chat,
    Emit,
    ModelAnswer,
    ModelRequest,
    ScriptedAnswer,
    answered_by,
    chat,
    scripted,
)
from dataflow_agent.models.calls import AnswerType
from tests.nodes.agent.agent_tools import said
from tests.support.codes import codes

MODEL = Chat(model="openai/gpt")


def talk(config: Chat = MODEL, context: ExecutionContext | None = None, **settings: Any) -> Flow:
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


async def test_the_instructions_stand_at_the_head_and_the_model_of_a_node_wins() -> None:
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
    models: list[Any] = [
        ("openai:gpt", "", "", "openai/gpt"),
        ("ollama:llama3:8b", "", "", "ollama/llama3:8b"),
        ("openai/gpt", "anthropic", "claude", "openai/gpt"),
        ("", "", "anthropic:claude", "anthropic/claude"),
        ("", "anthropic", "claude", "anthropic/claude"),
    ]
    for own, provider, model, called in models:
        with scripted("hello") as script:
            await talk(Chat(model=own), ExecutionContext("c", provider, model)).run()
        assert [request.model for request in script.requests] == [called]


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


class Calling:
    """A provider that counts its calls, and is no script."""

    def __init__(self) -> None:
        self.calls = 0

    async def answer(self, request: ModelRequest, emit: Emit) -> ModelAnswer:
        self.calls += 1
        emit("hello")
        return ModelAnswer("hello", model=request.model)


async def test_what_a_script_has_answered_is_not_remembered_and_what_is_begins_a_new_conversation() -> None:
    with Flow("dry") as flow:
        step = flow.add(node(chat).with_(memo="process"), prompt="hi", config=Chat(model="a/b"))
        flow.output("text", step.out.text)
    flow = flow.using(memo=ProcessMemo())
    for text in ("one", "two"):
        with scripted(text):
            result = await flow.run()
        assert result["text"] == text
    assert "not memoized (process): the node says" in result.why("chat")
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


class Verdict(BaseModel):
    is_approved: bool
    reasons: list[str] = []


SCHEMA = {
    "type": "object",
    "properties": {
        "is_approved": {"type": "boolean"},
        "score": {"type": "number", "minimum": 0},
        "notes": {"type": "array", "items": {"type": "object", "properties": {"line": {"type": "integer"}}}},
    },
    "required": ["is_approved"],
}


def asking(answer: Any) -> Flow:
    with Flow("f") as flow:
        step = flow.add(chat, prompt="Is it good?", config=Chat(model="openai/gpt", answer=answer))
        flow.output("answer", step.out.answer)
        flow.output("context", step.out.context)
    return flow


async def answered(answer: Any, *answers: Any) -> Any:
    with scripted(*answers):
        return (await asking(answer).run())["answer"]


async def test_an_answer_is_a_value_of_its_type_whose_schema_the_model_is_given() -> None:
    late = Verdict(is_approved=False, reasons=["late"])
    cases: list[Any] = [
        (Verdict, Verdict(is_approved=True), Verdict(is_approved=True)),
        (Verdict, '{"is_approved": false, "reasons": ["late"]}', late),
        (list[int], [1, 2], [1, 2]),  # what is no object is asked for in a field
        (Literal["yes", "no"], '{"answer": "yes"}', "yes"),
        ("integer", '{"answer": 3}', 3),
    ]
    for kind, answer, value in cases:
        assert await answered(kind, answer) == value
    with scripted(Verdict(is_approved=True), [Verdict(is_approved=True).model_dump()]) as script:
        await asking(Verdict).run()
        await asking(list[Verdict]).run()
    assert asking(SCHEMA).to_dict()["nodes"]["chat"]["config"]["answer"] == SCHEMA
    plain, listed = (request.schema or {} for request in script.requests)
    assert plain == json_schema(Verdict)
    assert [request.is_wrapped for request in script.requests] == [False, True]
    assert listed["required"] == ["answer"]
    assert listed["properties"]["answer"]["items"] == {"$ref": "#/$defs/Verdict"}
    assert listed["$defs"]["Verdict"]["title"] == "Verdict"


async def test_an_answer_that_does_not_fit_tells_what_was_found() -> None:
    cases: list[Any] = [
        (Verdict, "[true]", "", "dict[str, Any]"),
        (Verdict, '{"is_approved": 1}', ".is_approved", "a valid boolean"),
        (Verdict, "{}", ".is_approved", "a value"),
        (list[int], "{}", "", "a value"),
        (list[int], '{"answer": ["1"]}', "[0]", "a valid integer"),
        (SCHEMA, '{"score": 1}', ".is_approved", "a value"),
        (SCHEMA, '{"is_approved": true, "score": -1}', ".score", "a value that fits minimum: 0"),
        (SCHEMA, '{"is_approved": true, "notes": [{"line": "1"}]}', ".notes[0].line", "integer"),
    ]
    for answer, text, place, expected in cases:
        problem = await misfit(answer, text)
        assert (problem.code, problem.place) == ("DF2119", f"model 'openai/gpt': answer{place}")
        assert problem.expected == expected
        assert problem.hint == f"the model has answered {text!r}"
    for text, shown in (("Yes!", "'Yes!'"), ("x" * 1000, f"'{'x' * 88}... 824 characters ...{'x' * 88}'")):
        problem = await misfit(SCHEMA, text)
        assert (problem.code, problem.found) == ("DF2118", shown)


async def misfit(answer: Any, text: str) -> Diagnostic:
    with pytest.raises(RunFailed) as caught:
        await answered(answer, text)
    assert isinstance(caught.value.__cause__, AnswerUnfit)
    return caught.value.__cause__.diagnostics[0]


TREE: Final[dict[str, Any]] = {
    "$ref": "#/$defs/Tree",
    "$defs": {
        "Tree": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 1},
                "inner": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
            },
            "required": ["name"],
            "additionalProperties": False,
        }
    },
}


def typed(schema: Any) -> AnswerType:
    found = Chat(answer=schema).typed
    assert found is not None
    return found


def test_what_a_reference_leads_to_is_checked() -> None:
    good = {"name": "a", "inner": [{"name": "b"}]}
    assert typed(TREE).read("a/b", '{"answer": {"name": "a", "inner": [{"name": "b"}]}}') == good
    for text, problem in (
        ('{"name": ""}', "DF2119 model 'a/b': answer.name"),
        ('{"name": "a", "inner": [{}]}', "DF2119 model 'a/b': answer.inner[0].name"),
        ('{"name": "a", "inner": [3]}', "DF2119 model 'a/b': answer.inner[0]"),
        ('{"name": "a", "more": 1}', "DF2119 model 'a/b': answer.more"),
        ("NaN", "DF2118 model 'a/b'"),
    ):
        with pytest.raises(AnswerUnfit) as caught:
            typed(TREE).read("a/b", f'{{"answer": {text}}}')
        assert codes(caught.value) == [problem]
    for levels in (490, 50_000):
        text = '{"name": "a", "inner": [' * levels + "]}" * levels
        with pytest.raises(AnswerUnfit, match=r"^DF211[89] "):
            typed(TREE).read("a/b", f'{{"answer": {text}}}')
