"""Merging conversations, against plain lists (S10.4)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from dataflow import ExecutionContext, Message, NodeFailed, ToolCall, merged_context
from dataflow.core.context import POLICIES, merge_live
from tests.support.codes import codes

roles = st.sampled_from(["user", "assistant"])


def messages(roles: list[Any]) -> list[Message]:
    return [Message(role, "same") for role in roles]


def same(found: ExecutionContext, expected: list[Message]) -> bool:
    """Tell whether these are the very messages, not only equal ones."""
    return [id(message) for message in found.message_history] == [id(message) for message in expected]


def test_variables_that_the_first_does_not_have_come_from_the_others() -> None:
    found: list[dict[str, Any]] = [{"a": 1}, {"a": 2, "b": [3]}, {"b": 4, "c": 5}]
    contexts = [ExecutionContext("main", variables=one) for one in found]
    alone = ExecutionContext("main").append(*messages(["user", "assistant"]))
    for how in (POLICIES["append"], POLICIES["results"]):
        assert dict(how(contexts).variables) == {"a": 1, "b": [3], "c": 5}
        assert how([alone]) == alone


def test_contexts_of_different_ids_share_nothing() -> None:
    said = messages(["user", "assistant"])
    contexts = [ExecutionContext(name, message_history=said) for name in ("one", "other")]
    merged = POLICIES["append"](contexts)
    assert (merged.context_id, same(merged, [*said, *said])) == ("one", True)
    assert same(POLICIES["results"](contexts), [said[1], said[1]])


def test_a_history_that_was_made_anew_shares_the_messages_it_begins_with() -> None:
    said = messages(["user", "assistant"])
    start = ExecutionContext("main", message_history=said)
    anew = ExecutionContext("main", message_history=[*said, Message("user", "more")])
    assert [message.content for message in POLICIES["append"]([start, anew]).message_history] == [
        "same", "same", "more",
    ]  # fmt: skip


def count(contexts: list[ExecutionContext]) -> Any:
    return len(contexts)


def test_a_value_that_is_not_a_context_is_refused() -> None:
    with pytest.raises(NodeFailed) as caught:
        merge_live("m", ["a.out"], ["text"], POLICIES["append"])
    assert codes(caught.value) == ["DF0601 m: value of a.out"]
    with pytest.raises(NodeFailed) as caught:
        merge_live("m", ["a.out"], [ExecutionContext("a")], count)
    assert codes(caught.value) == ["DF0812 m"]


def test_an_answer_that_only_calls_is_no_result() -> None:
    start = ExecutionContext("main")
    asked = Message("user", "look")
    calls = Message("assistant", "I look", (ToolCall("c1", "look", "{}"),))
    found = Message("tool", "a cat", tool_call_id="c1")
    told = [start.append(asked, *rest) for rest in ([calls, found], [Message("assistant", "a dog")])]
    assert [m.content for m in merged_context(told, "results").message_history] == ["a dog"]


def test_a_merge_of_nothing_or_without_a_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="DF0910"):
        merged_context([], "append")
    with pytest.raises(ValueError, match="all"):
        merged_context([ExecutionContext("a")], "all")  # type: ignore[arg-type]  # what the test is about
