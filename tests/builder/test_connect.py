"""Edges wired by name, and mistakes: those made with strings are caught when the flow is built."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from dataflow import Diagnostic, Flow, FlowInvalid, each, merge
from dataflow.core.wiring import Edge, Reference
from tests.support.codes import codes


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


def test_an_edge_that_cannot_be_is_a_problem() -> None:
    cases: list[tuple[str, str, dict[str, Any], str]] = [
        ("split.titel", "summarise.text", {}, "DF0302 summarise.text"),
        ("splitt.title", "summarise.text", {}, "DF0303 summarise.text"),
        ("split.title", "sumarise.text", {}, "DF0303 sumarise.text"),
        ("$in.dok", "summarise.text", {}, "DF0303 summarise.text"),
        ("$carry.x", "summarise.text", {}, "DF0303 summarise.text"),
        ("split.chunks", "summarise.text", {}, "DF0308 summarise.text"),
        (".title", "summarise.text", {}, "DF0212 .title -> summarise.text"),
        ("split.title", "", {}, "DF0212 split.title ->"),
        ("split.title", "summarise.text", {"feedback": True}, "DF0330 summarise.text"),
        ("split.title", "summarise.text", {"colour": 1}, "DF0210 split.title -> summarise.text"),
    ]
    for source, target, options, problem in cases:
        built = Flow()
        built.add(split, doc=built.input("doc", str))
        built.add(summarise, style="s")  # type: ignore[call-arg]
        built.connect(source, target, **options)
        assert [one for one in codes(built.check()) if "DF0301" not in one] == [problem]


def test_mistakes_made_with_strings_are_caught_when_the_flow_is_built() -> None:
    cases: dict[str, tuple[tuple[str, str] | None, str]] = {
        "E1": (("split.chunks", "summarise.text"), "DF0308 summarise.text"),
        "E2": (("fetch.out", "summarise.txt"), "DF0302 summarise.txt"),
        "E3": (None, "DF0301 summarise.text"),
        "E4": (("fetch", "join.parts"), "DF0308 join.parts"),
        "E5": (("split.titel", "summarise.text"), "DF0302 summarise.text"),
        "E8": (("score", "length.text"), "DF0308 length.text"),
        "E9": (("length", "summarise.text"), "DF0308 summarise.text"),
    }
    for edge, problem in cases.values():
        built: Any = Flow()
        for fed in (fetch, split, score):
            built.add(fed, "x")
        for unfed in (summarise, join, length):
            built.add(unfed)
        if edge is not None:
            built.connect(*edge)
        assert problem in codes(built.check())


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
    problems = [one for one in built.check() if isinstance(one, Diagnostic)]
    assert {f"{one.code} {one.place}": (one.expected, one.found) for one in problems} == {
        "DF0308 join.parts": ("list[str]", "str"),
        "DF0308 summarise_2.text": ("str", "str | int"),
        "DF0308 loop.carry.carry.next": ("str", "float"),
    }


def test_all_problems_are_raised_together_at_the_end_of_the_block() -> None:
    def wire() -> None:
        with Flow("f") as built:
            built.add(summarise)  # type: ignore[call-arg]
            built.add(fetch, url=3)  # type: ignore[arg-type]

    with pytest.raises(FlowInvalid) as caught:
        wire()
    assert codes(caught.value) == ["DF0301 summarise.text", "DF0601 fetch.url"]
    assert str(caught.value).splitlines()[1:] == [f"  - {problem}" for problem in caught.value.problems]


def test_an_error_in_the_block_is_not_hidden_by_problems() -> None:
    def wire() -> None:
        with Flow("f") as built:
            built.add(summarise)  # type: ignore[call-arg]
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        wire()
