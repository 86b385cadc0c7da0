"""Mistakes in wiring that a type checker sees are told too when they are made with names (S1.7, S7.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from dataflow import Flow, collect, each, merge, node
from tests.behaviour.flow_parts import fetch, inc, join, length, pair, score, split, summarise


def problems_of(wire: Callable[[Flow], object]) -> list[str]:
    f = Flow()
    wire(f)
    return f.check()


def by_name(*edges: tuple[str, str]) -> Callable[[Flow], None]:
    """Place the functions of a digest and connect them by name."""

    def wire(f: Flow) -> None:
        url = f.input("url", str)
        f.when(f.add(length, text=url).out, lambda n: n > 3)
        f.add(fetch, url=url)
        f.add(split, doc="a text")
        f.add(score, text=url)
        f.add(node(summarise).with_(name="item"), text=each(["a", "b"]))
        f.add(node(summarise).with_(name="last"))  # type: ignore[call-arg]  # wired by name, or not at all
        joined: Any = node(join).with_(name="joined")
        f.add(joined, **({} if any("joined" in end for _, end in edges) else {"parts": ["a"]}))
        for source, target in edges:
            f.connect(source, target)

    return wire


LIST_INTO_TEXT: Final = "port 'last.text' expects str, but split.chunks is list[str]; wire each(...)"


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        pytest.param([("split.chunks", "last.text")], LIST_INTO_TEXT, id="E1 a list into text"),
        pytest.param(
            [("fetch", "last.text"), ("fetch", "last.txt")],
            "(tests.behaviour.flow_parts:summarise) has no input port 'txt'; choices: text, style",
            id="E2 an unknown port",
        ),
        pytest.param([], "port 'last.text' is required", id="E3 a required port without an edge"),
        pytest.param(
            [("fetch", "last.text"), ("fetch", "joined.parts")],
            "port 'joined.parts' expects list[str], but fetch.out is str",
            id="E4 text into a list",
        ),
        pytest.param(
            [("split.titel", "last.text")],
            "'last.text' reads 'split.titel': node 'split' has no output port 'titel'; choices: out, title",
            id="E5 an unknown output port",
        ),
        pytest.param(
            [("fetch", "last.text"), ("item", "joined.parts")],
            "port 'joined.parts' expects list[str], but item.out is str; collect it first",
            id="E6 a collect forgotten",
        ),
        pytest.param(
            [("score", "last.text")],
            "port 'last.text' expects str, but score.out is float",
            id="E8 a float into text",
        ),
        pytest.param(
            [("length", "last.text")],
            "port 'last.text' expects str, but length.out is int",
            id="E9 an int into text",
        ),
        pytest.param(
            [("when.maybe", "last.text")],
            "port 'last.text' reads 'when.maybe': node 'when' has no output port 'maybe'; choices: yes, no",
            id="E16 an unknown branch",
        ),
        pytest.param(
            [("when.yes", "last.text")],
            "port 'last.text' expects str, but when.yes is int",
            id="a branch has a type",
        ),
    ],
)
def test_a_mistake_made_with_names_is_told(edges: list[tuple[str, str]], expected: str) -> None:
    found = problems_of(by_name(*edges))
    assert len(found) == 1
    assert expected in found[0]


def mixed_merge(f: Flow) -> None:
    text: Any = merge(f.add(fetch, url="a").out, f.add(length, text="b").out)
    f.add(summarise, text=text)


def wrong_next_value(f: Flow) -> None:
    first = f.add(fetch, url="a")
    with f.loop(limit=3) as it:
        text = it.carry(first.out)
        graded = f.add(score, text=text.out)
        value: Any = graded.out
        text.next(value)
        it.until(graded.out, lambda q: q > 0.8)


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        pytest.param(mixed_merge, "expects str, but merge(fetch.out, length.out) is str | int", id="E10"),
        pytest.param(wrong_next_value, "next value of '$carry.carry' of loop 'loop' is float", id="E11"),
    ],
)
def test_a_mistake_in_an_expression_is_told(wire: Callable[[Flow], None], expected: str) -> None:
    found = problems_of(wire)
    assert len(found) == 1
    assert expected in found[0]


def two_maps(f: Flow) -> None:
    f.add(pair, p=each(f.input("xs", list[int])), q=each(f.input("ys", list[int])))


def other_options(f: Flow) -> None:
    xs = f.input("xs", list[int])
    f.add(inc, x=each(xs))
    f.add(inc, x=each(xs, key=str))


def other_concurrency(f: Flow) -> None:
    xs = f.input("xs", list[int])
    f.add(inc, x=each(xs))
    f.add(inc, x=each(xs, max_concurrency=2))


def item_as_output(f: Flow) -> None:
    f.output("o", f.add(inc, x=each(f.input("xs", list[int]))).out)


def collect_outside(f: Flow) -> None:
    f.output("o", collect(f.add(inc, x=1).out))


def collect_twice(f: Flow) -> None:
    f.output("o", collect(collect(f.add(inc, x=each(f.input("xs", list[int]))).out)))


def each_of_no_list(f: Flow) -> None:
    value: Any = f.add(inc, x=1).out
    f.add(inc, x=each(value))


def item_read_in_two_blocks(f: Flow) -> None:
    item = each(f.input("xs", list[int]))
    with f.loop(limit=2) as it:
        v = it.carry(item)
        v.next(v.out)
        it.until(v.out, lambda _: True)
        f.add(pair, p=v.out, q=item)


def first_value_of_the_loop_itself(f: Flow) -> None:
    with f.loop(limit=2) as it:
        v = it.carry(f.add(inc, x=1).out)
        v.next(v.out)
        it.until(v.out, lambda _: True)


def item_of_a_map_as_next_value(f: Flow) -> None:
    with f.loop(limit=2) as it:
        v = it.carry(0)
        v.next(f.add(inc, x=each(f.input("xs", list[int]))).out)
        it.until(v.out, lambda _: True)


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        (two_maps, "node 'pair' reads two maps neither inside the other: each($in.xs) and each($in.ys)"),
        (other_options, "each($in.xs) has other options than the same each read by 'inc'"),
        (other_concurrency, "each($in.xs) has other options than the same each read by 'inc'"),
        (item_as_output, "output 'o' reads inc.out, which is inside a map; collect it first"),
        (collect_outside, "collect(inc.out): the port is not inside a map"),
        (collect_twice, "collect(collect(inc.out)): the port is not inside a map"),
        (each_of_no_list, "map of 'inc_2' goes over inc.out, which is int; expected a list"),
        (item_read_in_two_blocks, "port 'pair.q' reads the item of a map that is opened in another block"),
        (
            first_value_of_the_loop_itself,
            "'$carry.carry' of loop 'loop' begins with 'inc.out', which is inside the loop",
        ),
        (item_of_a_map_as_next_value, "inc.out, which is inside a map; collect it first"),
    ],
)
def test_a_map_that_cannot_be_is_refused(wire: Callable[[Flow], None], expected: str) -> None:
    """S7.1"""
    found = problems_of(wire)
    assert len(found) == 1
    assert expected in found[0]
