"""Edges wired by name, and mistakes: those made with strings are caught when the flow is built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from dataflow import Flow, FlowInvalid, each, merge
from dataflow.core.wiring import Edge, Reference


class Parts(NamedTuple):
    title: str
    chunks: list[str]


async def inc(n: int) -> int:
    return n + 1


async def split(doc: str) -> Parts:
    return Parts(doc, [doc])


async def summarise(text: str, style: str = "short") -> str:
    return text


async def join(parts: list[str]) -> str:
    return "".join(parts)


async def fetch(url: str) -> str:
    return url


async def score(text: str) -> float:
    return float(len(text))


async def length(text: str) -> int:
    return len(text)


def test_edges_are_wired_by_name() -> None:
    built = Flow()
    built.input("doc", str)
    built.add(split)  # type: ignore[call-arg]
    built.add(summarise)  # type: ignore[call-arg]
    built.connect("$in.doc", "split.doc")
    built.connect("split.title", "summarise.text", id="e1", meta={"colour": "red"})
    assert built.wiring.block.edges == [
        Edge(Reference("$in", "doc"), "split", "doc"),
        Edge(Reference("split", "title"), "summarise", "text", "e1", {"colour": "red"}),
    ]
    assert built.check() == []


def test_edges_inside_a_loop_are_wired_by_name() -> None:
    built = Flow()
    with built.loop(limit=2) as it:
        carry = it.carry(0)
        step = built.add(inc)  # type: ignore[call-arg]
        built.connect("$carry.carry", "inc.n")
        carry.next(step.out)
    built.output("y", carry.final)
    assert built.check() == []


EACH = "wire each(...) to run once per item"


OPTIONS = "choices: id, meta, feedback, limit, on_limit, each_round, leave"
NO_LOOP = "feedback closes no loop: without it no path leads from 'summarise' to 'split'"
SPLIT_TO_SUMMARISE = "edge split.title -> summarise.text"


@pytest.mark.parametrize(
    ("source", "target", "options", "problem"),
    [
        (
            "split.titel",
            "summarise.text",
            {},
            (
                "port 'summarise.text' reads 'split.titel': node 'split' has no output port 'titel'; "
                "choices: out, title, chunks"
            ),
        ),
        (
            "splitt.title",
            "summarise.text",
            {},
            "port 'summarise.text' reads 'splitt.title': no node 'splitt'; choices: split, summarise",
        ),
        (
            "split.title",
            "sumarise.text",
            {},
            "edge split.title -> sumarise.text: no node 'sumarise' in this block; choices: split, summarise",
        ),
        (
            "$in.dok",
            "summarise.text",
            {},
            "port 'summarise.text' reads '$in.dok', which does not exist here; choices: doc",
        ),
        (
            "$carry.x",
            "summarise.text",
            {},
            "port 'summarise.text' reads '$carry.x', which does not exist here; there are none",
        ),
        (
            "split.chunks",
            "summarise.text",
            {},
            f"port 'summarise.text' expects str, but split.chunks is list[str]; {EACH}",
        ),
        (
            ".title",
            "summarise.text",
            {},
            "edge .title -> summarise.text: '.title' is no source: write `node.port`, `node` or `$in.name`",
        ),
        (
            "split.title",
            "",
            {},
            "edge split.title -> : '' is no source: write `node.port`, `node` or `$in.name`",
        ),
        (
            "split.title",
            "summarise.text",
            {"feedback": True},
            f"{SPLIT_TO_SUMMARISE}: {NO_LOOP}",
        ),
        (
            "split.title",
            "summarise.text",
            {"colour": 1},
            f"{SPLIT_TO_SUMMARISE}: unknown option 'colour'; {OPTIONS}",
        ),
    ],
)
def test_an_edge_that_cannot_be_is_a_problem(
    source: str, target: str, options: dict[str, Any], problem: str
) -> None:
    built = Flow()
    built.add(split, doc=built.input("doc", str))
    built.add(summarise, style="s")  # type: ignore[call-arg]
    built.connect(source, target, **options)
    assert [found for found in built.check() if "is required" not in found] == [problem]


MISTAKES: list[tuple[str, Callable[[Flow], object], str]] = [
    (
        "E1",
        lambda f: f.connect("split.chunks", "summarise.text"),
        f"port 'summarise.text' expects str, but split.chunks is list[str]; {EACH}",
    ),
    (
        "E2",
        lambda f: f.connect("fetch.out", "summarise.txt"),
        f"node 'summarise' ({__name__}:summarise) has no input port 'txt'; choices: text, style",
    ),
    ("E3", lambda _f: None, "port 'summarise.text' is required and has neither an edge nor a constant"),
    (
        "E4",
        lambda f: f.connect("fetch", "join.parts"),
        "port 'join.parts' expects list[str], but fetch.out is str",
    ),
    (
        "E5",
        lambda f: f.connect("split.titel", "summarise.text"),
        (
            "port 'summarise.text' reads 'split.titel': node 'split' has no output port 'titel'; "
            "choices: out, title, chunks"
        ),
    ),
    (
        "E8",
        lambda f: f.connect("score", "length.text"),
        "port 'length.text' expects str, but score.out is float",
    ),
    (
        "E9",
        lambda f: f.connect("length", "summarise.text"),
        "port 'summarise.text' expects str, but length.out is int",
    ),
]


@pytest.mark.parametrize(
    ("connect", "problem"), [case[1:] for case in MISTAKES], ids=[case[0] for case in MISTAKES]
)
def test_mistakes_made_with_strings_are_caught_when_the_flow_is_built(
    connect: Callable[[Flow], object], problem: str
) -> None:
    built = Flow()
    fed: list[Any] = [fetch, split, score]
    unfed: list[Any] = [summarise, join, length]
    for function in fed:
        built.add(function, "x")
    for function in unfed:
        built.add(function)
    connect(built)
    assert problem in built.check()


def test_mistakes_made_with_ports_are_caught_when_the_flow_is_built() -> None:
    built = Flow()
    page = built.add(fetch, "u")
    parts = built.add(split, doc=page.out)
    brief = built.add(summarise, text=each(parts.out.chunks))
    built.add(join, parts=brief.out)  # type: ignore[arg-type]
    size = built.add(length, text=page.out)
    mixed: Any = merge(page.out, size.out)
    built.add(summarise, text=mixed)
    with built.loop(limit=3) as it:
        carry = it.carry(page.out)
        mark = built.add(score, text=carry.out)
        carry.next(mark.out)  # type: ignore[arg-type]
    assert sorted(built.check()) == [
        "next value of '$carry.carry' of loop 'loop' is float, but the port began as str",
        "port 'join.parts' expects list[str], but summarise.out is str; collect it first",
        "port 'summarise_2.text' expects str, but merge(fetch.out, length.out) is str | int",
    ]


def test_all_problems_are_raised_together_at_the_end_of_the_block() -> None:
    def wire() -> None:
        with Flow("f") as built:
            built.add(summarise)  # type: ignore[call-arg]
            built.add(fetch, url=3)  # type: ignore[arg-type]

    with pytest.raises(FlowInvalid) as caught:
        wire()
    assert str(caught.value) == (
        "flow 'f' has 2 problems:\n"
        "  - port 'summarise.text' is required and has neither an edge nor a constant\n"
        "  - port 'fetch.url': expected str, found int 3"
    )


def test_an_error_in_the_block_is_not_hidden_by_problems() -> None:
    def wire() -> None:
        with Flow("f") as built:
            built.add(summarise)  # type: ignore[call-arg]
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        wire()
