"""Merging conversations, against plain lists (S10.4)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow import ExecutionContext, Message, NodeFailed, ToolCall, merged_context
from dataflow.core.context import POLICIES, MergePolicy, merge_live
from tests.support.codes import codes

roles = st.sampled_from(["user", "assistant"])
several = st.lists(roles, max_size=3)
#: What was said before, and what each branch then said. All texts are equal, so only the objects differ.
talks = st.tuples(several, st.lists(several, min_size=1, max_size=4))


def messages(roles: list[Any]) -> list[Message]:
    return [Message(role, "same") for role in roles]


def branches(talk: Any) -> tuple[list[Message], list[list[Message]], list[ExecutionContext]]:
    before, said = talk
    prefix, new = messages(before), [messages(one) for one in said]
    start = ExecutionContext("main", model="m").append(*prefix)
    return prefix, new, [start.append(*one) for one in new]


def same(found: ExecutionContext, expected: list[Message]) -> bool:
    """Tell whether these are the very messages, not only equal ones."""
    return [id(message) for message in found.message_history] == [id(message) for message in expected]


@given(talks)
def test_append_is_the_prefix_and_then_each_branch(talk: Any) -> None:
    prefix, new, contexts = branches(talk)
    assert same(POLICIES["append"](contexts), [*prefix, *(message for one in new for message in one)])


@given(talks.filter(lambda talk: len([one for one in talk[1] if one]) > 1))
def test_results_is_the_prefix_and_the_last_answer_of_each_branch(talk: Any) -> None:
    prefix, new, contexts = branches(talk)
    answers = [[m for m in one if m.role == "assistant"][-1:] for one in new]
    assert same(POLICIES["results"](contexts), [*prefix, *(m for answer in answers for m in answer)])


@given(talks)
def test_pick_is_the_first(talk: Any) -> None:
    _, _, contexts = branches(talk)
    assert POLICIES["pick"](contexts) is contexts[0]


@given(several, several, several, st.permutations([0, 1, 2]))
def test_append_repeats_nothing_where_branches_go_on_from_one_another(
    before: list[str], first: list[str], second: list[str], order: list[int]
) -> None:
    start = ExecutionContext("main").append(*messages(before))
    one = start.append(*messages(first))
    contexts = [start, one, one.append(*messages(second))]
    merged = POLICIES["append"]([contexts[place] for place in order])
    assert same(merged, list(contexts[2].message_history))


def test_what_is_merged_is_the_first_context_in_all_but_messages_and_new_variables() -> None:
    start = ExecutionContext("main", model="m", variables={"a": 1})
    merged = POLICIES["append"]([start, ExecutionContext("main", model="other")])
    assert merged == start


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


def test_merges_that_are_merged_repeat_nothing() -> None:
    start = ExecutionContext("main").append(*messages(["user", "assistant"]))
    one, other = (start.append(*messages(["user", "assistant"])) for _ in "ab")
    both = merged_context([one, other], "append")
    longer = other.append(*messages(["user", "assistant"]))
    expected = [*longer.message_history, *list(one.message_history)[2:]]
    assert same(merged_context([longer, both], "append"), expected)
    assert same(merged_context([both, both, one, other], "append"), list(both.message_history))


def test_an_answer_that_only_calls_is_no_result() -> None:
    start = ExecutionContext("main")
    asked = Message("user", "look")
    calls = Message("assistant", "I look", (ToolCall("c1", "look", "{}"),))
    found = Message("tool", "a cat", tool_call_id="c1")
    told = [start.append(asked, *rest) for rest in ([calls, found], [Message("assistant", "a dog")])]
    assert [m.content for m in merged_context(told, "results").message_history] == ["a dog"]


def test_what_each_has_pinned_is_there_once() -> None:
    start = ExecutionContext("main").append(Message("user", "rule", pin="rules"))
    one, other = (start.append(Message("user", text)) for text in "ab")
    other = other.append(Message("user", "fact", pin="facts"), Message("user", "other rule", pin="rules"))
    merges: list[tuple[MergePolicy, list[str]]] = [("append", ["a", "b"]), ("results", [])]
    for how, said in merges:
        merged = merged_context([one, other], how)
        assert [message.content for message in merged.head] == ["rule", "fact"]
        assert [message.content for message in merged.message_history] == said


def test_what_the_first_has_trimmed_stays_away_and_what_another_has_comes_back() -> None:
    start = ExecutionContext("main").append(*(Message("user", text) for text in "ab"))
    short = start.trimmed(1, lambda _: 1)
    long = start.append(Message("user", "c"))
    first, second = (merged_context(both, "append") for both in ([short, long], [long, short]))
    assert [message.content for message in first.messages] == ["b", "c"]
    assert [message.content for message in second.messages] == ["a", "b", "c"]


def test_results_forget_a_trimming_inside_what_they_leave_out() -> None:
    start = ExecutionContext("main").append(Message("user", "a"), Message("assistant", "re:a"))
    short = start.append(Message("user", "b"), Message("assistant", "re:b")).trimmed(2, lambda _: 1)
    longer = short.append(Message("user", "c"), Message("assistant", "re:c")).trimmed(2, lambda _: 1)
    assert [m.content for m in merged_context([short, longer], "results").messages] == ["b", "re:b", "re:c"]
    other = start.append(Message("user", "d"), Message("assistant", "re:d"))
    merged = merged_context([longer, other], "results")
    assert [m.content for m in merged.messages] == ["a", "re:a", "re:c", "re:d"]


def test_a_merge_of_nothing_or_without_a_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="DF0910"):
        merged_context([], "append")
    with pytest.raises(ValueError, match="all"):
        merged_context([ExecutionContext("a")], "all")  # type: ignore[arg-type]  # what the test is about


def test_a_message_that_two_branches_append_each_is_there_twice() -> None:
    start, hello = ExecutionContext("main"), Message("user", "hello")
    branches = [start.append(hello, Message("assistant", name)) for name in ("a", "b")]
    assert [m.content for m in merged_context(branches, "append").message_history] == [
        "hello",
        "a",
        "hello",
        "b",
    ]


def test_an_answer_is_a_result_once_however_many_have_it() -> None:
    start = ExecutionContext("main")
    answered = start.append(*messages(["user", "assistant"]))
    merged = merged_context([start, answered, answered, merged_context([answered], "append")], "results")
    assert same(merged, [list(answered.message_history)[1]])
