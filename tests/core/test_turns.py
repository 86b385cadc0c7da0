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


def test_each_call_with_its_result_in_any_order_is_right() -> None:
    for messages in (H, L, [asks("", "t1", "t2"), result("t2"), result("t1")]):
        ExecutionContext("c", message_history=messages).check()
    ExecutionContext("c", message_history=[asks("", "t1"), result("t1")] * 2).check()


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


def test_a_history_that_is_given_anew_is_sent_whole() -> None:
    context = ExecutionContext("c", message_history=[Message("user", "long" * 50), Message("user", "short")])
    short = context.trimmed(10)
    assert [message.content for message in short.messages] == ["short"]
    anew = replace(short, message_history=[Message("user", "first"), Message("user", "second")])
    assert [message.content for message in anew.messages] == ["first", "second"]
