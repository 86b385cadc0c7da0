"""Conversations: contexts, their turns and what fits a budget, and merging (S10)."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any, Final

import pytest
from hypothesis import strategies as st

from dataflow import (
    BudgetExceeded,
    ConversationInvalid,
    ExecutionContext,
    Image,
    Message,
    NodeFailed,
    ToolCall,
    merged_context,
)
from dataflow.core.context import POLICIES, history_of, merge_live
from dataflow.core.turns import estimated_tokens
from tests.support.codes import codes


def asks(text: str, *calls: str) -> Message:
    return Message("assistant", text, tuple(ToolCall(call, "look", "{}") for call in calls))


def result(call: str) -> Message:
    return Message("tool", f"of {call}", tool_call_id=call)


SYSTEM: Final = Message("system", "s")
L: Final = [
    SYSTEM, Message("user", "u"), asks("", "t1"), result("t1"), asks("", "t2"), result("t2"), asks("", "t3"),
    result("t3"),
]  # fmt: skip


def one(_: Message) -> int:
    return 1


def sent(context: ExecutionContext, of: list[Message]) -> list[int]:
    return [next(place for place, one in enumerate(of) if one is message) for message in context.messages]


def test_of_a_turn_that_is_too_large_the_oldest_calls_are_removed_with_their_results() -> None:
    """B18, L."""
    context = ExecutionContext("c", message_history=L)
    for limit, expected in {8: list(range(8)), 6: [0, 1, 4, 5, 6, 7], 5: [0, 1, 6, 7]}.items():
        assert sent(context.trimmed(limit, one), L) == expected


def test_messages_that_must_be_kept_and_do_not_fit_are_an_error() -> None:
    """B18, L with limit 3."""
    context = ExecutionContext("c", system_instructions="S", message_history=L)
    with pytest.raises(BudgetExceeded) as caught:
        context.trimmed(3, one)
    assert (caught.value.context_id, caught.value.needed, caught.value.budget) == ("c", 5, 3)
    assert context.trimmed(5, one).messages == (L[0], L[1], L[6], L[7])
    with pytest.raises(BudgetExceeded) as caught:
        ExecutionContext("c", system_instructions="S").trimmed(0, one)
    assert caught.value.needed == 1


def test_a_budget_is_an_integer() -> None:
    odd: Any
    for odd in (float("nan"), float("inf"), -1, True, 10.0, "10", None):
        for context in (ExecutionContext("c"), ExecutionContext("c", message_history=L)):
            with pytest.raises(ValueError, match="budget"):
                context.trimmed(odd)


def test_what_is_pinned_in_a_list_of_messages_goes_to_the_head() -> None:
    rule = Message("user", "rule", pin="rules")
    context = ExecutionContext("c", message_history=[Message("user", "a"), rule])
    assert (context.head, context.message_history) == ((rule,), (Message("user", "a"),))


USER: Final = Message("user", "u")
FAULTS: Final[list[tuple[list[Message], int, str]]] = [
    ([USER, result("t1")], 1, "DF0902"),
    ([asks("", "t1", "t2"), result("t3")], 1, "DF0902"),
    ([asks("", "t1"), result("t1"), USER, result("t1")], 3, "DF0902"),
    ([asks("", "t1"), result("t1"), result("t1")], 2, "DF0903"),
    ([USER, asks("", "t1", "t2"), result("t1")], 1, "DF0904"),
    ([asks("", "t1"), USER, result("t1")], 0, "DF0904"),
    ([asks("", "", "")], 0, "DF0905"),
    ([asks("", "t1", "t1")], 0, "DF0905"),
    ([Message("usr", "u")], 0, "DF0906"),  # type: ignore[arg-type]
    ([Message("user", "u", (ToolCall("t1", "look", "{}"),))], 0, "DF0907"),
    ([Message("user", "u", tool_call_id="t1")], 0, "DF0907"),
]
NO_TURNS: Final[list[tuple[list[Message], int, str]]] = [
    ([], 0, "DF0909"),
    ([USER], 0, "DF0909"),
    ([Message("assistant", "a")], 0, "DF0907"),
    ([USER, USER, Message("assistant", "a")], 1, "DF0907"),
    ([USER, asks("", "t1")], 1, "DF0904"),
    ([Message("user", "x", pin="p"), Message("assistant", "y")], 0, "DF0908"),
]


def test_calls_and_results_that_do_not_match_are_refused() -> None:
    for messages, position, code in FAULTS:
        context = ExecutionContext("c", message_history=messages)
        with pytest.raises(ConversationInvalid) as caught:
            context.check()
        assert caught.value.position == position
        assert codes(caught.value) == [f"{code} message {position} of conversation 'c'"]
        with pytest.raises(ConversationInvalid):
            context.trimmed(100)


def test_less_or_more_than_a_turn_is_refused() -> None:
    for messages, position, code in NO_TURNS:
        with pytest.raises(ConversationInvalid) as caught:
            ExecutionContext("c").append_turn(*messages)
        assert codes(caught.value) == [f"{code} message {position} of a turn of conversation 'c'"]


def test_tokens_are_estimated() -> None:
    for message, tokens in [
        (Message("user", ""), 4),
        (Message("user", "abcde"), 6),
        (Message("user", ("abcd", Image("image/png", b"x" * 99))), 1_505),
        (asks("", "t1"), 6),
        (Message("tool", {"a": 1}, tool_call_id="t1"), 6),
    ]:
        assert estimated_tokens(message) == tokens


def test_a_very_long_conversation_is_trimmed_and_goes_on_without_being_copied() -> None:
    context = ExecutionContext("c")
    for number in range(20_000):
        context = context.append(Message("user", str(number)), Message("assistant", "a")).trimmed(20, one)
    assert len(context.message_history) == 40_000
    assert len(context.messages) == 20


roles = st.sampled_from(["user", "assistant"])


def messages(roles: list[Any]) -> list[Message]:
    return [Message(role, "same") for role in roles]


def same(found: ExecutionContext, expected: list[Message]) -> bool:
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


HELLO, YES = Message("user", "hello"), Message("assistant", "yes")


def test_appending_makes_a_new_context_that_shares_the_old_history() -> None:
    start = ExecutionContext("main", message_history=[HELLO])
    longer = start.append(YES)
    assert (start.message_history, longer.message_history) == ((HELLO,), (HELLO, YES))
    assert history_of(longer).last.before is history_of(start).last


def test_a_context_and_its_variables_cannot_be_changed() -> None:
    context = ExecutionContext("main", variables={"names": ["a"]})
    variables: Any = context.variables
    variables["names"].append("b")
    assert variables == {"names": ["a"]}
    with pytest.raises(TypeError, match="item assignment"):
        variables["names"] = []
    with pytest.raises(FrozenInstanceError):
        context.model = "other"  # type: ignore[misc]  # what the test is about
