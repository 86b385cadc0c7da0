"""Scripts in the place of models: lists, functions, and what they record."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from dataflow import Flow, Image, Message, RunFailed, ToolCall, collect, each
from dataflow_agent import (
    AnswerCut,
    Chat,
    ContextWindowExceeded,
    KeyRefused,
    MissingKey,
    ModelAnswer,
    ModelFailed,
    ModelRequest,
    ModelTimeout,
    ModelUnavailable,
    RateLimited,
    RequestRefused,
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptEnded,
    ScriptFailed,
    StreamInterrupted,
    Usage,
    answered_by,
    chat,
    scripted,
)
from tests.support.codes import codes

REQUEST = ModelRequest("a/b", (Message("user", "one two"),))


async def asked(script: Script, request: ModelRequest = REQUEST) -> tuple[ModelAnswer, list[str]]:
    pieces: list[str] = []
    return await script.answer(request, pieces.append), pieces


def chats(*prompts: str) -> Flow:
    with Flow("f") as flow:
        step = flow.add(chat, prompt=each(list(prompts)), config=Chat(model="a/b"))
        flow.output("texts", collect(step.out.text))
    return flow


async def test_a_list_is_answered_in_order_and_then_there_is_none() -> None:
    script = Script(["one", ModelAnswer("two", model="a/c")])
    assert [(await asked(script))[0].text for _ in range(2)] == ["one", "two"]
    with pytest.raises(ScriptEnded, match=r"^DF2126 "):
        await asked(script)
    assert script.requests == [REQUEST] * 3


async def test_an_answer_tells_its_model_and_counts_words() -> None:
    answer, pieces = await asked(Script(["three more words"]))
    assert answer == ModelAnswer("three more words", (), Usage(2, 3, 0.0), "stop", "a/b", is_scripted=True)
    assert pieces == ["three more words"]
    assert (await asked(Script([ModelAnswer("x")])))[0].model == "a/b"


async def test_a_call_of_a_tool_has_an_id_and_its_arguments_as_json() -> None:
    calls = (ScriptedCall(name="add", arguments={"a": 1}), ScriptedCall(name="no", arguments="{", id="x"))
    answer, pieces = await asked(Script([ScriptedAnswer(tool_calls=calls)]))
    assert answer.tool_calls == (ToolCall("call_1", "add", '{"a": 1}'), ToolCall("x", "no", "{"))
    assert (answer.text, answer.finish_reason, pieces) == ("", "tool_calls", [])


async def test_an_answer_is_kept_for_the_request_that_it_is_for() -> None:
    script = Script(
        [ScriptedAnswer(text="two!", to="two"), "any", ScriptedAnswer(text="!", to="x", repeat=True)]
    )
    requests = [ModelRequest("a/b", (Message("user", text),)) for text in ("three", "one two", "x", "x y")]
    assert [(await asked(script, one))[0].text for one in requests] == ["any", "two!", "!", "!"]


async def test_images_are_no_words() -> None:
    message = Message("user", ("look here", Image("image/png", b"...")))
    script = Script([ScriptedAnswer(text="a cat", to="here")])
    answer, _ = await asked(script, ModelRequest("a/b", (message,)))
    assert answer.usage.input_tokens == 2
    assert (await asked(Script(["x"]), ModelRequest("a/b", ())))[0].text == "x"


async def test_a_function_answers_each_request() -> None:
    async def later(request: ModelRequest) -> str:
        return f"later {request.model}"

    with scripted(lambda request: f"re: {request.messages[-1].content}") as script:
        assert (await chats("a", "b").run())["texts"] == ["re: a", "re: b"]
    assert len(script.requests) == 2
    assert (await asked(Script(later)))[0].text == "later a/b"


ERRORS: list[tuple[Any, type[ModelFailed]]] = [
    ("answer_cut", AnswerCut),
    ("context_window_exceeded", ContextWindowExceeded),
    ("model_failed", ModelFailed),
    ("stream_interrupted", StreamInterrupted),
    ("key_refused", KeyRefused),
    ("missing_key", MissingKey),
    ("rate_limited", RateLimited),
    ("request_refused", RequestRefused),
    ("model_timeout", ModelTimeout),
    ("model_unavailable", ModelUnavailable),
]


async def test_an_error_is_raised_by_its_name() -> None:
    for name, kind in ERRORS:
        with pytest.raises(ModelFailed) as caught:
            await asked(Script([ScriptedAnswer(error=name, retry_after=3)]))
        assert (type(caught.value), caught.value.retry_after) == (kind, 3)
        assert name.title().replace("_", "") == kind.__name__


def test_only_errors_that_may_pass_are_tried_again() -> None:
    lasting = {kind for _, kind in ERRORS if kind.is_lasting}
    assert lasting == {ContextWindowExceeded, KeyRefused, MissingKey, RequestRefused}


async def test_the_innermost_script_answers_and_the_outer_one_goes_on() -> None:
    with scripted("outer", "outer again"):
        with answered_by(Script(["inner"])):
            assert (await chats("a").run())["texts"] == ["inner"]
        assert (await chats("a").run())["texts"] == ["outer"]


async def test_run_sync_inside_a_running_loop_has_the_script_too() -> None:
    with scripted("hello"):
        assert chats("a").run_sync()["texts"] == ["hello"]


async def test_a_mapping_is_written_as_json() -> None:
    cases: list[Any] = [{"a": [1]}, MappingProxyType({"a": [1]})]
    for given in cases:
        assert (await asked(Script([given])))[0].text == '{"a": [1]}'


async def test_what_a_function_gives_that_is_no_answer_fails_the_node() -> None:
    def odd(_: ModelRequest) -> Any:
        return 3

    with scripted(odd), pytest.raises(RunFailed) as caught:
        await chats("a").run()
    failure = caught.value.__cause__
    assert isinstance(failure, ScriptFailed)
    assert isinstance(failure.__cause__, TypeError)


async def test_a_function_may_raise_the_errors_of_models() -> None:
    def limits(request: ModelRequest) -> Any:
        raise RateLimited(request.model, "too many")

    with pytest.raises(RateLimited) as caught:
        await asked(Script(limits))
    assert codes(caught.value) == ["DF2112 model 'a/b'"]
