"""Rows of the cases on conversations, with nodes that ask a model: B14, B15, B18, HF05 to HF22."""

# ruff: noqa: B023 - each function is called in the round that defines it

from __future__ import annotations

from typing import Any

import pytest
from anyio import Event, create_task_group
from anyio.lowlevel import checkpoint

from dataflow import (
    EventKind,
    ExecutionContext,
    Flow,
    Message,
    NodeState,
    Result,
    RunFailed,
    Store,
    ToolCall,
    merge_contexts,
    node,
)
from dataflow_agent import (
    Agent,
    Chat,
    Conversation,
    ModelRequest,
    ScriptedAnswer,
    Toolbox,
    Trim,
    chat,
    context,
    scripted,
    tools,
    trim_context,
)
from tests.nodes.agent.agent_tools import said

MODEL = "openai/gpt"


def pair(text: str) -> list[tuple[str, str]]:
    return [("user", text), ("assistant", f"re:{text}")]


def echo(request: ModelRequest) -> str:
    return f"re:{request.messages[-1].content}"


async def test_a_hundred_runs_of_one_flow_with_a_model_each_have_their_own_history() -> None:
    """B14: all are asking at once before any is answered."""
    results: dict[int, Result] = {}
    come, all_have_come = [0], Event()

    async def answer(request: ModelRequest) -> str:
        come[0] += 1
        if come[0] == 100:
            all_have_come.set()
        await all_have_come.wait()
        for _ in range(int(str(request.messages[-1].content)[1:]) % 7):
            await checkpoint()
        return echo(request)

    with Flow("hundred") as flow:
        main = flow.context("main", system="S", model=MODEL)
        flow.output("context", flow.add(chat, prompt=flow.input("prompt", str), context=main).out.context)
    before = flow.to_dict()

    async def play(number: int) -> None:
        results[number] = await flow.run(prompt=f"m{number}")

    with scripted(answer) as script:
        async with create_task_group() as group:
            for number in range(100):
                group.start_soon(play, number)
    for number, result in results.items():
        assert said(result["context"]) == pair(f"m{number}")
        assert result["context"].system_instructions == "S"
    assert {len(request.messages) for request in script.requests} == {2}
    assert len({result["context"].context_id for result in results.values()}) == 100
    assert flow.to_dict() == before


def chats(texts: tuple[str, str]) -> Flow:
    with Flow("chats") as flow:
        main = flow.context("main", system="S", model=MODEL)
        other = flow.context("other", model=MODEL)
        a, b = (
            flow.add(node(chat).with_(name=name), prompt=text, context=main)
            for name, text in zip("ab", texts, strict=True)
        )
        both = merge_contexts(a.out.context, b.out.context, how="append")
        flow.output("b", b.out.context)
        flow.output("last", flow.add(node(chat).with_(name="c"), prompt="c", context=both).out.context)
        flow.output("other", flow.add(node(chat).with_(name="d"), prompt="d", context=other).out.context)
    return flow


async def test_of_two_chats_on_one_context_each_question_has_its_answer() -> None:
    """B15 (i), (ii): the first is answered after the second, and its pair stands first all the same."""
    cases: list[Any] = [("a", "b"), ("same", "same")]
    for texts in cases:
        second_has_ended, asked = Event(), list[str]()

        async def answer(request: ModelRequest) -> str:
            text = str(request.messages[-1].content)
            asked.append(text)
            if len(asked) == 1 and text == texts[0]:
                await second_has_ended.wait()
            elif text == texts[1]:
                second_has_ended.set()
            return echo(request)

        with scripted(answer) as script:
            result = await chats(texts).run()
        assert said(result["last"]) == [*pair(texts[0]), *pair(texts[1]), *pair("c")]
        assert said(result["other"]) == pair("d")
        last = next(one for one in script.requests if one.messages[-1].content == "c")
        assert [message.role for message in last.messages].count("system") == 1
        assert len(last.messages) == 6


async def test_of_two_chats_one_that_fails_takes_nothing_from_the_other() -> None:
    """B15 (iii)."""
    broken = ScriptedAnswer(error="stream_interrupted", to="a")
    answers = broken, ScriptedAnswer(text="re:b", to="b"), ScriptedAnswer(text="re:d", to="d")
    with scripted(*answers), pytest.raises(RunFailed) as caught:
        await chats(("a", "b")).using(errors="continue").run()
    result = caught.value.result
    assert said(result["b"]) == pair("b")
    assert result.states["c"] is NodeState.NOT_RUN


async def test_a_trimmed_conversation_is_sent_in_whole_turns() -> None:
    """B18: no result of a tool is sent without its call, and the history stays whole."""

    def used(number: int) -> list[Message]:
        calls = tuple(ToolCall(f"t{number}{one}", "look", "{}") for one in "ab")
        results = [Message("tool", "x" * 40, tool_call_id=call.id) for call in calls]
        return [Message("user", f"u{number}"), Message("assistant", "", calls), *results,
                Message("assistant", f"a{number}")]  # fmt: skip

    long = ExecutionContext("c", system_instructions="S").append_turn(*used(1)).append_turn(*used(2))
    with Flow("trimmed") as flow:
        short = flow.add(
            trim_context, context=flow.input("context", ExecutionContext), config=Trim(max_tokens=60)
        )
        asked = flow.add(chat, prompt="u3", context=short.out, config=Chat(model=MODEL))
        flow.output("context", asked.out.context)
    with scripted("a3") as script:
        result = await flow.run(context=long)
    roles = [(message.role, message.content) for message in script.requests[0].messages]
    assert roles == [("system", "S"), *said(ExecutionContext("x", message_history=used(2))), ("user", "u3")]
    assert len(result["context"].message_history) == 12


async def look(at: str) -> str:
    return f"saw {at}"


async def offer() -> Toolbox:
    return tools(look)


async def test_tools_are_made_when_the_model_is_to_be_asked_and_not_before() -> None:
    """HF05: nothing offers tools while the run waits for what is said to the model."""
    with Flow("pulled") as flow:
        main = flow.context("main", model=MODEL)
        user = flow.ask(str, "What do you want?", name="user")
        box = flow.add(offer)
        asked = flow.add(Agent("lead"), prompt=user.out, context=main, tools=box.out)
        flow.output("text", asked.out.text)
    flow = flow.using(store=Store.memory())
    paused = await flow.run()
    assert paused.states["offer"] not in (NodeState.DONE, NodeState.RUNNING)
    with scripted("hi") as script:
        async with flow.resuming(paused.run_id, {"user": "hello"}) as run:
            begun = [one.path async for one in run.events() if one.kind is EventKind.NODE_STARTED]
            result = await run
    assert result["text"] == "hi"
    assert begun.index("offer") < begun.index("lead/turn[0]/ask")
    assert [spec.name for spec in script.requests[0].tools] == ["look"]


def chatting() -> Flow:
    with Flow("chatting") as flow:
        main = flow.context("main", model=MODEL)
        with flow.loop(limit=None, name="chat") as rounds:
            so_far = rounds.carry(main)
            user = flow.ask(str, "You:", name="user")
            asked = flow.add(chat, prompt=user.out, context=so_far.out)
            rounds.until(user.out, lambda text: text == "bye")
            so_far.next(asked.out.context)
        flow.output("context", so_far.final)
    return flow.using(store=Store.memory())


async def test_a_chat_loop_waits_for_the_user_in_each_round_and_what_is_said_is_said_once() -> None:
    """HF06, HF08: two replies, and the run waits for the third; nobody but the chat appends the prompt."""
    flow = chatting()
    result = await flow.run()
    with scripted(echo) as script:
        for number, text in enumerate(("one", "two")):
            assert [ask.id for ask in result.asks] == [f"chat[{number}]/user"]
            result = await flow.resume(result.run_id, {f"chat[{number}]/user": text})
    assert (result.status, [ask.id for ask in result.asks]) == ("paused", ["chat[2]/user"])
    asked = [[message.content for message in request.messages] for request in script.requests]
    assert asked == [["one"], ["one", "re:one", "two"]]
    with scripted() as script:
        result = await flow.resume(result.run_id, {"chat[2]/user": "bye"})
    assert said(result["context"]) == [*pair("one"), *pair("two")]
    assert script.requests == []  # what ends the loop is not said to the model


async def test_an_isolated_context_has_its_own_model_and_leaves_the_main_one_alone() -> None:
    """HF15: the text of one model is the prompt of another, in a conversation that knows nothing of it."""
    with Flow("isolated") as flow:
        main = flow.context("main", system="Main.", model="openai/gpt")
        apart = flow.add(node(context).with_(name="apart"), config=Conversation(model="anthropic/claude"))
        a = flow.add(node(chat).with_(name="a"), prompt="q", context=apart.out)
        b = flow.add(node(chat).with_(name="b"), prompt=a.out.text, context=main)
        flow.output("main", b.out.context)
        flow.output("apart", a.out.context)
    with scripted(echo) as script:
        result = await flow.run()
    assert said(result["main"]) == pair("re:q")
    assert said(result["apart"]) == pair("q")
    assert [request.model for request in script.requests] == ["anthropic/claude", "openai/gpt"]
    assert [message.content for message in script.requests[1].messages] == ["Main.", "re:q"]
