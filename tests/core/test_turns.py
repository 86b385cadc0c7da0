# ruff: noqa: E501 - a row is a line, and messages are compared whole
"""Turns: what belongs together, what fits a budget, and what is wrong (S10.2, S10.3, S10.5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from dataflow import BudgetExceeded, ConversationInvalid, ExecutionContext, Image, Message, ToolCall
from dataflow.core.turns import estimated_tokens


def asks(text: str, *calls: str) -> Message:
    return Message("assistant", text, tuple(ToolCall(call, "look", "{}") for call in calls))


def result(call: str) -> Message:
    return Message("tool", f"of {call}", tool_call_id=call)


SYSTEM: Final = Message("system", "s")
#: The two histories of B18.
H: Final = [
    SYSTEM, Message("user", "u1"), asks("", "t1", "t2"), result("t1"), result("t2"), Message("assistant", "a1"),
    Message("user", "u2"), asks("", "t3"), result("t3"), Message("assistant", "a2"), Message("user", "u3"),
]  # fmt: skip
L: Final = [
    SYSTEM, Message("user", "u"), asks("", "t1"), result("t1"), asks("", "t2"), result("t2"), asks("", "t3"), result("t3"),
]  # fmt: skip


def one(_: Message) -> int:
    return 1


def sent(context: ExecutionContext, of: list[Message]) -> list[int]:
    """List the places in a history of what is sent."""
    return [next(place for place, one in enumerate(of) if one is message) for message in context.messages]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [(range(2, 6), [0, 10]), (range(6, 11), [0, 6, 7, 8, 9, 10]), ([11, 12], list(range(11)))],
)
def test_whole_turns_go_the_oldest_first(limits: Any, expected: list[int]) -> None:
    """B18, H."""
    context = ExecutionContext("c", message_history=H)
    for limit in limits:
        trimmed = context.trimmed(limit, one)
        assert sent(trimmed, H) == expected
        assert trimmed.message_history == H


@pytest.mark.parametrize(
    ("limit", "expected"), [(8, list(range(8))), (6, [0, 1, 4, 5, 6, 7]), (5, [0, 1, 6, 7])]
)
def test_of_a_turn_that_is_too_large_the_oldest_calls_go_with_their_results(
    limit: int, expected: list[int]
) -> None:
    """B18, L."""
    assert sent(ExecutionContext("c", message_history=L).trimmed(limit, one), L) == expected


def test_what_has_to_stay_and_does_not_fit_is_an_error() -> None:
    """B18, L with limit 3."""
    context = ExecutionContext("c", system_instructions="S", message_history=L)
    with pytest.raises(BudgetExceeded) as caught:
        context.trimmed(3, one)
    assert (caught.value.context_id, caught.value.needed, caught.value.budget) == ("c", 5, 3)
    assert context.trimmed(5, one).messages == (L[0], L[1], L[6], L[7])


def test_a_conversation_may_be_trimmed_again_and_go_on() -> None:
    context = ExecutionContext("c", message_history=L).trimmed(5, one)
    context = context.append(Message("assistant", "a"), Message("user", "next")).trimmed(5, one)
    assert [message.content for message in context.messages] == ["s", "next"]
    assert context.append(Message("user", "more")).trimmed(3, one).messages[1:] == (
        Message("user", "next"),
        Message("user", "more"),
    )


def test_a_user_message_that_was_kept_alone_goes_with_its_turn() -> None:
    context = ExecutionContext("c", message_history=L).trimmed(5, one)
    context = context.append(Message("user", "next"))
    assert [message.content for message in context.trimmed(2, one).messages] == ["s", "next"]
    assert len(context.trimmed(5, one).messages) == 5


def test_what_fits_is_left_as_it_is() -> None:
    context = ExecutionContext("c", message_history=H)
    assert context.trimmed(11, one) is context
    assert ExecutionContext("c").trimmed(0) == ExecutionContext("c")


def test_system_text_alone_may_be_too_much() -> None:
    with pytest.raises(BudgetExceeded) as caught:
        ExecutionContext("c", system_instructions="S").trimmed(0, one)
    assert caught.value.needed == 1


def test_what_comes_before_the_first_user_message_is_a_turn_that_can_go() -> None:
    hello, ask = Message("assistant", "hello"), Message("user", "u")
    context = ExecutionContext("c").append(hello, ask)
    assert context.turns() == [(hello,), (ask,)]
    assert context.trimmed(1, one).messages == (ask,)


def test_an_answer_without_a_question_is_trimmed_to_its_last_part() -> None:
    answers = [asks("", "t1"), result("t1"), Message("assistant", "a")]
    context = ExecutionContext("c").append(*answers)
    assert context.trimmed(1, one).messages == (answers[2],)


def test_a_trimming_shares_the_history() -> None:
    context = ExecutionContext("c", message_history=H)
    assert context.trimmed(2, one).message_history is context.message_history


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -1, True, 10.0, "10", None])
def test_a_budget_is_a_whole_number(odd: Any) -> None:
    for context in (ExecutionContext("c"), ExecutionContext("c", message_history=L)):
        with pytest.raises(ValueError, match=r"^budget must be a whole number of 0 or more, found "):
            context.trimmed(odd)


def test_messages_of_the_system_and_pinned_ones_belong_to_no_turn() -> None:
    pinned = Message("user", "rule", pin="rules")
    context = ExecutionContext("c", message_history=H).append(pinned)
    assert [len(turn) for turn in context.turns()] == [5, 4, 1]
    assert [turn[0].content for turn in context.turns()] == ["u1", "u2", "u3"]


def test_what_is_pinned_stands_first_and_stays() -> None:
    rule, fact = Message("user", "rule", pin="rules"), Message("user", "fact", pin="facts")
    context = ExecutionContext("c").append(Message("user", "a"), rule).append(Message("user", "b"), fact)
    assert [message.content for message in context.messages] == ["rule", "fact", "a", "b"]
    assert [message.content for message in context.trimmed(3, one).messages] == ["rule", "fact", "b"]
    assert [message.content for message in context.message_history] == ["a", "b"]


def test_pinning_again_replaces_in_place_and_the_same_changes_nothing() -> None:
    first = (Message("user", "rule", pin="rules"), Message("assistant", "yes", pin="rules"))
    context = ExecutionContext("c").append(*first, Message("user", "fact", pin="facts"))
    again = context.append(*first)
    assert again.head is context.head
    changed = context.append(Message("user", "new rule", pin="rules"))
    assert [message.content for message in changed.head] == ["new rule", "fact"]


def test_what_is_pinned_in_a_list_of_messages_goes_to_the_head() -> None:
    rule = Message("user", "rule", pin="rules")
    context = ExecutionContext("c", message_history=[Message("user", "a"), rule])
    assert (context.head, context.message_history) == ((rule,), (Message("user", "a"),))


def test_what_is_pinned_after_a_trimming_stands_before_what_that_kept() -> None:
    context = ExecutionContext("c", message_history=L).trimmed(5, one)
    context = context.append(Message("user", "rule", pin="rules"))
    assert [message.content for message in context.messages] == ["rule", "s", "u", "", "of t3"]


FAULTS: Final[list[tuple[str, list[Message], int, str]]] = [
    ("a result alone", [Message("user", "u"), result("t1")], 1, "is the result of the call 't1', which is not made before it; no call waits for a result"),
    ("another result", [asks("", "t1", "t2"), result("t3")], 1, "is the result of the call 't3', which is not made before it; choices: t1, t2"),
    ("two results", [asks("", "t1"), result("t1"), result("t1")], 2, "is a second result of the call 't1'"),
    ("no result", [Message("user", "u"), asks("", "t1", "t2"), result("t1")], 1, "calls 't2', which has no result"),
    ("a late result", [asks("", "t1"), Message("user", "u"), result("t1")], 0, "calls 't1', and message 1 comes before the result"),
    ("a result for the turn before", [asks("", "t1"), result("t1"), Message("user", "u"), result("t1")], 3, "is the result of the call 't1', which is not made before it; no call waits for a result"),
    ("no id", [asks("", "")], 0, "makes a call without an id"),
    ("an unknown role", [Message("usr", "u")], 0, "has the role 'usr'; choices: system, user, assistant, tool"),  # type: ignore[arg-type]
    ("equal ids", [asks("", "t1", "t1")], 0, "makes two calls with the id 't1'"),
    ("a user who calls", [Message("user", "u", (ToolCall("t1", "look", "{}"),))], 0, "has tool calls; expected the role 'assistant', found 'user'"),
    ("a user who answers a call", [Message("user", "u", tool_call_id="t1")], 0, "is the result of a call; expected the role 'tool', found 'user'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("messages", "position", "reason"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS]
)
def test_calls_and_results_that_do_not_belong_together_are_refused(
    messages: list[Message], position: int, reason: str
) -> None:
    context = ExecutionContext("c", message_history=messages)
    with pytest.raises(ConversationInvalid) as caught:
        context.check()
    assert (caught.value.position, caught.value.reason) == (position, reason)
    assert str(caught.value) == f"message {position} of conversation 'c' {reason}"
    with pytest.raises(ConversationInvalid):
        context.trimmed(100)


@pytest.mark.parametrize("messages", [H, L, [asks("", "t1", "t2"), result("t2"), result("t1")]])
def test_each_call_with_its_result_in_any_order_is_right(messages: list[Message]) -> None:
    ExecutionContext("c", message_history=messages).check()


def test_the_same_ids_may_come_again() -> None:
    ExecutionContext("c", message_history=[asks("", "t1"), result("t1")] * 2).check()


def test_a_whole_turn_is_appended() -> None:
    turn = [Message("user", "u"), asks("", "t1"), result("t1"), Message("assistant", "a")]
    assert ExecutionContext("c").append_turn(*turn).turns() == [tuple(turn)]


@pytest.mark.parametrize(
    ("messages", "position", "reason"),
    [
        ([], 0, "is missing; expected a user message"),
        ([Message("assistant", "a")], 0, "has the role 'assistant'; expected 'user' there in a turn"),
        ([Message("user", "u")], 0, "is the last one; expected an answer of the assistant behind it"),
        ([Message("user", "u"), asks("", "t1")], 1, "calls 't1', which has no result"),
        (
            [Message("user", "u"), Message("user", "u"), Message("assistant", "a")],
            1,
            "has the role 'user'; expected 'assistant' or 'tool' there in a turn",
        ),
    ],
)
def test_less_or_more_than_a_turn_is_refused(messages: list[Message], position: int, reason: str) -> None:
    with pytest.raises(ConversationInvalid) as caught:
        ExecutionContext("c").append_turn(*messages)
    assert str(caught.value) == f"message {position} of a turn of conversation 'c' {reason}"


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        (Message("user", ""), 4),
        (Message("user", "abcde"), 6),
        (Message("user", ("abcd", Image("image/png", b"x" * 99))), 1_505),
        (asks("", "t1"), 6),
        (Message("tool", {"a": 1}, tool_call_id="t1"), 6),
    ],
)
def test_tokens_are_estimated(message: Message, tokens: int) -> None:
    assert estimated_tokens(message) == tokens


def test_the_session_is_that_of_the_context_unless_it_is_given() -> None:
    assert ExecutionContext("c").session_id == "c"
    assert ExecutionContext("c", session_id="s").append(Message("user", "u")).session_id == "s"


def test_a_very_long_conversation_is_trimmed_and_goes_on_without_being_copied() -> None:
    context = ExecutionContext("c")
    for number in range(20_000):
        context = context.append(Message("user", str(number)), Message("assistant", "a")).trimmed(20, one)
    assert len(context.message_history) == 40_000
    assert len(context.messages) == 20


def test_a_history_that_is_given_anew_is_sent_whole() -> None:
    context = ExecutionContext("c", message_history=[Message("user", "long" * 50), Message("user", "short")])
    short = context.trimmed(10)
    assert [message.content for message in short.messages] == ["short"]
    anew = replace(short, message_history=[Message("user", "first"), Message("user", "second")])
    assert [message.content for message in anew.messages] == ["first", "second"]


def test_what_is_pinned_is_no_part_of_a_turn() -> None:
    context = ExecutionContext("c")
    with pytest.raises(
        ConversationInvalid, match=r"message 0 .* has the pin 'p'; what is pinned belongs to no turn"
    ):
        context.append_turn(Message("user", "x", pin="p"), Message("assistant", "y"))
