# ruff: noqa: E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type, call-arg, call-overload, attr-defined, misc, return-value, index, operator"
"""What is said of feedback edges, and of edges that leave the loops that these close (S6.3, S6.4)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from dataflow import collect, each
from tests.behaviour.flow_parts import inc, pair
from tests.messages.telling import Row, document, wired
from tests.support.edges import every

__all__ = ["ROWS"]

BACK: Final = {"feedback": True}


def edges(*told: tuple[str, str, dict[str, Any]]) -> Any:
    """Wire three nodes in a row, then these edges."""

    def wire(f: Any) -> None:
        f.input("x", int)
        f.add(inc)
        f.add(inc, x=f.add(inc, x=f.add(inc, x=f.input("y", int)).out).out)
        for source, target, options in told:
            f.connect(source, target, **options)

    return wired(wire)


def loop(**options: Any) -> Any:
    """Wire a loop of two nodes, one node behind it, and an edge of its own to that node."""

    def wire(f: Any) -> None:
        first = f.add(inc)
        second = f.add(inc, x=first.out)
        f.connect("$in.x", "inc.x")
        f.input("x", int)
        f.add(inc)
        f.connect("inc_2", "inc.x", feedback=True)
        f.connect("inc_2", "inc_3.x", **options)
        f.output("y", second.out)

    return wire


def out_of_a_map_over_edges(f: Any) -> None:
    first = f.add(inc)
    f.connect("$in.x", "inc.x")
    f.input("x", int)
    f.add(pair, p=every(first.out, 1), q=2)
    f.connect("pair", "inc.x", feedback=True)


def of_a_map_beside(f: Any, *, is_item: bool = False) -> None:
    """Read a map in a loop, and beside it."""
    head = f.add(inc)
    f.connect("$in.x", "inc.x")
    f.input("x", int)
    xs = f.input("xs", list[int])
    item: Any = each(xs)
    beside = f.add(inc, x=item)
    inside = f.add(pair, p=head.out, q=item if is_item else beside.out)
    f.add(inc, x=f.add(length, xs=collect(inside.out)).out)
    f.connect("inc_3", "inc.x", feedback=True)
    f.output("y", collect(beside.out))


def beside_an_item(f: Any) -> None:
    item = f.add(inc, x=each(f.input("xs", list[int])))
    f.add(length, xs=collect(item.out))
    f.connect("length", "inc.x", feedback=True)


def own_list(**options: Any) -> Any:
    """Wire a list of a map into a node of the map."""

    def wire(f: Any) -> None:
        item = f.add(inc, x=each(f.input("xs", list[int]), **options) if options else every(1, 2))
        f.output("y", collect(f.add(pair, p=item.out, q=f.add(length, xs=collect(item.out)).out).out))

    return wired(wire)


async def length(xs: list[Any]) -> int:
    return len(xs)


# fmt: off
ROWS: Final = [
    Row("a feedback edge without a loop", edges(("inc_4", "inc.x", BACK))),
    Row("feedback that leaves a loop", edges(("inc", "inc.x", {**BACK, "leave": "all"}))),
    Row("each_round outside a loop", edges(("$in.x", "inc.x", {"each_round": True}))),
    Row("all of no loop", edges(("$in.x", "inc.x", {"leave": "all"}))),
    Row("what an edge cannot be", edges(("$in.x", "inc.x", {"feedback": 1, "leave": "first", "each_round": "no", "on_limit": "exit"}))),
    Row("a limit of a feedback edge", edges(("inc", "inc.x", {**BACK, "limit": 0, "on_limit": "stop"}))),
    Row("feedback out of a map over edges", wired(out_of_a_map_over_edges)),
    Row("feedback in a document", document("...\nnodes: {a: {type: control.if, config: {condition: value}}}\nedges: [{source: a, source_port: yes, target: a, target_port: value, feedback: true, leave: all}]")),
    Row("feedback beside an item", wired(beside_an_item)),
    Row("what is beside a loop in its map", wired(of_a_map_beside)),
    Row("an item beside the loop that opens its map", wired(partial(of_a_map_beside, is_item=True))),
    Row("a list in its own map over edges", own_list()),
    Row("a list in its own map that skips", own_list(on_error="skip")),
]
# fmt: on
