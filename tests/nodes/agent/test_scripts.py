"""Scripts in the place of models: lists, functions and files, and what they record."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import anyio
import pytest

from dataflow import Flow, FormatError, Message, RunFailed, collect, each
from dataflow_agent import (
    AnswerCut,
    Chat,
    ContextWindowExceeded,
    KeyRefused,
    MissingKey,
    ModelAnswer,
    ModelFailed,
    ModelRefused,
    ModelRequest,
    RateLimited,
    RequestRefused,
    Script,
    ScriptedAnswer,
    ScriptEnded,
    ScriptFailed,
    Usage,
    chat,
    scripted,
)
from dataflow_agent.models.providers import scripted as provider
from dataflow_agent.models.providers.scripted import ERRORS, read_script
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
    script = Script(["three more words", ModelAnswer("two"), ModelAnswer("three", model="a/c")])
    answer, pieces = await asked(script)
    assert answer == ModelAnswer("three more words", (), Usage(2, 3, 0.0), "stop", "a/b", is_scripted=True)
    assert pieces == ["three more words"]
    answers = [(await asked(script))[0] for _ in range(2)]
    assert [(one.text, one.model) for one in answers] == [("two", "a/b"), ("three", "a/c")]
    with pytest.raises(ScriptEnded, match=r"^DF2126 "):
        await asked(script)
    assert script.requests == [REQUEST] * 4


async def test_a_function_answers_each_request_or_raises_or_fails_the_node() -> None:
    async def later(request: ModelRequest) -> str:
        return f"later {request.model}"

    def limits(request: ModelRequest) -> Any:
        raise RateLimited(request.model, "too many")

    def odd(_: ModelRequest) -> Any:
        return 3

    with scripted(lambda request: f"re: {request.messages[-1].content}") as script:
        assert (await chats("a", "b").run())["texts"] == ["re: a", "re: b"]
    assert len(script.requests) == 2
    assert (await asked(Script(later)))[0].text == "later a/b"
    with pytest.raises(RateLimited) as raised:
        await asked(Script(limits))
    assert codes(raised.value) == ["DF2112 model 'a/b'"]
    with scripted(odd), pytest.raises(RunFailed) as caught:
        await chats("a").run()
    failure = caught.value.__cause__
    assert isinstance(failure, ScriptFailed)
    assert isinstance(failure.__cause__, TypeError)


async def test_an_error_is_raised_by_its_name_and_those_that_may_pass_are_tried_again() -> None:
    assert len(ERRORS) == 12
    for name, kind in ERRORS.items():
        with pytest.raises(ModelFailed) as caught:
            await asked(Script([ScriptedAnswer.model_validate({"error": name, "retry_after": 3})]))
        assert (type(caught.value), caught.value.retry_after) == (kind, 3)
        assert name.title().replace("_", "") == kind.__name__
    lasting = {kind for kind in ERRORS.values() if kind.is_lasting}
    assert lasting == {
        AnswerCut, ModelRefused, ContextWindowExceeded, KeyRefused, MissingKey, RequestRefused,
    }  # fmt: skip


ANSWERS = """
- hello
- {pieces: [good, bye], to: bye}
- text: again
  repeat: true
"""


def talk(model: str, *prompts: str) -> Flow:
    with Flow("talk") as flow:
        context = flow.context("main")
        for number, prompt in enumerate(prompts):
            step = flow.add(chat, prompt=prompt, context=context, config=Chat(model=model))
            context = step.out.context
            flow.output(f"text{number}", step.out.text)
    return flow


async def test_each_run_has_all_answers_of_the_file_of_its_model_and_none_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "answers.yaml"
    file.write_text(ANSWERS, encoding="utf-8")
    flow = talk(f"scripted/{file}", "hi", "good", "bye", "more")
    results: list[list[object]] = []

    async def run() -> None:
        results.append([*(await flow.run()).outputs.values()])

    async with anyio.create_task_group() as group:
        for _ in range(300):
            group.start_soon(run)
    assert results == [["hello", "again", "goodbye", "again"]] * 300
    with anyio.fail_after(20):  # a worker thread may still hold what it was called with, until it is idle
        while any(str(file) in opened for opened in [*provider._scripts.values()]):
            gc.collect()
            await anyio.sleep(0.01)


def test_a_file_that_is_no_script_is_told(tmp_path: Path) -> None:
    cases: list[Any] = [
        ("- !!python/name:os.system", "1:3: "),
        ("- hello\n- 3", " DF2131 scripted answer 2:"),
        ("- {text: true}", " DF2131 scripted answer 1.text:"),
        ("- {error: rate_limited, retry_after: -1}", " DF2131 scripted answer 1.retry_after:"),
        ("- {error: rate_limited, retry_after: .nan}", " DF2131 scripted answer 1.retry_after:"),
    ]
    for text, told in cases:
        file = tmp_path / "answers.yaml"
        file.write_text(text, encoding="utf-8")
        with pytest.raises(FormatError) as caught:
            read_script(str(file))
        assert str(caught.value).startswith(f"{file}:{told}")
