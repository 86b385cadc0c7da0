"""A reader's own copy of a value (S3.4), and histories that share what is old (S10.1)."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from dataflow.base.copies import own_copy
from dataflow.base.history import History, new_parts, shared_length

CONTAINERS = (list, dict, set, bytearray)


class Table(dict[Any, Any]):
    pass


class Tags(set[Any]):
    pass


class Bytes(bytearray):
    pass


class Row(NamedTuple):
    name: str
    cells: list[Any]


class Marked(tuple[Any, ...]):  # noqa: SLOT001 - has attributes on purpose
    """A tuple with attributes."""


@dataclass
class Record:
    cells: list[int] = field(default_factory=list)


class Model(BaseModel):
    cells: list[int]


def drawing(value: object) -> list[Any]:
    """Write a value as a list of its parts, each by the number under which it was met first."""
    numbers: dict[int, int] = {id(value): 0}
    parts, lines = [value], list[Any]()
    for part in parts:
        if isinstance(part, dict):
            items, keys = list(part.values()), tuple(part)
        elif isinstance(part, list | tuple):
            items, keys = list(part), ()
        else:
            lines.append(part)
            continue
        for item in items:
            if id(item) not in numbers:
                numbers[id(item)] = len(parts)
                parts.append(item)
        lines.append((type(part), keys, [numbers[id(item)] for item in items]))
    return lines


def containers_in(value: object) -> list[Any]:
    """List what may change in a value, each once."""
    met, waiting = dict[int, Any](), [value]
    while waiting:
        part = waiting.pop()
        if id(part) not in met and isinstance(part, (*CONTAINERS, tuple)):
            met[id(part)] = part
            waiting.extend(part.values() if isinstance(part, dict) else part)
    return [part for part in met.values() if isinstance(part, CONTAINERS)]


ATOMS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary(), st.just(...)
)
VALUES = st.recursive(
    st.one_of(ATOMS, st.sets(st.integers()), st.binary().map(bytearray)),
    lambda inner: st.one_of(
        st.lists(inner),
        st.lists(inner).map(tuple),
        st.dictionaries(st.text() | st.tuples(st.integers()), inner),
        st.lists(inner).map(lambda items: Row("row", items)),
        st.dictionaries(st.text(), inner).map(lambda items: defaultdict(list, items)),
    ),
    max_leaves=20,
)


@st.composite
def graphs(draw: st.DrawFn) -> object:
    """Draw lists, dicts and tuples that hold one another in any way, cycles included."""
    kinds: list[Any] = draw(
        st.lists(st.sampled_from([list, dict, tuple, Table, Marked]), min_size=1, max_size=8)
    )
    made: list[Any] = []
    for kind in kinds:
        inner = draw(st.lists(st.sampled_from(made), max_size=3)) if made else []
        made.append(kind(enumerate(inner)) if issubclass(kind, dict) else kind(inner))
    for holder in made:
        for item in draw(st.lists(st.sampled_from(made), max_size=2)):
            if isinstance(holder, list):
                holder.append(item)
            elif isinstance(holder, dict):
                holder[f"more{len(holder)}"] = item
    return made[-1]


@given(VALUES)
def test_the_copy_is_equal_and_shares_nothing_that_can_change(value: object) -> None:
    result = own_copy(value)
    assert result == value
    assert type(result) is type(value)
    shared = {id(part) for part in containers_in(value)} & {id(part) for part in containers_in(result)}
    assert not shared


@given(graphs())
def test_shared_references_and_cycles_keep_their_shape(value: object) -> None:
    result = own_copy(value)
    assert drawing(result) == drawing(value)
    shared = {id(part) for part in containers_in(value)} & {id(part) for part in containers_in(result)}
    assert not shared


def test_what_holds_no_container_is_shared() -> None:
    cases: list[object] = [
        None, 1, "text", b"", ..., len, int, (), (1, ("a", (None,))), frozenset({1}), Record([1]),
        Model(cells=[1]), deque([[1]]), (Record([1]), 2), time.gmtime(0), object(),
    ]  # fmt: skip
    for value in cases:
        assert own_copy(value) is value, value


def test_a_subclass_keeps_its_type(subtests: pytest.Subtests) -> None:
    cases: list[Any] = [
        Table(a=[1]), Tags({1}), Bytes(b"ab"), OrderedDict(b=[1], a=2), Counter("aab"),
        defaultdict(list, a=[1]), Row("row", [[1]]), Marked(([1],)),
    ]  # fmt: skip
    for value in cases:
        with subtests.test(value=value):
            result: Any = own_copy(value)
            assert type(result) is type(value)
            assert result == value
            assert result is not value
            assert list(result) == list(value)


#: What is appended, to which of the histories made so far.
growths = st.lists(st.tuples(st.integers(0, 30), st.lists(st.integers(), max_size=3)), max_size=30)


def grown(growth: list[tuple[int, list[int]]]) -> list[tuple[History[int], tuple[int, ...]]]:
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
