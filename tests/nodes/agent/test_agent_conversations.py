"""The node types for conversations, called, in flows, and from documents (S10)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from pydantic import ValidationError

from dataflow import BudgetExceeded, ConversationInvalid, ExecutionContext, Flow, Message, ToolCall
from dataflow_agent import Merge, Trim, context, merge_contexts, trim_context
from dataflow_agent.conversations import with_clean_tail
from tests.nodes.playing import played


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
            merged = f.add(merge_contexts, config=Merge(how=how, branches=["a", "b"]), b=b.out, a=a.out)
            f.output("out", merged.out)
        assert f.check() == []
        assert sent((await f.run())["out"]) == expected


DOCUMENT: Final = """
dataflow: 1
inputs: {budget: {type: integer, default: 1}}
nodes:
  main: {type: agent.context, config: {system: S, variables: {a: 1}}}
  rules: {type: agent.inject_messages, config: {pin: rules}, inputs: {context: main}, values: {user: rule}}
  both:
    type: agent.merge_contexts
    config: {how: append, branches: [left, right]}
    inputs: {left: rules, right: main}
  short: {type: agent.trim_context, config: {max_tokens: 50}, inputs: {context: both}}
outputs: {context: short}
"""


async def test_the_types_are_for_documents_too(tmp_path: Path) -> None:
    file = tmp_path / "talk.yaml"
    file.write_text(DOCUMENT, encoding="utf-8")
    flow = Flow.load(file)
    made = (await flow.run())["context"]
    assert (sent(made), made.system_instructions, made.variables) == (["rule"], "S", {"a": 1})
    file.write_text(json.dumps(flow.to_dict()), encoding="utf-8")
    assert Flow.load(file).to_dict() == flow.to_dict()


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
