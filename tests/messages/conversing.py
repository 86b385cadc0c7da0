# ruff: noqa: E501 - a row is a line, and messages are compared whole
"""Messages about conversations: calls without results, results without calls, what is no turn, what cannot be merged."""

from __future__ import annotations

from typing import Any, Final

from dataflow import ExecutionContext, Flow, Message, ToolCall, merged_context
from dataflow_agent import merge_contexts
from tests.messages.telling import Row, Stimulus

__all__ = ["ROWS"]


def asks(*calls: str) -> Message:
    return Message("assistant", "", tuple(ToolCall(call, "look", "{}") for call in calls))


def result(call: str) -> Message:
    return Message("tool", "found", tool_call_id=call)


USER: Final = Message("user", "u")


def checked(*messages: Message) -> Stimulus:
    return ExecutionContext("c", message_history=messages).check


def turn(*messages: Message) -> Stimulus:
    return lambda: ExecutionContext("c").append_turn(*messages)


def merging(config: Any) -> Stimulus:
    def stimulus() -> object:
        flow = Flow("f")
        flow.add(merge_contexts, config=config)
        return flow.check()

    return stimulus


# fmt: off
ROWS: Final = [
    Row("a question over the budget", lambda: ExecutionContext("c", message_history=[Message("user", "long" * 99)]).trimmed(9)),
    Row("a result without a call", checked(USER, result("t1"))),
    Row("a second result", checked(asks("t1"), result("t1"), result("t1"))),
    Row("a call without a result", checked(USER, asks("t1"))),
    Row("a late result", checked(asks("t1"), USER, result("t1"))),
    Row("equal ids", checked(asks("t1", "t1"))),
    Row("a user who calls", checked(Message("user", "u", asks("t1").tool_calls))),
    Row("a user who answers a call", checked(Message("user", "u", tool_call_id="t1"))),
    Row("a role that is none", checked(Message("usr", "u"))),  # type: ignore[arg-type]  # what the row is about
    Row("a pin in a turn", turn(Message("user", "u", pin="p"))),
    Row("no turn", turn()),
    Row("a turn without its user message", turn(asks())),
    Row("two turns", turn(USER, USER)),
    Row("a turn without an answer", turn(USER)),
    Row("nothing to merge", lambda: merged_context([], "append")),
    Row("a branch without a name", merging({"how": "append", "branches": ["a b"]})),
    Row("a branch twice", merging({"how": "append", "branches": ["a", "a"]})),
]
# fmt: on
