"""Conversations that are brought along and were broken off, begun without their end (HF22)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dataflow import Flow, Message, ToolCall
from dataflow_agent import Conversation, context, scripted
from dataflow_agent.conversations import with_clean_tail

U, A, S = Message("user", "u"), Message("assistant", "a"), Message("system", "s")
BLANK = Message("assistant", " \n")
CALLS = Message("assistant", "", (ToolCall("c", "look", "{}"),))
RESULT = Message("tool", "seen", tool_call_id="c")


def test_what_is_no_whole_turn_is_left_out_at_the_end_alone() -> None:
    cases: list[Any] = [
        ([], 0),
        ([U, A], 2),
        ([U, A, U], 2),
        ([U, A, A], 2),
        ([U, A, BLANK], 2),
        ([U, A, U, BLANK], 2),
        ([U, A, U, U], 2),
        ([A], 0),
        ([A, A, U], 0),
        ([S, A], 1),
        ([S, U], 1),
        ([U, CALLS, RESULT, A], 4),
        ([U, A, U, CALLS, RESULT], 2),
        ([U, A, U, CALLS], 2),
        ([U, CALLS, RESULT, CALLS, RESULT, A, A], 6),
        ([U, Message("assistant", ("", " "))], 0),
        ([A, U, A], 3),
    ]
    for messages, kept in cases:
        assert with_clean_tail(messages) == messages[:kept]


DOCUMENT = """
dataflow: 1
inputs: {history: {}}
nodes:
  start: {type: agent.context, config: {clean_tail: true}, inputs: {messages: $in.history}}
  chat: {type: agent.chat, config: {model: openai/gpt}, values: {prompt: p}, inputs: {context: start}}
outputs: {text: chat.text}
"""


async def test_a_start_node_of_a_document_cleans_what_it_is_given(tmp_path: Path) -> None:
    """HF22: u, a, u and u, a, a are sent as u, a."""
    for tail in ("user", "assistant"):
        (tmp_path / "flow.yaml").write_text(DOCUMENT)
        history = [{"role": role, "content": role} for role in ("user", "assistant", tail)]
        with scripted("done") as script:
            await Flow.load(tmp_path / "flow.yaml").run(history=history)
        assert [message.content for message in script.requests[0].messages] == ["user", "assistant", "p"]


async def test_calls_that_were_never_answered_are_no_problem_then() -> None:
    calls: list[dict[str, Any]] = [{"id": "c", "name": "look", "arguments": "{}"}]
    said = {"role": "user", "content": "u"}
    history: list[dict[str, Any]] = [said, {"role": "assistant", "content": "", "tool_calls": calls}]
    begun = await context(messages=history, config=Conversation(clean_tail=True))
    assert begun.messages == ()
