"""`agent.agent`: a loop of model calls with a map over calls of tools, and scripts in the place of models."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from dataflow import (
    ConversationInvalid,
    ExecutionContext,
    Flow,
    FlowInvalid,
    FormatError,
    Message,
    NodeState,
    RunFailed,
    Store,
    ToolCall,
    collect,
    each,
)
from dataflow_agent import (
    Agent,
    AgentConfig,
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
    agent,
    chat,
    scripted,
    tools,
)
from dataflow_agent.models.providers import scripted as provider
from dataflow_agent.models.providers.scripted import ERRORS, read_script
from tests.nodes.agent.agent_tools import ENTERED, add, calling, fails, meet, results, room, said, slow, where
from tests.support.codes import codes

lead = Agent("lead", model="openai/gpt", system="Lead.")
BOX: Final = tools(add, fails, where, meet)
OVER: Final = {"may_overshoot": True}


def adding(count: int, text: str = "") -> ScriptedAnswer:
    return calling(*[("add", {"a": number, "b": 1}) for number in range(count)], text=text)


def limited(**settings: Any) -> Agent:
    return Agent("lead", **{"model": "openai/gpt", **settings})


async def test_a_whole_turn_with_its_calls_is_appended_at_the_end_and_each_call_is_a_firing() -> None:
    with scripted(adding(2, "let me see"), calling(("where", {})), "It is 2.") as script:
        result = await room(lead, BOX).run()
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
    assert [spec.name for spec in script.requests[2].tools] == ["add", "fails", "where", "meet"]
    fired = [path for path, state in result.states.items() if state is NodeState.DONE and "[" in path]
    assert sorted(path for path in fired if path.endswith(("ask", "]"))) == [
        "lead/turn[0]/ask", "lead/turn[0]/call[0]", "lead/turn[0]/call[1]",
        "lead/turn[1]/ask", "lead/turn[1]/call[0]", "lead/turn[2]/ask",
    ]  # fmt: skip
    told = result.metadata["lead/turn[0]/ask"]
    assert (told["model"], told["finish_reason"]) == ("openai/gpt", "tool_calls")
    assert told["usage"]["input_tokens"] == 4


async def test_calls_are_made_at_once_and_each_has_a_result_in_order_also_a_bad_one() -> None:
    """B42."""
    calls = calling(
        ("add", {"a": 1, "b": 2}), ("add", '{"a": 1, '), ("sub", {"a": 1}), ("add", {"a": "x", "b": 2}),
        ("fails", {}), ("meet", {"waits": True}), ("meet", {"waits": False}),
    )  # fmt: skip
    ENTERED.clear()
    with scripted(calls, calling(("add", {"a": 1, "b": 5})), "done"):
        result = await room(lead, BOX).run()
    made = results(result["context"])
    assert (made[0], made[5:], result["text"]) == ("3", ["true", "false", "6"], "done")
    assert [text.partition(": ")[2][:20] for text in made[1:5]] == [
        "the arguments are no", "no tool has the name", "the arguments do not", "OSError: nothing",
    ]  # fmt: skip
    assert ENTERED == ["add 1 2", "add 1 5"]


async def test_a_limit_ends_the_turn_with_the_text_so_far() -> None:
    stopped = "[stopped by max_turns]"
    cases: list[Any] = [
        ({"max_tool_calls": 2}, (adding(2, "1"), adding(1, "2")), "max_tool_calls", "1\n\n2", "uattA"),
        ({"max_tool_calls": 1}, (adding(2),), "max_tool_calls", "", "uA"),
        ({"max_tool_calls": 0}, (adding(1, "I would"),), "max_tool_calls", "I would", "uA"),
        ({"max_turns": 2}, (adding(1, "one"), adding(1)), "max_turns", "one", "uatA"),
        ({"max_turns": 1}, (adding(1, stopped),), "max_turns", stopped, "uA"),
        ({"max_turns": 1}, ("done",), "answer", "done", "uA"),
        ({}, (adding(10), adding(1)), "max_tool_calls", "", "ua" + 10 * "t" + "A"),
        ({"max_tool_calls": 1, **OVER}, (adding(2, "1"),), "max_tool_calls", "1", "uattA"),
        ({"max_tool_calls": 2, **OVER}, (adding(1), adding(2, "2")), "max_tool_calls", "2", "uatattA"),
        ({"max_tool_calls": 0, **OVER}, (), "max_tool_calls", "", "uA"),
        ({"max_tool_calls": 2, **OVER}, (adding(1), "Done."), "answer", "Done.", "uatA"),
    ]
    for settings, answers, stopped_by, text, roles in cases:
        with scripted(*answers):
            result = await room(limited(**settings), BOX).run()
        assert (result["text"], result["stopped_by"]) == (text, stopped_by)
        history = result["context"].message_history
        assert "".join(one.role[0] for one in history) == roles.lower()
        assert history[-1].tool_calls == ()
        assert history[-1].content
        result["context"].check()


async def test_time_that_is_over_ends_a_call_and_the_model_is_not_asked_again() -> None:
    async def answers(request: ModelRequest) -> Any:
        if len(request.messages) > 2:
            await anyio.sleep_forever()
        return adding(1, "so far")

    no_time = ("tool", "error: there was no time left for this call to end")
    cases: list[Any] = [
        (BOX, answers, "so far", ("tool", "1"), 2),
        (tools(slow), calling(("slow", {"seconds": 1000.0}), text="wait"), "wait", no_time, 1),
    ]
    for box, script, text, made, count in cases:
        with scripted(script) as asked:
            result = await room(limited(time_limit=3), box).run()
        assert (result["text"], result["stopped_by"], len(asked.requests)) == (text, "time_limit", count)
        assert said(result["context"])[2:] == [made, ("assistant", "[stopped by time_limit]")]


async def test_only_allowed_tools_are_called_and_no_call_is_left_open() -> None:
    with scripted(adding(1), "done") as script:
        result = await room(limited(allowed_tools=["where"]), BOX).run()
    assert [spec.name for spec in script.requests[0].tools] == ["where"]
    assert results(result["context"]) == ["error: no tool has the name 'add'; available: where"]
    with scripted("never"), pytest.raises(RunFailed) as caught:
        await room(limited(allowed_tools=["sub"]), BOX).run()
    assert caught.value.failures[0].type == FlowInvalid.__name__
    asking = Message("assistant", "", (ToolCall("1", "add", "{}"),))
    broken = ExecutionContext("c").append(Message("user", "x"), asking)
    with scripted("never") as script:
        with pytest.raises(RunFailed) as caught:
            await lead("hi", context=broken)
        with pytest.raises(ConversationInvalid):
            await chat({"prompt": "hi"}, broken, Chat(model="openai/gpt"))
    assert (caught.value.failures[0].type, script.requests) == (ConversationInvalid.__name__, [])


async def test_a_fork_with_another_model_asks_it_from_the_first_turn_on() -> None:
    flow = room(Agent("lead", model="openai/gpt"), tools(add), store=Store.memory())
    with scripted(calling(("add", {"a": 1, "b": 2})), "first"):
        result = await flow.run()
    with scripted("second") as script:
        forked = await flow.fork(result.run_id, changes={"lead.config.model": "openai/other"})
    assert (forked["text"], [request.model for request in script.requests]) == ("second", ["openai/other"])


async def test_calls_without_ids_are_told_apart_and_a_conversation_goes_on_in_a_direct_call() -> None:
    calls = tuple(ToolCall("same", "add", f'{{"a": {number}, "b": 0}}') for number in range(2))
    with scripted(ModelAnswer("", calls, finish_reason="tool_calls"), "done", "again"):
        context = (await room(lead, BOX).run())["context"]
        longer = await agent("more", context=context, config=AgentConfig(model="openai/gpt"))
    history = longer.context.message_history
    assert [one.tool_call_id for one in history if one.role == "tool"] == ["call_1", "call_2"]
    assert [one.content for one in history[-2:]] == ["more", "again"]


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
