"""Mistakes in wiring that a type checker sees are told too when they are made with names (S1.7, S7.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dataflow import Flow, collect, each, merge, node
from tests.behaviour.flow_parts import fetch, inc, join, length, pair, score, split, summarise
from tests.support.codes import codes


def problems_of(wire: Callable[[Flow], object]) -> list[str]:
    f = Flow()
    wire(f)
    return codes(f.check())


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


#: Edges, and the problem of the flow that they are in.
MISTAKES: Final[dict[str, tuple[list[tuple[str, str]], str]]] = {
    "E1 a list into text": ([("split.chunks", "last.text")], "DF0308 last.text"),
    "E2 an unknown port": ([("fetch", "last.text"), ("fetch", "last.txt")], "DF0302 last.txt"),
    "E3 a required port without an edge": ([], "DF0301 last.text"),
    "E4 text into a list": ([("fetch", "last.text"), ("fetch", "joined.parts")], "DF0308 joined.parts"),
    "E5 an unknown output port": ([("split.titel", "last.text")], "DF0302 last.text"),
    "E6 a collect forgotten": ([("fetch", "last.text"), ("item", "joined.parts")], "DF0308 joined.parts"),
    "E8 a float into text": ([("score", "last.text")], "DF0308 last.text"),
    "E9 an int into text": ([("length", "last.text")], "DF0308 last.text"),
    "E16 an unknown branch": ([("when.maybe", "last.text")], "DF0302 last.text"),
    "a branch has a type": ([("when.yes", "last.text")], "DF0308 last.text"),
}


def test_mistakes_made_with_names_are_reported() -> None:
    found = {name: problems_of(by_name(*edges)) for name, (edges, _) in MISTAKES.items()}
    assert found == {name: [problem] for name, (_, problem) in MISTAKES.items()}


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


def test_mistakes_in_expressions_are_reported() -> None:
    """E10, E11"""
    assert problems_of(mixed_merge) == ["DF0308 summarise.text"]
    assert problems_of(wrong_next_value) == ["DF0308 loop.carry.carry.next"]


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


def test_impossible_maps_are_refused() -> None:
    """S7.1"""
    refused: dict[Callable[[Flow], None], str] = {
        two_maps: "DF0320 pair",
        other_options: "DF0322 inc_2.x",
        other_concurrency: "DF0322 inc_2.x",
        item_as_output: "DF0319 outputs.o",
        collect_outside: "DF0321 outputs.o",
        collect_twice: "DF0321 outputs.o",
        each_of_no_list: "DF0308 inc_2.x",
        item_read_in_two_blocks: "DF0214 pair.q",
        first_value_of_the_loop_itself: "DF0218 loop.carry.carry",
        item_of_a_map_as_next_value: "DF0319 loop",
    }
    assert [problems_of(wire) for wire in refused] == [[problem] for problem in refused.values()]
