"""Merging conversations, against plain lists (S10.4)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow import ExecutionContext, Message, NodeFailed
from dataflow.merging import POLICIES, merge_live

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


def test_what_is_merged_is_the_first_context_in_all_but_its_messages() -> None:
    start = ExecutionContext("main", model="m", variables={"a": 1})
    merged = POLICIES["append"]([start, ExecutionContext("main", model="other")])
    assert merged == start


@pytest.mark.parametrize("how", ["append", "results"])
def test_one_alone_stays_as_it_is(how: Any) -> None:
    alone = ExecutionContext("main").append(*messages(["user", "assistant"]))
    assert POLICIES[how]([alone]) == alone


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


@pytest.mark.parametrize(
    ("live", "how", "text"),
    [
        (["text"], POLICIES["append"], "node 'm' got str from a.out; expected an ExecutionContext"),
        ([ExecutionContext("a")], count, "node 'm' got int from count; expected an ExecutionContext"),
    ],
)
def test_what_is_no_context_is_refused(live: list[object], how: Any, text: str) -> None:
    with pytest.raises(NodeFailed) as caught:
        merge_live("m", ["a.out"], live, how)
    assert str(caught.value) == text
