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
    Row("a budget", lambda: ExecutionContext("c").trimmed(True), "budget must be a whole number of 0 or more, found True"),
    Row("a result without a call", checked(USER, result("t1")), "message 1 of conversation 'c' is the result of the call 't1', which is not made before it; no call waits for a result"),
    Row("the result of another call", checked(asks("t1", "t2"), result("t3")), "message 1 of conversation 'c' is the result of the call 't3', which is not made before it; choices: t1, t2"),
    Row("a second result", checked(asks("t1"), result("t1"), result("t1")), "message 2 of conversation 'c' is a second result of the call 't1'"),
    Row("a call without a result", checked(USER, asks("t1")), "message 1 of conversation 'c' calls 't1', which has no result"),
    Row("a late result", checked(asks("t1"), USER, result("t1")), "message 0 of conversation 'c' calls 't1', and message 1 comes before the result"),
    Row("equal ids", checked(asks("t1", "t1")), "message 0 of conversation 'c' makes two calls with the id 't1'"),
    Row("a user who calls", checked(Message("user", "u", asks("t1").tool_calls)), "message 0 of conversation 'c' has tool calls; expected the role 'assistant', found 'user'"),
    Row("a user who answers a call", checked(Message("user", "u", tool_call_id="t1")), "message 0 of conversation 'c' is the result of a call; expected the role 'tool', found 'user'"),
    Row("no id", checked(asks("")), "message 0 of conversation 'c' makes a call without an id"),
    Row("a role that is none", checked(Message("usr", "u")), "message 0 of conversation 'c' has the role 'usr'; choices: system, user, assistant, tool"),  # type: ignore[arg-type]  # what the row is about
    Row("a pin in a turn", turn(Message("user", "u", pin="p")), "message 0 of a turn of conversation 'c' has the pin 'p'; what is pinned belongs to no turn"),
    Row("no turn", turn(), "message 0 of a turn of conversation 'c' is missing; expected a user message"),
    Row("a turn without its user message", turn(asks()), "message 0 of a turn of conversation 'c' has the role 'assistant'; expected 'user' there in a turn"),
    Row("two turns", turn(USER, USER), "message 1 of a turn of conversation 'c' has the role 'user'; expected 'assistant' or 'tool' there in a turn"),
    Row("a turn without an answer", turn(USER), "message 0 of a turn of conversation 'c' is the last one; expected an answer of the assistant behind it"),
    Row("nothing to merge", lambda: merged_context([], "append"), "there is no context to merge; expected at least one"),
    Row("no policy", lambda: merged_context([ExecutionContext("c")], "all"), "how is 'all'; choices: pick, append, results"),  # type: ignore[arg-type]  # what the row is about
    Row("a branch without a name", merging({"how": "append", "branches": ["a b"]})),
    Row("a branch called config", merging({"how": "append", "branches": ["config"]})),
    Row("a branch twice", merging({"how": "append", "branches": ["a", "a"]})),
]
# fmt: on
