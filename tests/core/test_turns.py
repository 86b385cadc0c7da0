"""Turns: what belongs together, what fits a budget, and what is wrong (S10.2, S10.3, S10.5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from dataflow import BudgetExceeded, ConversationInvalid, ExecutionContext, Image, Message, ToolCall
from dataflow.core.turns import estimated_tokens
from tests.support.codes import codes


def asks(text: str, *calls: str) -> Message:
    return Message("assistant", text, tuple(ToolCall(call, "look", "{}") for call in calls))


def result(call: str) -> Message:
    return Message("tool", f"of {call}", tool_call_id=call)


SYSTEM: Final = Message("system", "s")
#: The two histories of B18.
H: Final = [
    SYSTEM, Message("user", "u1"), asks("", "t1", "t2"), result("t1"), result("t2"),
    Message("assistant", "a1"), Message("user", "u2"), asks("", "t3"), result("t3"),
    Message("assistant", "a2"), Message("user", "u3"),
]  # fmt: skip
L: Final = [
    SYSTEM, Message("user", "u"), asks("", "t1"), result("t1"), asks("", "t2"), result("t2"), asks("", "t3"),
    result("t3"),
]  # fmt: skip


def one(_: Message) -> int:
    return 1


def sent(context: ExecutionContext, of: list[Message]) -> list[int]:
    """List the places in a history of what is sent."""
    return [next(place for place, one in enumerate(of) if one is message) for message in context.messages]


def test_the_oldest_turns_are_removed_whole_first() -> None:
    """B18, H."""
    context = ExecutionContext("c", message_history=H)
    for limit in range(2, 13):
        trimmed = context.trimmed(limit, one)
        assert sent(trimmed, H) == (
            [0, 10] if limit < 6 else [0, 6, 7, 8, 9, 10] if limit < 11 else list(range(11))
        )
        assert trimmed.message_history is context.message_history
    assert context.trimmed(11, one) is context
    assert ExecutionContext("c").trimmed(0) == ExecutionContext("c")


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


def test_what_comes_before_the_first_user_message_is_a_turn_that_can_go() -> None:
    hello, ask = Message("assistant", "hello"), Message("user", "u")
    context = ExecutionContext("c").append(hello, ask)
    assert context.turns() == [(hello,), (ask,)]
    assert context.trimmed(1, one).messages == (ask,)


def test_an_answer_without_a_question_is_trimmed_to_its_last_part() -> None:
    answers = [asks("", "t1"), result("t1"), Message("assistant", "a")]
    context = ExecutionContext("c").append(*answers)
    assert context.trimmed(1, one).messages == (answers[2],)


def test_a_budget_is_an_integer() -> None:
    odd: Any
    for odd in (float("nan"), float("inf"), -1, True, 10.0, "10", None):
        for context in (ExecutionContext("c"), ExecutionContext("c", message_history=L)):
            with pytest.raises(ValueError, match="budget"):
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


def test_each_call_with_its_result_in_any_order_is_right() -> None:
    for messages in (H, L, [asks("", "t1", "t2"), result("t2"), result("t1")]):
        ExecutionContext("c", message_history=messages).check()
    ExecutionContext("c", message_history=[asks("", "t1"), result("t1")] * 2).check()


def test_a_whole_turn_is_appended() -> None:
    turn = [Message("user", "u"), asks("", "t1"), result("t1"), Message("assistant", "a")]
    assert ExecutionContext("c").append_turn(*turn).turns() == [tuple(turn)]


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
