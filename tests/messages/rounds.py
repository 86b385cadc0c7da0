# ruff: noqa: E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type, call-arg, call-overload, attr-defined, misc, return-value, index, operator"
"""What is said of feedback edges, and of edges that leave the loops that these close (S6.3, S6.4)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from dataflow import collect, each, flow, gather
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


def out_of_a_map(f: Any) -> None:
    f.add(inc)
    f.connect("$in.x", "inc.x")
    f.input("x", int)
    f.add(pair, q=each(gather(f.add(inc, x=1).out)))
    f.connect("inc", "pair.p")
    f.connect("pair", "inc.x", feedback=True)


def of_a_map_outside(f: Any) -> None:
    xs = f.input("xs", list[int])
    head = f.add(inc)
    f.connect("$in.x", "inc.x")
    f.input("x", int)
    f.add(pair, p=head.out, q=each(xs))
    f.connect("pair", "inc.x", feedback=True)
    f.output("y", collect(f.add(inc, x=each(xs)).out))


def out_of_a_map_over_edges(f: Any) -> None:
    first = f.add(inc)
    f.connect("$in.x", "inc.x")
    f.input("x", int)
    f.add(pair, p=every(first.out, 1), q=2)
    f.connect("pair", "inc.x", feedback=True)


def to_a_name_within(f: Any) -> None:
    @flow
    def inner(x: int) -> int:
        return inc(x)

    f.add(inner)
    f.connect("$in.x", "inner.x")
    f.input("x", int)
    f.add(inc, x=f.add(inc, x=1).out)
    f.connect("inner", "inc.x")


def of_a_map_beside(f: Any, *, is_item: bool = False) -> None:
    """Read a map in a loop, and beside it."""
    head = f.add(inc)
    f.connect("$in.x", "inc.x")
    f.input("x", int)
    xs = f.input("xs", list[int])
    beside = f.add(inc, x=each(xs))
    inside = f.add(pair, p=head.out, q=each(xs) if is_item else beside.out)
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


def own_arrivals(f: Any) -> None:
    """Carry into a loop what waits for the arrivals of a deeper map, inside the map that both are in."""
    outer = f.add(inc, x=every(1, 2))
    deeper = f.add(inc, x=every(outer.out))
    met = f.add(inc, x=every(3, deeper.out))
    f.add(summed, deeper.out, collect(met.out))
    f.connect("summed", "summed.xs", feedback=True, limit=1)


async def summed(*xs: int | list[int]) -> int:
    return len(xs)


async def plus(p: int, q: int) -> int:
    return p + q


def a_loop_of_two_maps(f: Any) -> None:
    """Read two maps in a loop that feedback edges have made."""
    f.add(plus, p=each(f.input("xs", list[int])), q=each(f.input("ys", list[int])))
    f.connect("plus", "plus.p", feedback=True)


async def length(xs: list[Any]) -> int:
    return len(xs)


# fmt: off
ROWS: Final = [
    Row("a feedback edge without a loop", edges(("inc_4", "inc.x", BACK)), "edge inc_4.out -> inc.x: feedback closes no loop: without it no path leads from 'inc' to 'inc_4'"),
    Row("feedback from an input", edges(("$in.x", "inc.x", BACK)), "edge $in.x -> inc.x: feedback closes no loop: without it no path leads from 'inc' to '$in'"),
    Row("feedback that leaves a loop", edges(("inc", "inc.x", {**BACK, "leave": "all"})), "edge inc.out -> inc.x: `leave` is for edges that leave a loop, and a feedback edge is inside its loop"),
    Row("feedback in each round", edges(("inc", "inc.x", {**BACK, "each_round": True})), "edge inc.out -> inc.x: `each_round` is for edges that leave a loop, and a feedback edge is inside its loop"),
    Row("each_round outside a loop", edges(("$in.x", "inc.x", {"each_round": True})), "edge $in.x -> inc.x: `each_round` is for edges that begin in a loop, and '$in' is in none"),
    Row("all of no loop", edges(("$in.x", "inc.x", {"leave": "all"})), "edge $in.x -> inc.x: `leave` says which values of its rounds leave a loop, and this edge leaves none"),
    Row("what an edge cannot be", edges(("$in.x", "inc.x", {"feedback": 1, "leave": "first", "each_round": "no", "on_limit": "exit"})), "edge $in.x -> inc.x: `on_limit` stands only beside feedback=True\nedge $in.x -> inc.x: feedback cannot be 1; choices: True, False\nedge $in.x -> inc.x: each_round cannot be 'no'; choices: True, False\nedge $in.x -> inc.x: leave cannot be 'first'; choices: last, all"),
    Row("a limit of no feedback edge", edges(("$in.x", "inc.x", {"limit": 3})), "edge $in.x -> inc.x: `limit` stands only beside feedback=True"),
    Row("a limit of a feedback edge", edges(("inc", "inc.x", {**BACK, "limit": 0, "on_limit": "stop"})), "edge inc -> inc.x: limit must be a whole number of 1 or more, or None, found 0\nedge inc -> inc.x: on_limit cannot be 'stop'; choices: exit, fail"),
    Row("all into one value", wired(loop(leave="all")), "port 'inc_3.x' expects int, but all(inc_2.out) is list[int]; wire each(...) to run once per item"),
    Row("feedback out of a map", wired(out_of_a_map), "edge pair.out -> inc.x: a feedback edge may not leave a map, and this one leaves each(gather(inc_2.out)); collect it first"),
    Row("feedback out of a map from outside", wired(of_a_map_outside), "edge pair.out -> inc.x: a feedback edge may not leave a map, and this one leaves each($in.xs); collect it first"),
    Row("feedback out of a map over edges", wired(out_of_a_map_over_edges), "edge pair.out -> inc.x: a feedback edge may not leave a map, and this one leaves every(inc.out, a constant); collect it first"),
    Row("feedback in a document", document("...\nnodes: {a: {type: control.if, config: {condition: value}}}\nedges: [{source: a, source_port: yes, target: a, target_port: value, feedback: true, leave: all}]"), "3:9 edge a.yes -> a.value: `leave` is for edges that leave a loop, and a feedback edge is inside its loop"),
    Row("feedback beside an item", wired(beside_an_item), "edge length.out -> inc.x: its port takes one value, and each($in.xs) brings an item to it in every round, so both would come from the second round on; give one of them another port"),
    Row("what is beside a loop in its map", wired(of_a_map_beside), "node 'pair' reads inc_2.out in the loop 'inc', which opens each($in.xs) in each round, and inc_2.out is beside it; read each(collect(inc_2.out)) instead"),
    Row("an item beside the loop that opens its map", wired(partial(of_a_map_beside, is_item=True)), "node 'inc_2' reads each($in.xs) beside the loop 'inc', which opens each($in.xs) in each round; in the loop go over another list, as one that is collected beside it"),
    Row("a list in its own map over edges", own_list(), "port 'pair.q' waits inside every(a constant, a constant), by way of length.out, for its list collect(inc.out), which is known when all edges have settled and all their frames have ended; read the list outside of the map, or go over it anew by each(collect(inc.out))"),
    Row("arrivals in their own map", wired(own_arrivals), "port 'summed.xs' waits inside every(a constant, a constant), by way of collect(inc_3.out), for all that inc_2.out brings, which is known when all edges have settled and all their frames have ended"),
    Row("a loop of two maps", wired(a_loop_of_two_maps), "loop 'plus' reads two maps neither inside the other: each($in.xs) and each($in.ys); collect one of them first"),
    Row("a list in its own map that skips", own_list(on_error="skip"), "port 'pair.q' waits inside each($in.xs), by way of length.out, for its list collect(inc.out), which with on_error='skip' is known when all items have ended; read the list outside of the map, or go over it anew by each(collect(inc.out))"),
    Row("a list in its own map with a limit", own_list(max_concurrency=1), "port 'pair.q' waits inside each($in.xs), by way of length.out, for its list collect(inc.out), which with max_concurrency is known when all items have ended: some begin when others have; read the list outside of the map, or go over it anew by each(collect(inc.out))"),
]
# fmt: on
