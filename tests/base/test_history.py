"""Histories: sequences that share what is old (S10.1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow.base.history import History, new_parts, shared_length

#: What is appended, to which of the histories made so far.
growths = st.lists(st.tuples(st.integers(0, 30), st.lists(st.integers(), max_size=3)), max_size=30)


def grown(growth: list[tuple[int, list[int]]]) -> list[tuple[History[int], tuple[int, ...]]]:
    """Grow a tree of histories, beside plain tuples."""
    made: list[tuple[History[int], tuple[int, ...]]] = [(History(), ())]
    for which, items in growth:
        history, plain = made[which % len(made)]
        made.append((history.extended(items), (*plain, *items)))
    return made


@given(growths)
def test_a_tree_of_appends_equals_plain_tuples(growth: list[tuple[int, list[int]]]) -> None:
    for history, plain in grown(growth):
        assert tuple(history) == plain
        assert (len(history), history == plain, history == list(plain)) == (len(plain), True, True)
        assert tuple(reversed(history)) == plain[::-1]


@given(growths, st.integers(-40, 40), st.slices(40))
def test_indexing_and_slicing_are_those_of_a_tuple(
    growth: list[tuple[int, list[int]]], index: int, part: slice
) -> None:
    history, plain = grown(growth)[-1]
    assert history[part] == plain[part]
    if -len(plain) <= index < len(plain):
        assert history[index] == plain[index]
    else:
        with pytest.raises(IndexError):
            history[index]


@given(growths, st.integers(0, 40))
def test_the_first_items_are_a_history_too_and_the_rest_a_slice(
    growth: list[tuple[int, list[int]]], count: int
) -> None:
    history, plain = grown(growth)[-1]
    assert history.first(min(count, len(plain))) == plain[: min(count, len(plain))]
    assert history.since(count) == plain[count:]


@given(growths)
def test_two_histories_share_what_they_both_went_on_from(growth: list[tuple[int, list[int]]]) -> None:
    made = grown(growth)
    for history, plain in made:
        for other, others in made:
            shared = shared_length(history, other)
            assert plain[:shared] == others[:shared]
            assert shared == shared_length(other, history)
    assert [shared_length(history, history) for history, _ in made] == [len(plain) for _, plain in made]


def test_new_parts_are_those_that_were_not_taken_over() -> None:
    start = History(["a"])
    one, other = start.extended(["b"]), start.extended(["b"])
    merged = one.taken_over(new_parts(other, one.originals(), [one]))
    assert merged == ("a", "b", "b")
    longer = other.extended(["c"])
    assert [part.items for part in new_parts(longer, merged.originals(), [merged])] == [("c",)]
    assert new_parts(merged, merged.originals(), [merged]) == []
    anew = History([[1], [2]])
    old = History([[1]])
    assert [part.items for part in new_parts(anew, old.originals(), [old])] == [([2],)]
    assert new_parts(History([[1]]), old.originals(), [old]) == []
    assert [part.items for part in new_parts(History([[3]]), old.originals(), [old])] == [([3],)]
