"""Routers, prompts of steps, and node types for conversations, called, in flows and documents (S10)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from dataflow import (
    BudgetExceeded,
    ConversationInvalid,
    ExecutionContext,
    ExpressionError,
    Flow,
    Message,
    RunFailed,
    ToolCall,
    node,
)
from dataflow.cli.app import main
from dataflow.durable.edits import current_types
from dataflow_agent import (
    AnswerUnfit,
    Chat,
    Merge,
    Prompt,
    Router,
    ScriptedAnswer,
    Trim,
    chat,
    context,
    fill_prompt,
    intent_router,
    merge_conversations,
    scripted,
    trim_context,
)
from dataflow_agent.conversations import with_clean_tail
from tests.nodes.agent.agent_tools import calling
from tests.nodes.playing import played

ROUTES: Final = {"x": "all about x", "y": ""}
ROUTER: Final = Router(model="openai/gpt", routes=ROUTES)
MODEL: Final = Chat(model="openai/gpt")
EMPTY: Final = ExecutionContext("empty")
QUESTION: Final = (
    "Be brief.\n\nThink.\n\n"
    "Name the route that the last message belongs to. The routes:\n- x: all about x\n- y"
)
BEFORE: Final = ExecutionContext("c", system_instructions="Be brief.").append(
    Message("user", "a"), Message("assistant", "b")
)


async def note(prompt: str, context: ExecutionContext = EMPTY) -> str:
    return f"{prompt} after {len(context.messages)}" if context.messages else prompt


async def texts(context: ExecutionContext) -> list[Any]:
    return [message.content for message in context.messages]


def picks(route: object) -> ScriptedAnswer:
    return ScriptedAnswer.model_validate({"value": route})


def routed(*, with_context: bool = True, config: Router = ROUTER) -> Flow:
    with Flow("routed") as flow:
        given = {"context": flow.input("context", ExecutionContext, BEFORE)} if with_context else {}
        way = flow.add(intent_router, prompt=flow.input("prompt", str, "hi"), config=config, **given)
        for name in ("x", "y"):
            seen = {"context": getattr(way.out, f"{name}_context")} if with_context else {}
            noted = flow.add(node(note).with_(name=name.upper()), prompt=getattr(way.out, name), **seen)
            flow.output(name, noted.out)
    return flow


async def failed(flow: Flow, *answers: Any) -> RunFailed:
    with scripted(*answers), pytest.raises(RunFailed) as caught:
        await flow.run()
    return caught.value


async def test_only_the_way_that_was_chosen_runs_and_the_conversation_goes_it_too() -> None:
    """HF02, HF03: an absent port does not fire, only the chosen pair does, and the router is asked once."""
    for with_context, said in ((False, "hi"), (True, "hi after 2")):
        for route, other in (("x", "y"), ("y", "x")):
            with scripted(picks(route)) as script:
                result = await routed(with_context=with_context).run()
            assert result.outputs == {route: said}
            assert (result.states[route.upper()], result.states[other.upper()]) == ("done", "skipped")
            because = f"because intent_router: exit {other!r} not taken"
            assert result.why(other).splitlines()[-1].strip() == because
            told = result.metadata["intent_router"]
            assert (told["route"], told["model"], told["usage"]["output_tokens"]) == (route, "openai/gpt", 2)
            assert len(script.requests) == 1


def parted() -> Flow:
    with Flow("parted") as flow:
        way = flow.add(intent_router, prompt="hi", config=ROUTER)
        for name in ROUTES:
            prompt, context = getattr(way.out, name), getattr(way.out, f"{name}_context")
            asked = flow.add(
                node(chat).with_(name=name.upper()), prompt=prompt, context=context, config=MODEL
            )
            flow.output(name, asked.out.text)
    return flow


async def test_conversations_that_went_apart_come_together_without_a_merge() -> None:
    flow = parted()
    flow.output("texts", flow.add(texts).out)  # type: ignore[call-arg]  # wired below
    flow.connect("X.context", "texts.context")
    flow.connect("Y.context", "texts.context")
    with scripted(picks("y"), "hello"):
        assert (await flow.run())["texts"] == ["hi", "hello"]
    flow.connect("intent_router.context", "texts.context")
    (problem,) = flow.check()
    assert "X.context" in str(problem)


async def test_the_question_names_the_routes_and_stays_out_of_the_conversation() -> None:
    with scripted(picks("x")) as script:
        result = await routed(config=Router(model="openai/gpt", system="Think.", routes=ROUTES)).run()
    (request,) = script.requests
    sent = [(message.role, message.content) for message in request.messages]
    assert sent == [("system", QUESTION), ("user", "a"), ("assistant", "b"), ("user", "hi")]
    assert request.schema is not None
    assert request.schema["properties"] == {"answer": {"type": "string", "enum": ["x", "y"]}}
    assert result["x"] == "hi after 2"


async def test_an_answer_off_the_list_is_an_error_that_may_be_asked_again() -> None:
    cases: list[Any] = [picks("z"), picks("X"), picks(None), picks(["x"]), "x", calling(("x", {}))]
    for number, answer in enumerate(cases):
        failure = await failed(routed(), answer)
        assert isinstance(failure.__cause__, AnswerUnfit)
        assert ("expected Literal['x', 'y']" in str(failure)) is (number < 4)
        assert (failure.result.states["X"], failure.result.states["Y"]) == ("not_run", "not_run")
    with Flow("again") as flow:
        flow.output("x", flow.add(intent_router.with_(retries=1), prompt="hi", config=ROUTER).out.x)
    with scripted(picks("z"), picks("x")) as script:
        assert (await flow.run())["x"] == "hi"
    assert len(script.requests) == 2


DOCUMENT: Final = {
    "dataflow": 1,
    "inputs": {"prompt": {"type": "string"}},
    "nodes": {
        "main": {"type": "agent.context", "config": {"model": "openai/gpt"}},
        "way": {
            "type": "agent.intent_router",
            "config": {"routes": {"bill": "about money", "help": "about anything else"}},
            "inputs": {"prompt": "$in.prompt", "context": "main"},
        },
        "pay": {"type": "agent.chat", "inputs": {"prompt": "way.bill", "context": "way.bill_context"}},
        "aid": {"type": "agent.chat", "inputs": {"prompt": "way.help", "context": "way.help_context"}},
        "end": {
            "type": "agent.chat",
            "inputs": {"context": ["pay.context", "aid.context"]},
            "values": {"prompt": "Say goodbye."},
        },
    },
    "outputs": {"text": "end.text"},
}
ANSWERS: Final = """
- {value: bill, to: owe}
- {value: help}
- {text: three pounds, to: owe}
- {text: of course, to: me}
- {text: bye}
"""


def test_a_document_is_run_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cases: list[Any] = [("What do I owe?", "pay", "aid"), ("Save me", "aid", "pay")]
    for prompt, ran, idle in cases:
        file, answers = tmp_path / "routed.json", tmp_path / "answers.yaml"
        file.write_text(json.dumps(DOCUMENT), encoding="utf-8")
        answers.write_text(ANSWERS, encoding="utf-8")
        monkeypatch.setenv("DATAFLOW_SCRIPTED", str(answers))
        flow = Flow.load(file)
        assert flow.check() == []
        file.write_text(json.dumps(flow.to_dict()), encoding="utf-8")
        assert main(["run", "--no-store", str(file), prompt]) == 0
        printed = "".join(capsys.readouterr())
        assert "text: bye" in printed
        states = {words[1]: words[0] for line in printed.splitlines() if len(words := line.split()) > 1}
        assert (states["way"], states[ran], states[idle]) == ("done", "done", "skipped")


class Verdict(BaseModel):
    is_good: bool
    reason: str


async def filled(prompt: str, **values: Any) -> Any:
    return await played(fill_prompt, Prompt(prompt=prompt), **values)


@given(st.text(), st.text())
async def test_any_text_is_filled_in_literally(previous: str, other: str) -> None:
    found = await fill_prompt(
        Prompt(prompt="<{{PREVIOUS_OUTPUT}}|{{ $steps.a.output }}>"), previous=previous, a=other
    )
    assert found == f"<{previous}|{other}>"


async def test_values_and_parts_are_filled_in_as_they_are_or_told() -> None:
    odd = r"cost $& $1 $$ \1 \g<0> {{PREVIOUS_OUTPUT}} {{ $steps.b.output }} {{ $ }}"
    assert await filled("{{PREVIOUS_OUTPUT}}", previous=odd) == odd
    assert await filled("{{ $steps.a.output }}{{ $steps.b.output }}", a=odd, b="B") == f"{odd}B"
    text = "{{ PREVIOUS_OUTPUT }} {{previous_output}} {{ x }} {% if a %} { $steps.a.output } {{}"
    assert await filled(text) == text
    assert await filled(" \n", previous="before") == "before"
    cases: list[Any] = [
        ({"k": [1, None]}, '{"k": [1, null]}'), ([1], "[1]"), (3, "3"), (True, "True"), (None, "None"),
        ("", ""),
    ]  # fmt: skip
    for value, written in cases:
        assert await filled("{{ $steps.a.output }}", a=value) == written
    wholes: list[Any] = [{"k": {"l": "v"}}, '{"k": {"l": "v"}}', ' {"k": {"l": "v"}}\n']
    for value in wholes:
        assert await filled("<{{ $steps.a.output.k.l }}>", a=value) == "<v>"
    verdict = Verdict(is_good=True, reason="short")
    assert await filled("{{ $steps.a.output.reason }}", a=verdict) == "short"
    wrong: list[Any] = [({"l": 1}, ""), ("[1]", ""), ("yes", "DF2007"), ("[" * 100_000, "DF2007")]
    for value, code in wrong:
        error = await filled("{{ $steps.a.output.k }}", a=value)
        assert isinstance(error, ExpressionError)
        assert (error.source, error.kind) == ("{{ $steps.a.output.k }}", "placeholder")
        assert error.code == code or not code


async def say(context: ExecutionContext, text: str) -> ExecutionContext:
    return context.append_turn(Message("user", text), Message("assistant", f"re:{text}"))


def sent(context: ExecutionContext) -> list[Any]:
    return [message.content for message in context.messages]


def talk(*texts: str) -> ExecutionContext:
    made = ExecutionContext("c")
    for text in texts:
        made = made.append(Message("user", text), Message("assistant", f"re:{text}"))
    return made


async def test_messages_that_cannot_be_read() -> None:
    cases: list[Any] = [
        ([{"role": "user"}], "[0].content"),
        ([{"role": "user", "content": "a"}, {"role": "me", "content": "b"}], "[1].role"),
        ([{"role": "user", "content": ["a"]}], "[0].content"),
    ]
    for messages, place in cases:
        error = await played(context, messages=messages)
        assert (error.code, error.place) == ("DF0601", place)
    with pytest.raises(ConversationInvalid):
        await context(messages=[{"role": "tool", "content": "a", "tool_call_id": "t"}])


async def test_branches_are_merged_in_the_order_of_their_names() -> None:
    cases: list[Any] = [
        ("pick", ["start", "re:start", "a", "re:a"]),
        ("append", ["start", "re:start", "a", "re:a", "b", "re:b"]),
        ("results", ["start", "re:start", "re:a", "re:b"]),
    ]
    for how, expected in cases:
        with Flow() as f:
            first = f.add(say, context=f.add(context).out, text="start")
            b = f.add(say, context=first.out, text="b")
            a = f.add(say, context=first.out, text="a")
            merged = f.add(merge_conversations, config=Merge(how=how, branches=["a", "b"]), b=b.out, a=a.out)
            f.output("out", merged.out)
        assert f.check() == []
        assert sent((await f.run())["out"]) == expected


TALK: Final = """
dataflow: 1
inputs: {budget: {type: integer, default: 1}}
nodes:
  main: {type: agent.context, config: {system: S, variables: {a: 1}}}
  rule: {type: agent.inject_messages, config: {pin: rules}, inputs: {context: main}, values: {user: rule}}
  s: {type: agent.inject_messages, config: {pin: s}, inputs: {context: rule}, values: {user: u, assistant: a}}
  both:
    type: agent.merge_conversations
    config: {how: append, branches: [left, right]}
    inputs: {left: s, right: main}
  short: {type: agent.trim_context, config: {max_tokens: 50}, inputs: {context: both}}
outputs: {context: short}
"""


async def test_the_types_are_for_documents_too(tmp_path: Path) -> None:
    file = tmp_path / "talk.yaml"
    file.write_text(TALK, encoding="utf-8")
    flow = Flow.load(file)
    made = (await flow.run())["context"]
    assert (sent(made), made.system_instructions, made.variables) == (["rule", "u", "a"], "S", {"a": 1})
    file.write_text(json.dumps(flow.to_dict()), encoding="utf-8")
    assert Flow.load(file).to_dict() == flow.to_dict()
    file.write_text(TALK.replace("agent.merge_conversations", "agent.merge_contexts"), encoding="utf-8")
    assert sent((await Flow.load(file).run())["context"]) == ["rule", "u", "a"]
    assert current_types()("agent.merge_contexts") == "agent.merge_conversations"


U, A, S = Message("user", "u"), Message("assistant", "a"), Message("system", "s")
BLANK = Message("assistant", " \n")
CALLS = Message("assistant", "", (ToolCall("c", "look", "{}"),))
RESULT = Message("tool", "seen", tool_call_id="c")


async def test_contexts_are_trimmed_to_whole_turns_and_to_clean_tails() -> None:
    trimmed = await played(trim_context, Trim(max_tokens=20), context=talk("a", "b", "c"))
    assert sent(trimmed) == ["b", "re:b", "c", "re:c"]
    too_small = await played(trim_context, Trim(max_tokens=3), context=talk("a"))
    assert isinstance(too_small, BudgetExceeded)
    call = Message("assistant", "", (ToolCall("t1", "look", "{}"),))
    orphaned = await played(trim_context, Trim(max_tokens=3), context=ExecutionContext("c").append(call))
    assert isinstance(orphaned, ConversationInvalid)
    odds: list[Any] = [float("nan"), 0, True, 10.0, "10", None]
    for odd in odds:
        with pytest.raises(ValidationError, match="max_tokens"):
            Trim(max_tokens=odd)
    cases: list[Any] = [
        ([], 0), ([U, A], 2), ([U, A, U], 2), ([U, A, A], 2), ([U, A, BLANK], 2), ([U, A, U, BLANK], 2),
        ([U, A, U, U], 2), ([A], 0), ([A, A, U], 0), ([S, A], 1), ([S, U], 1), ([U, CALLS, RESULT, A], 4),
        ([U, A, U, CALLS, RESULT], 2), ([U, A, U, CALLS], 2), ([U, CALLS, RESULT, CALLS, RESULT, A, A], 6),
        ([U, Message("assistant", ("", " "))], 0), ([A, U, A], 3), ([U, CALLS], 0),
    ]  # fmt: skip
    for messages, kept in cases:
        assert with_clean_tail(messages) == messages[:kept]
