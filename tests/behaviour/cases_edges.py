"""Rows: maps over edges (S7.4)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final, Literal

from dataflow import Flow, collect, each
from tests.behaviour.nodes import (
    add,
    defaulted_pair,
    fails,
    fails_on_odd,
    ident,
    inc,
    listed,
    no_list,
    nothing,
    one,
    small,
    square,
    src,
    total,
)
from tests.behaviour.table import Case, wired
from tests.support.quick_nodes import every

Errors = Literal["fail_fast", "continue"]


@wired
def diamond(f: Flow) -> None:
    start = f.add(src, x=f.input("x", int))
    left, right = f.add(inc, x=start.out), f.add(square, x=start.out)
    meeting = f.add(ident, x=every(left.out, right.out))
    f.output("meeting", meeting.out)
    f.output("behind", f.add(add, x=meeting.out, y=start.out).out)


@wired
def diamonds(f: Flow) -> None:
    """A diamond behind a diamond, whose last node is also led to from the start."""
    x = f.input("x", int)
    first = f.add(ident, x=every(f.add(inc, x=x).out, f.add(square, x=x).out))
    left, right = f.add(src, x=first.out), f.add(add, x=first.out, y=100)
    second = f.add(listed, every(left.out, right.out))
    f.output("second", second.out)
    f.output("third", f.add(defaulted_pair, x=every(first.out, x, second.out)).out)


@wired
def branches(f: Flow, count: int) -> None:
    x = f.input("x", int)
    even = f.when(x, lambda x: x % 2 == 0)
    large = f.when(x, lambda x: x > 9)
    ports = [f.add(inc, x=even.yes).out, f.add(square, x=large.yes).out][:count]
    met = f.add(ident, x=every(*ports))
    f.output("o", met.out)
    f.output("collected", collect(met.out))
    f.output("behind", f.add(ident, x=collect(met.out)).out)


@wired
def over_items(f: Flow, kind: str) -> None:
    xs, x = f.input("xs", list[int]), f.input("x", int)
    item = each(xs, key=str) if kind == "keys" else each(xs)
    little = f.add(small, x=item)
    met = f.add(add, x=every(x, little.out), y=x)
    f.output("o", met.out)
    f.output("little", collect(little.out))


@wired
def over_nothing(f: Flow, *, alone: bool) -> None:
    dead = f.add(no_list)
    squared = f.add(square, x=each(dead.out))
    ports = [squared.out] if alone else [squared.out, f.add(nothing).out]
    met = f.add(ident, x=every(*ports))
    f.output("o", collect(met.out) if not alone else collect(collect(met.out)))


@wired
def nested_items(f: Flow) -> None:
    row = each(f.input("rows", list[list[int]]))
    size = f.add(total, xs=row)
    inner = f.add(small, x=each(row))
    f.output("o", f.add(ident, x=every(inner.out, size.out, f.add(one).out)).out)
    f.output("in_row", collect(collect(f.add(square, x=every(inner.out, size.out)).out)))


@wired
def shared(f: Flow) -> None:
    """Read the same edges in two nodes, which is one map; and in another order, which is another."""
    ports = f.add(src, x=1).out, f.add(src, x=2).out
    first, second = f.add(inc, x=every(*ports)), f.add(square, x=every(*ports))
    f.output("same", f.add(listed, first.out, second.out).out)
    f.output("turned", f.add(ident, x=every(*ports[::-1])).out)
    f.output("twice", f.add(ident, x=every(ports[0], ports[0])).out)
    f.output("constants", f.add(ident, x=every(5, ports[1])).out)
    f.output("plain", every(*ports))


@wired
def in_a_loop(f: Flow) -> None:
    """Go over edges in each round, of which one is from outside; what only the next round needs waits."""
    x = f.input("x", int)
    with f.loop(name="up", limit=5) as it:
        v = it.carry(0)
        sums = collect(f.add(add, x=every(v.out, x), y=1).out)
        reached = f.add(total, xs=sums)
        it.until(reached.out, lambda n: n > 9)
        v.next(f.add(total, xs=collect(f.add(inc, x=every(reached.out, x)).out)).out)
    f.output("sums", it.result(sums))
    f.output("reached", it.result(reached.out))


def failing(where: str, errors: Errors) -> Flow:
    with Flow() as f:
        sound = f.add(src, x=2)
        odd = f.add(fails if where == "edge" else src, x=1)
        met = f.add(fails_on_odd, x=every(odd.out, sound.out))
        f.output("o", collect(met.out))
        f.output("sum", f.add(total, xs=collect(met.out)).out)
    return f.using(errors=errors)


def failing_items(on_error: Any, errors: Errors) -> Flow:
    with Flow() as f:
        item = f.add(src, x=each([1, 2, 4], on_error=on_error))
        f.add(fails_on_odd, x=item.out)
        f.output("o", f.add(ident, x=every(item.out, 0)).out)
    return f.using(errors=errors)


EDGES: Final = (
    Case(id="a diamond runs twice", rule="S7.4", flow=diamond, inputs={"x": 5},
        outputs={"meeting": [6, 25], "behind": [11, 30]},
        runs={"src": 1, "inc": 1, "square": 1, "ident": 2, "add": 2},
        states={"ident[0]": "done", "ident[1]": "done", "ident[1]/add": "done"}, others="done",
        events=(("node_started", "ident", {"type": "map", "attempt": 1}),
            ("map_opened", "ident", {"items": None, "edges": 2}),
            ("node_finished", "ident", {"state": "done"}))),
    Case(id="diamonds behind diamonds multiply", rule="S7.4", flow=diamonds, inputs={"x": 3},
        outputs={"second": [[[4], [104]], [[9], [109]]],
            "third": [[4, "other"], [9, "other"], [3, "other"], [[4], "other"], [[104], "other"],
                [[9], "other"], [[109], "other"]]},
        runs={"inc": 1, "square": 1, "ident": 2, "src": 2, "add": 2, "listed": 4, "defaulted_pair": 7},
        states={"ident[1]/listed[0]": "done", "defaulted_pair[0.1]": "done", "defaulted_pair[1]": "done",
            "defaulted_pair[2.1.0]": "done"}, others="done"),
    *(Case(id=f"edges of which are dead: {told}", rule="S7.4", flow=partial(branches, 2), inputs={"x": x},
            outputs=dict.fromkeys(("o", "collected", "behind"), values),
            runs={"ident_2": 1, "ident": len(values), **runs})
        for told, x, values, runs in (("none", 10, [11, 100], {"inc": 1, "square": 1}),
            ("some", 4, [5], {"inc": 1}), ("others", 11, [121], {"square": 1}))),
    Case(id="edges that are all dead", rule="S2.4", flow=partial(branches, 2), inputs={"x": 1}, runs={},
        states={"ident": "skipped", "ident_2": "skipped", "inc": "skipped", "square": "skipped"},
        others="done",
        why={"ident_2": ("ident_2: port 'x'", "ident: none of its edges has a value", "inc: port 'x'",
                "when")}),
    Case(id="an edge alone", rule="S7.4", flow=partial(branches, 1), inputs={"x": 2},
        outputs={"o": [3], "collected": [3], "behind": [3]}, states={"ident[0]": "done"}),
    Case(id="items of a map are edges", rule="S7.4", flow=partial(over_items, "positions"),
        inputs={"xs": [0, 5, 1], "x": 7}, outputs={"o": [14, 7, 8], "little": [0, 1]},
        runs={"small": 3, "add": 3}, states={"add[0]": "done", "add[1.0]": "done", "add[1.2]": "done"},
        others="done"),
    Case(id="a map over a skip and a dead edge", rule="S2.4", flow=partial(over_nothing, alone=False),
        runs={"no_list": 1, "nothing": 1}, states={"square": "skipped", "ident": "skipped"}, others="done",
        why={"ident": ("ident: none of its edges", "square: the list no_list.out", "no_list: port 'out'")}),
    Case(id="items of a map in a map are edges", rule="S7.4", flow=nested_items,
        inputs={"rows": [[1, 5], [], [0, 1]]},
        outputs={"o": [1, 0, 1, 6, 0, 1, 1], "in_row": [[1, 36], [0], [0, 1, 1]]},
        states={"ident[0.0.0]": "done", "ident[0.2.1]": "done", "ident[1.1]": "done", "ident[2]": "done",
            "total[2]/square[0.1]": "done", "total[2]/square[1]": "done"}, others="done"),
    Case(id="the same edges are one map", rule="S7.1", flow=shared,
        outputs={"same": [[2, 1], [3, 4]], "turned": [2, 1], "twice": [1, 1], "constants": [5, 2],
            "plain": [1, 2]},
        states={"inc[1]/square": "done", "inc[0]/listed": "done", "ident[0]": "done", "ident_2[1]": "done"},
        others="done"),
    Case(id="edges in a loop", rule="S6.1", flow=in_a_loop, inputs={"x": 2},
        outputs={"sums": [9, 3], "reached": 12}, runs={"add": 4, "total": 2, "inc": 2, "total_2": 1},
        states={"up[1]/inc": "not_run", "up[1]/total_2": "not_run", "up[0]/inc[1]": "done"}, others="done"),
    Case(id="an edge that fails", rule="S4.2", flow=partial(failing, "edge", "continue"), status="failed",
        runs={"fails": 1, "src": 1, "fails_on_odd": 1},
        states={"fails": "failed", "fails_on_odd": "not_run", "fails_on_odd[1]": "done", "total": "not_run"},
        failures=(("fails", "ValueError", "bad 1"),), others="done",
        why={"fails_on_odd": ("fails failed: ValueError: bad 1",)}),
    Case(id="an item of an edge that fails", rule="S7.2", flow=partial(failing, "item", "continue"),
        status="failed", runs={"src": 1, "src_2": 1, "fails_on_odd": 2},
        states={"fails_on_odd[0]": "failed", "fails_on_odd": "failed", "fails_on_odd[1]": "done",
            "total": "not_run"}, failures=(("fails_on_odd[0]", "ValueError", "odd 1"),), others="done"),
    *(Case(id="failed items of a map that are skipped", rule="S14.1",
            flow=partial(failing_items, on_error, "continue"), outputs={"o": [*values, 0]},
            runs={"src": 3, "fails_on_odd": 3, "ident": len(values) + 1},
            states={"src[0]/fails_on_odd": "failed", "ident[1]": "done", "ident[0.2]": "done"})
        for on_error, values in (("skip", [2, 4]),)),
    Case(id="failed items of a map beside edges", rule="S9.4", status="failed",
        flow=partial(failing_items, "fail", "continue"), outputs={},
        runs={"src": 3, "fails_on_odd": 3, "ident": 4},
        states={"src": "failed", "src[0]/fails_on_odd": "failed", "ident": "not_run", "ident[0.0]": "done"},
        others="done", failures=(("src[0]/fails_on_odd", "ValueError", "odd 1"),)),
)  # fmt: skip
