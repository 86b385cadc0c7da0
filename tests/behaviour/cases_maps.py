"""Rows: maps and their options (S7.1, S7.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Literal

from dataflow import Failure, Flow, collect, each, fallback, gather, merge
from dataflow.core import wiring as w
from dataflow.core.functions import import_function
from dataflow.core.nodetype import derive
from dataflow.core.policy import EachOptions
from dataflow.core.ports import ERROR
from dataflow.packs.registry import find_type
from tests.behaviour import nodes as n
from tests.behaviour.table import Case, wired


@n.counted
async def first_letter(word: str) -> str:
    return word[0]


@n.counted
async def pairs(x: int, ys: list[int]) -> list[int]:
    return [x, *ys]


def squares() -> Flow:
    with Flow("B12") as f:
        squared = f.add(n.square, x=each(f.input("items", list[int])))
        values = collect(squared.out)
        f.output("values", values)
        f.output("sum", f.add(n.total, xs=values).out)
    return f


def same_items(items: Any) -> Flow:
    with Flow("B12") as f:
        f.output("values", collect(f.add(n.ident, x=each(f.input("items", list[object], items))).out))
    return f


@wired
def over(f: Flow, items: Any) -> None:
    f.output("o", collect(f.add(n.ident, x=each(f.add(n.ident, x=items).out)).out))


@wired
def keyed(f: Flow, key: Callable[[str], Any]) -> None:
    f.output("o", collect(f.add(first_letter, word=each(f.input("words", list[str]), key=key)).out))


@wired
def shared(f: Flow) -> None:
    xs = f.input("xs", list[int])
    squared, more = f.add(n.square, x=each(xs)), f.add(n.inc, x=each(xs))
    f.output("o", collect(f.add(n.listed, squared.out, more.out, each(xs)).out))


@wired
def parting(f: Flow) -> None:
    even = f.when(each(f.input("xs", list[int])), lambda x: x % 2 == 0)
    more = f.add(n.inc, x=even.no)
    f.output("even", collect(even.yes))
    f.output("merged", collect(merge(even.yes, more.out)))
    f.output("gathered", collect(gather(even.yes, more.out)))
    f.output("instead", collect(fallback(even.yes, None)))
    f.output("either", collect(f.add(n.defaulted_pair, x=even.yes, y=even.no).out))


@wired
def over_nothing(f: Flow) -> None:
    squared = f.add(n.square, x=each(f.add(n.no_list).out))
    f.output("sum", f.add(n.total, xs=collect(squared.out)).out)


@wired
def beside_a_dead_port(f: Flow) -> None:
    dead = f.add(n.nothing)
    item = each(f.input("xs", list[int]))
    f.output("o", collect(f.add(n.add, x=item, y=dead.out).out))


@wired
def broadcast(f: Flow) -> None:
    xs = f.input("xs", list[int])
    size = f.add(n.total, xs=xs)
    f.output("o", collect(f.add(n.add, x=each(xs), y=size.out).out))
    f.output("constant", collect(f.add(n.add, x=each(xs), y=100).out))


@wired
def nested(f: Flow, levels: int) -> None:
    item: Any = f.input("xs", list[Any])
    for _ in range(levels):
        item = each(item)
    out: Any = f.add(n.inc, x=item).out
    for _ in range(levels):
        out = collect(out)
    f.output("o", out)


@wired
def both_levels(f: Flow) -> None:
    row = each(f.input("rows", list[list[int]]))
    size = f.add(n.total, xs=row)
    scaled = f.add(n.add, x=each(row), y=size.out)
    in_row = collect(scaled.out)
    f.output("rows", collect(f.add(pairs, x=size.out, ys=in_row).out))
    f.output("sums", collect(f.add(n.total, xs=in_row).out))


@wired
def some_left_out(f: Flow) -> None:
    little = f.add(n.small, x=each(f.input("xs", list[int])))
    f.output("o", collect(little.out))
    f.output("more", collect(f.add(n.inc, x=little.out).out))


MAPS: Final = (
    Case(id="B12a", rule="S7.1", flow=squares, inputs={"items": [5, 1, 4, 2, 3]},
        outputs={"values": [25, 1, 16, 4, 9], "sum": 55}, runs={"square": 5, "total": 1}, others="done",
        events=(("map_opened", "square", {"items": 5}), ("node_finished", "square", {"state": "done"}))),
    Case(id="B12b", rule="S7.1", flow=squares, inputs={"items": []}, outputs={"values": [], "sum": 0},
        runs={"total": 1}, events=(("map_opened", "square", {"items": 0}), ("node_started", "total", {})),
        others="done"),
    Case(id="B12d", rule="S7.1", flow=squares, inputs={"items": [9]}, outputs={"values": [81], "sum": 81},
        runs={"square": 1, "total": 1}, states={"square[0]": "done"}),
    Case(id="B12g", rule="S1.6", flow=partial(same_items, [0, None, "", 5]),
        outputs={"values": [0, None, "", 5]}, runs={"ident": 4}),
    *(Case(id=f"a map over: {items!r}", rule="S7.1", flow=partial(over, items), outputs={"o": list(items)})
        for items in ((1, 2), range(3))),
    *(Case(id=f"a map over: {items!r}", rule="S7.1", flow=partial(over, items), status="failed",
            runs={"ident": 1}, failures=(("ident_2", "NodeFailed", "DF0814 ident_2.item:"),),
            states={"ident_2": "failed"})
        for items in (3, "ab", b"ab", {"a": 1}, None, {1, 2})),
    Case(id="items named by a key", rule="S2.2", flow=partial(keyed, str.lower),
        inputs={"words": ["B", "a/b"]}, outputs={"o": ["B", "a"]},
        states={"first_letter[b]": "done", "first_letter[a%2Fb]": "done"}, others="done"),
    Case(id="equal keys", rule="S7.1", flow=partial(keyed, str.lower), inputs={"words": ["B", "b"]},
        status="failed", runs={}, failures=(("first_letter", "NodeFailed", "DF0816 first_letter:"),),
        states={"first_letter": "failed"}),
    Case(id="a key that is no text", rule="S7.1", flow=partial(keyed, len), inputs={"words": ["B"]},
        status="failed", failures=(("first_letter", "NodeFailed", "DF0812 first_letter:"),)),
    Case(id="a key that raises", rule="S7.1", flow=partial(keyed, lambda word: word[5]),
        inputs={"words": ["B"]}, status="failed", failures=(("first_letter", "IndexError", "out of range"),)),
    Case(id="two calls share a map", rule="S7.1", flow=shared, inputs={"xs": [2, 3]},
        outputs={"o": [[4, 3, 2], [9, 4, 3]]}, runs={"square": 2, "inc": 2, "listed": 2},
        states={"square[1]/inc": "done", "square[1]/listed": "done"},
        events=(("map_opened", "square", {"items": 2}),), others="done"),
    Case(id="items part and join", rule="S7.1", flow=parting, inputs={"xs": [1, 2, 3, 4]},
        runs={"inc": 2, "defaulted_pair": 4},
        outputs={"even": [2, 4], "merged": [2, 2, 4, 4], "gathered": [[2], [2], [4], [4]],
            "instead": [None, 2, None, 4], "either": [["dflt", 1], [2, "other"], ["dflt", 3], [4, "other"]]},
        states={"when[1]/inc": "skipped", "when[3]/inc": "skipped"}, others="done"),
    Case(id="a map over a skip", rule="S2.4", flow=over_nothing, runs={"no_list": 1},
        states={"square": "skipped", "total": "skipped"}, others="done",
        why={"total": ("total: port 'xs'", "square: the list no_list.out", "no_list: port 'out'")}),
    Case(id="items beside a dead outer port", rule="S4.3", flow=beside_a_dead_port, inputs={"xs": [1, 2]},
        outputs={"o": []}, runs={"nothing": 1}, states={"add[0]": "skipped", "add[1]": "skipped"},
        others="done", why={"add[1]": ("add[1]: port 'y'", "nothing: port 'out' not emitted")}),
    Case(id="outer values are broadcast", rule="S2.3", flow=broadcast, inputs={"xs": [1, 2]},
        outputs={"o": [4, 5], "constant": [101, 102]}, runs={"total": 1, "add": 2, "add_2": 2}),
    Case(id="a map in a map", rule="S7.1", flow=partial(nested, 2), inputs={"xs": [[1, 2], [], [3]]},
        outputs={"o": [[2, 3], [], [4]]}, runs={"inc": 3},
        states={"inc": "done", "inc[0]": "done", "inc[0][1]": "done", "inc[1]": "done", "inc[2][0]": "done"},
        others="done"),
    Case(id="a map in a map with readers at both levels", rule="S7.1", flow=both_levels,
        inputs={"rows": [[1, 2], [], [5]]}, outputs={"rows": [[3, 4, 5], [0], [5, 10]], "sums": [9, 0, 10]},
        runs={"total": 3, "add": 3, "pairs": 3, "total_2": 3}, others="done"),
    Case(id="items that are a skip", rule="S7.1", flow=some_left_out, inputs={"xs": [1, 5, 0, 7]},
        outputs={"o": [1, 0], "more": [2, 1]}, runs={"small": 4, "inc": 2},
        states={"small[1]/inc": "skipped", "small[3]/inc": "skipped"}, others="done"),
)  # fmt: skip


ItemErrors = Literal["fail", "collect", "skip"]
COLLECT: Final[ItemErrors] = "collect"
SKIP: Final[ItemErrors] = "skip"
FAIL: Final[ItemErrors] = "fail"
Errors = Literal["fail_fast", "continue"]


@n.counted
async def told(xs: list[int | Failure]) -> list[object]:
    return [f"{x.path} {x.type} {x.message}" if isinstance(x, Failure) else x for x in xs]


@n.counted
async def told_in_row(row: Sequence[int | Failure]) -> list[object]:
    return [f"{x.path} {x.message}" if isinstance(x, Failure) else x for x in row]


@n.counted
async def told_in_rows(rows: list[list[int] | Failure]) -> list[object]:
    return [f"{row.path} {row.message}" if isinstance(row, Failure) else row for row in rows]


@n.counted
async def told_one(failure: Failure) -> str:
    return f"{failure.path} {failure.type}"


def odd_items(on_error: ItemErrors, errors: Errors = "fail_fast", most: int | None = None) -> Flow:
    with Flow() as f:
        item = each(f.input("xs", list[int]), on_error=on_error, max_concurrency=most)
        f.output("o", f.add(told, xs=collect(f.add(n.fails_on_odd, x=item).out)).out)
    return f.using(errors=errors)


def two_lists(on_error: ItemErrors, errors: Errors = "fail_fast") -> Flow:
    with Flow() as f:
        more = f.add(n.inc, x=each(f.input("xs", list[int]), on_error=on_error))
        passed = f.add(n.fails_on_odd, x=more.out)
        f.output("before", f.add(told, xs=collect(more.out)).out)
        f.output("after", f.add(told, xs=collect(f.add(n.square, x=passed.out).out)).out)
    return f.using(errors=errors)


def failing_twice() -> Flow:
    with Flow() as f:
        item = each(f.input("xs", list[int]), on_error="collect")
        first = f.add(n.fails_on_odd, x=item)
        f.add(n.fails, x=item)
        f.add(n.inc, x=item)
        f.output("o", f.add(told, xs=collect(first.out)).out)
    return f.using(errors="continue")


@wired
def two_maps(f: Flow, outer: ItemErrors, inner: ItemErrors) -> None:
    row = each(f.input("rows", list[list[int]]), on_error=outer, key=str)
    passed = collect(f.add(n.fails_on_odd, x=each(row, on_error=inner)).out)
    if inner == "collect":
        f.output("o", collect(f.add(told_in_row, row=passed).out))
    else:
        f.output("o", f.add(told_in_rows, rows=collect(passed)).out)


def error_from_outside(on_error: ItemErrors, reader: Literal["list", "failure"]) -> Flow:
    with Flow() as f:
        bad = f.add(n.fails, x=1)
        item = each(f.input("xs", list[int]), on_error=on_error)
        if reader == "list":
            f.output("o", f.add(told, xs=collect(f.add(n.add, x=item, y=bad.out).out)).out)
        else:
            seen = f.add(taken, x=item, failure=bad.error)
            f.output("o", f.add(told, xs=collect(f.add(n.fails_on_odd, x=seen.out).out)).out)
    return f.using(errors="continue")


@n.counted
async def taken(x: int, failure: Failure) -> int:
    return x


def error_port(on_error: ItemErrors, xs: list[int], errors: Errors = "fail_fast") -> Flow:
    item: dict[str, w.Placed] = {
        "odd": w.PlacedNode("odd", type=derive(n.fails_on_odd), inputs={"x": w.Reference("$item", "x")})
    }
    told_list: w.Source = w.Fallback(w.Reference("m", "y"), w.Literally([-1]))
    nodes: dict[str, w.Placed] = {
        "m": w.MapBlock(
            "m", over={"x": w.Literally(xs)}, options=EachOptions(str, on_error=on_error),
            body=w.Block(item, outputs={"y": w.Reference("odd")}),
        ),
        "told": w.PlacedNode("told", type=derive(told), inputs={"xs": told_list}),
        "one": w.PlacedNode("one", type=derive(told_one), inputs={"failure": w.Reference("m", ERROR)}),
    }  # fmt: skip
    outputs: dict[str, w.Source] = {"o": w.Reference("told"), "told": w.Reference("one")}
    wiring = w.Wiring("f", block=w.Block(nodes, outputs=outputs))
    return Flow.from_wiring(wiring, find_type, import_function).using(errors=errors)


#: What becomes of the items 1 and 3, which fail, among others.
ODD: Final = "fails_on_odd[{}] ValueError odd {}"

MAP_OPTIONS: Final = (
    *(Case(id=f"item errors: {on_error}, {errors}, {most} at once", rule="S7.2",
            flow=partial(odd_items, on_error, errors, most), inputs={"xs": [1, 2, 3, 4]},
            outputs={"o": outputs}, runs={"fails_on_odd": 4, "told": 1},
            states={"fails_on_odd[0]": "failed", "fails_on_odd[2]": "failed"}, others="done",
            why={"fails_on_odd[2]": ("fails_on_odd[2] failed: ValueError: odd 3",)})
        for on_error, outputs in ((COLLECT, [ODD.format(0, 1), 2, ODD.format(2, 3), 4]), (SKIP, [2, 4]))
        for errors in ("fail_fast", "continue")
        for most in (None, 1, 2, 9)),
    Case(id="B12e and B12f, a map with a limit keeps its order", rule="S7.2",
        flow=partial(odd_items, "fail", most=2), inputs={"xs": [8, 2, 6, 4, 0]},
        outputs={"o": [8, 2, 6, 4, 0]}, runs={"fails_on_odd": 5, "told": 1}, others="done",
        events=(("map_opened", "fails_on_odd", {"items": 5}),)),
    Case(id="a limit of one, and the second item fails the map", rule="S9.4",
        flow=partial(odd_items, "fail", most=1), inputs={"xs": [2, 3, 4, 5]}, status="failed",
        runs={"fails_on_odd": 2}, failures=(("fails_on_odd[1]", "ValueError", "odd 3"),),
        states={"fails_on_odd": "failed", "fails_on_odd[0]": "done", "fails_on_odd[1]": "failed",
            "told": "not_run"}, others="done"),
    *(Case(id=f"what a failed item gave before does not stand: {on_error}, {errors}", rule="S7.2",
            flow=partial(two_lists, on_error, errors), inputs={"xs": [1, 2]}, outputs=outputs,
            runs={"inc": 2, "fails_on_odd": 2, "square": 1, "told": 1, "told_2": 1},
            states={"inc[1]/fails_on_odd": "failed", "inc[1]/square": "not_run"}, others="done")
        for on_error, outputs in ((SKIP, {"before": [2], "after": [4]}),
            (COLLECT,
                {"before": [2, "inc[1]/fails_on_odd ValueError odd 3"],
                    "after": [4, "inc[1]/fails_on_odd ValueError odd 3"]}))
        for errors in ("fail_fast", "continue")),
    Case(id="an item with two failures tells the first in declared order", rule="S14.1", flow=failing_twice,
        inputs={"xs": [1, 2]}, outputs={"o": [ODD.format(0, 1), "fails_on_odd[1]/fails ValueError bad 2"]},
        runs={"fails_on_odd": 2, "fails": 2, "inc": 2, "told": 1},
        states={"fails_on_odd[0]/inc": "done", "fails_on_odd[1]": "done", "fails_on_odd": "done"}),
    *(Case(id=f"a map in a map: {outer} outside, {inner} inside", rule="S7.2",
            flow=partial(two_maps, outer, inner), inputs={"rows": [[1, 2], [], [4]]}, outputs={"o": outputs})
        for outer, inner, outputs in ((COLLECT, FAIL, ["fails_on_odd[%5B1,%202%5D][0] odd 1", [], [4]]),
            (SKIP, FAIL, [[], [4]]), (FAIL, SKIP, [[2], [], [4]]),
            (FAIL, COLLECT, [["fails_on_odd[%5B1,%202%5D][0] odd 1", 2], [], [4]]),
            (SKIP, SKIP, [[2], [], [4]]))),
    *(Case(id=f"an error from outside is no failure of the item: {on_error}", rule="S7.2",
            flow=partial(error_from_outside, on_error, "list"), inputs={"xs": [1, 2]}, status="failed",
            runs={"fails": 1}, failures=(("fails", "ValueError", "bad 1"),),
            states={"fails": "failed", "add": "done", "add[0]": "not_run", "add[1]": "not_run",
                "told": "not_run"}, why={"told": ("fails failed: ValueError: bad 1",)})
        for on_error in (FAIL, COLLECT, SKIP)),
    Case(id="an item that takes an error from outside as its value", rule="S4.2",
        flow=partial(error_from_outside, "collect", "failure"), inputs={"xs": [1, 2]},
        outputs={"o": ["taken[0]/fails_on_odd ValueError odd 1", 2]},
        runs={"fails": 1, "taken": 2, "fails_on_odd": 2, "told": 1}),
    *(Case(id=f"the error port of a map has nothing to tell: {on_error}", rule="S7.2",
            flow=partial(error_port, on_error, [1, 2]), outputs={"o": outputs},
            states={"m[1]/odd": "failed", "m[2]/odd": "done", "one": "skipped"}, others="done",
            why={"one": ("one: port 'failure'", "m: succeeded, so there is no failure")})
        for on_error, outputs in ((COLLECT, ["m[1]/odd ValueError odd 1", 2]), (SKIP, [2]))),
    *(Case(id=f"the error port of a map that fails: over {xs}, {errors}", rule="S9.3",
            flow=partial(error_port, FAIL, xs, errors), outputs={"o": [-1], "told": "m[1]/odd ValueError"},
            states={"m": "failed", "m[1]/odd": "failed", "told": "done", "one": "done"})
        for xs in ([1, 2], [2, 1])
        for errors in ("fail_fast", "continue")),
    Case(id="item errors are not those of the map itself", rule="S7.2",
        flow=partial(error_port, "collect", [2, 2]), outputs={"o": [-1], "told": "m NodeFailed"},
        runs={"told": 1, "one": 1}, states={"m": "failed"}, others="done"),
)  # fmt: skip
