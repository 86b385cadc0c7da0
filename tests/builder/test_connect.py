"""Edges wired by name, and mistakes: those made with strings are caught when the flow is built."""

from __future__ import annotations

from typing import Any

from dataflow import Flow
from dataflow.core.wiring import Edge, Reference
from tests.behaviour.flow_parts import split, summarise
from tests.support.codes import codes


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


def test_an_edge_that_cannot_be_is_a_problem() -> None:
    cases: list[tuple[str, str, dict[str, Any], str]] = [
        ("$carry.x", "summarise.text", {}, "DF0303 summarise.text"),
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
