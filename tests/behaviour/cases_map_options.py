"""Rows: the options of a map (S7.2)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, Literal

from dataflow import Failure, Flow, collect, each
from dataflow.core.functions import import_function
from dataflow.core.nodetype import derive
from dataflow.core.policy import EachOptions
from dataflow.core.ports import ERROR
from dataflow.core.wiring import (
    Block,
    Fallback,
    Literally,
    MapBlock,
    Placed,
    PlacedNode,
    Reference,
    Source,
    Wiring,
)
from dataflow.packs.registry import find_type
from tests.behaviour.nodes import add, counted, fails, fails_on_odd, inc, square
from tests.behaviour.table import Case

ItemErrors = Literal["fail", "collect", "skip"]
COLLECT: Final[ItemErrors] = "collect"
SKIP: Final[ItemErrors] = "skip"
FAIL: Final[ItemErrors] = "fail"
Errors = Literal["fail_fast", "continue"]


@counted
async def told(xs: list[int | Failure]) -> list[object]:
    """Tell of each failure its path, type and message."""
    return [f"{x.path} {x.type} {x.message}" if isinstance(x, Failure) else x for x in xs]


@counted
async def told_in_row(row: Sequence[int | Failure]) -> list[object]:
    return [f"{x.path} {x.message}" if isinstance(x, Failure) else x for x in row]


@counted
async def told_in_rows(rows: list[list[int] | Failure]) -> list[object]:
    return [f"{row.path} {row.message}" if isinstance(row, Failure) else row for row in rows]


@counted
async def told_one(failure: Failure) -> str:
    return f"{failure.path} {failure.type}"


def odd_items(on_error: ItemErrors, errors: Errors = "fail_fast", most: int | None = None) -> Flow:
    with Flow() as f:
        item = each(f.input("xs", list[int]), on_error=on_error, max_concurrency=most)
        f.output("o", f.add(told, xs=collect(f.add(fails_on_odd, x=item).out)).out)
    return f.using(errors=errors)


def two_lists(on_error: ItemErrors, errors: Errors = "fail_fast") -> Flow:
    """Collect what comes before the failure, what fails and what comes of that; the last two in one item."""
    with Flow() as f:
        more = f.add(inc, x=each(f.input("xs", list[int]), on_error=on_error))
        passed = f.add(fails_on_odd, x=more.out)
        f.output("before", f.add(told, xs=collect(more.out)).out)
        f.output("after", f.add(told, xs=collect(f.add(square, x=passed.out).out)).out)
    return f.using(errors=errors)


def failing_twice() -> Flow:
    """Fail in two nodes of the item, beside a third that does not depend on them."""
    with Flow() as f:
        item = each(f.input("xs", list[int]), on_error="collect")
        first = f.add(fails_on_odd, x=item)
        f.add(fails, x=item)
        f.add(inc, x=item)
        f.output("o", f.add(told, xs=collect(first.out)).out)
    return f.using(errors="continue")


def nested(outer: ItemErrors, inner: ItemErrors) -> Flow:
    with Flow() as f:
        row = each(f.input("rows", list[list[int]]), on_error=outer, key=str)
        passed = collect(f.add(fails_on_odd, x=each(row, on_error=inner)).out)
        if inner == "collect":
            f.output("o", collect(f.add(told_in_row, row=passed).out))
        else:
            f.output("o", f.add(told_in_rows, rows=collect(passed)).out)
    return f


def error_from_outside(on_error: ItemErrors, reader: Literal["list", "failure"]) -> Flow:
    """Give every item the error of a node outside the map."""
    with Flow() as f:
        bad = f.add(fails, x=1)
        item = each(f.input("xs", list[int]), on_error=on_error)
        if reader == "list":
            f.output("o", f.add(told, xs=collect(f.add(add, x=item, y=bad.out).out)).out)
        else:
            seen = f.add(taken, x=item, failure=bad.error)
            f.output("o", f.add(told, xs=collect(f.add(fails_on_odd, x=seen.out).out)).out)
    return f.using(errors="continue")


@counted
async def taken(x: int, failure: Failure) -> int:
    return x


def error_port(on_error: ItemErrors, xs: list[int], errors: Errors = "fail_fast") -> Flow:
    """Wire the `$error` of a map whose keys are the items, which must differ."""
    item: dict[str, Placed] = {
        "odd": PlacedNode("odd", type=derive(fails_on_odd), inputs={"x": Reference("$item", "x")})
    }
    told_list: Source = Fallback(Reference("m", "y"), Literally([-1]))
    nodes: dict[str, Placed] = {
        "m": MapBlock(
            "m", over={"x": Literally(xs)}, options=EachOptions(str, on_error=on_error),
            body=Block(item, outputs={"y": Reference("odd")}),
        ),
        "told": PlacedNode("told", type=derive(told), inputs={"xs": told_list}),
        "one": PlacedNode("one", type=derive(told_one), inputs={"failure": Reference("m", ERROR)}),
    }  # fmt: skip
    outputs: dict[str, Source] = {"o": Reference("told"), "told": Reference("one")}
    wiring = Wiring("f", block=Block(nodes, outputs=outputs))
    return Flow.from_wiring(wiring, find_type, import_function).using(errors=errors)


#: What becomes of the items 1 and 3, which fail, among others.
ODD: Final = "fails_on_odd[{}] ValueError odd {}"

MAP_OPTIONS: Final = (
    *(
        Case(
            id=f"item errors: {on_error}, {errors}, {most} at once", rule="S7.2",
            flow=partial(odd_items, on_error, errors, most), inputs={"xs": [1, 2, 3, 4]},
            outputs={"o": outputs}, runs={"fails_on_odd": 4, "told": 1},
            states={"fails_on_odd[0]": "failed", "fails_on_odd[2]": "failed"}, others="done",
            why={"fails_on_odd[2]": ("fails_on_odd[2] failed: ValueError: odd 3",)},
        )
        for on_error, outputs in (
            (COLLECT, [ODD.format(0, 1), 2, ODD.format(2, 3), 4]),
            (SKIP, [2, 4]),
        )
        for errors in ("fail_fast", "continue")
        for most in (None, 1, 2, 9)
    ),
    Case(
        id="B12e and B12f, a map with a limit keeps its order", rule="S7.2",
        flow=partial(odd_items, "fail", most=2), inputs={"xs": [8, 2, 6, 4, 0]},
        outputs={"o": [8, 2, 6, 4, 0]}, runs={"fails_on_odd": 5, "told": 1}, others="done",
        events=(("map_opened", "fails_on_odd", {"items": 5}),),
    ),
    Case(
        id="a limit of one, and the second item fails the map", rule="S9.4",
        flow=partial(odd_items, "fail", most=1), inputs={"xs": [2, 3, 4, 5]}, status="failed",
        runs={"fails_on_odd": 2}, failures=(("fails_on_odd[1]", "ValueError", "odd 3"),),
        states={
            "fails_on_odd": "failed", "fails_on_odd[0]": "done", "fails_on_odd[1]": "failed",
            "told": "not_run",
        },
        others="done",
    ),
    *(
        Case(
            id=f"what a failed item gave before does not stand: {on_error}, {errors}", rule="S7.2",
            flow=partial(two_lists, on_error, errors), inputs={"xs": [1, 2]}, outputs=outputs,
            runs={"inc": 2, "fails_on_odd": 2, "square": 1, "told": 1, "told_2": 1},
            states={"inc[1]/fails_on_odd": "failed", "inc[1]/square": "not_run"}, others="done",
        )
        for on_error, outputs in (
            (SKIP, {"before": [2], "after": [4]}),
            (
                COLLECT,
                {
                    "before": [2, "inc[1]/fails_on_odd ValueError odd 3"],
                    "after": [4, "inc[1]/fails_on_odd ValueError odd 3"],
                },
            ),
        )
        for errors in ("fail_fast", "continue")
    ),
    Case(
        id="an item with two failures tells the first in declared order", rule="S14.1", flow=failing_twice,
        inputs={"xs": [1, 2]}, outputs={"o": [ODD.format(0, 1), "fails_on_odd[1]/fails ValueError bad 2"]},
        runs={"fails_on_odd": 2, "fails": 2, "inc": 2, "told": 1},
        states={"fails_on_odd[0]/inc": "done", "fails_on_odd[1]": "done", "fails_on_odd": "done"},
    ),
    *(
        Case(
            id=f"a map in a map: {outer} outside, {inner} inside", rule="S7.2",
            flow=partial(nested, outer, inner), inputs={"rows": [[1, 2], [], [4]]}, outputs={"o": outputs},
        )
        for outer, inner, outputs in (
            (COLLECT, FAIL, ["fails_on_odd[%5B1,%202%5D][0] odd 1", [], [4]]),
            (SKIP, FAIL, [[], [4]]),
            (FAIL, SKIP, [[2], [], [4]]),
            (FAIL, COLLECT, [["fails_on_odd[%5B1,%202%5D][0] odd 1", 2], [], [4]]),
            (SKIP, SKIP, [[2], [], [4]]),
        )
    ),
    *(
        Case(
            id=f"an error from outside is no failure of the item: {on_error}", rule="S7.2",
            flow=partial(error_from_outside, on_error, "list"), inputs={"xs": [1, 2]}, status="failed",
            runs={"fails": 1}, failures=(("fails", "ValueError", "bad 1"),),
            states={
                "fails": "failed", "add": "done", "add[0]": "not_run", "add[1]": "not_run", "told": "not_run",
            },
            why={"told": ("fails failed: ValueError: bad 1",)},
        )
        for on_error in (FAIL, COLLECT, SKIP)
    ),
    Case(
        id="an item that takes an error from outside as its value", rule="S4.2",
        flow=partial(error_from_outside, "collect", "failure"), inputs={"xs": [1, 2]},
        outputs={"o": ["taken[0]/fails_on_odd ValueError odd 1", 2]},
        runs={"fails": 1, "taken": 2, "fails_on_odd": 2, "told": 1},
    ),
    *(
        Case(
            id=f"the error port of a map has nothing to tell: {on_error}", rule="S7.2",
            flow=partial(error_port, on_error, [1, 2]), outputs={"o": outputs},
            states={"m[1]/odd": "failed", "m[2]/odd": "done", "one": "skipped"}, others="done",
            why={"one": ("one: port 'failure'", "m: succeeded, so there is no failure")},
        )
        for on_error, outputs in ((COLLECT, ["m[1]/odd ValueError odd 1", 2]), (SKIP, [2]))
    ),
    *(
        Case(
            id=f"the error port of a map that fails: over {xs}, {errors}", rule="S9.3",
            flow=partial(error_port, FAIL, xs, errors), outputs={"o": [-1], "told": "m[1]/odd ValueError"},
            states={"m": "failed", "m[1]/odd": "failed", "told": "done", "one": "done"},
        )
        for xs in ([1, 2], [2, 1])
        for errors in ("fail_fast", "continue")
    ),
    Case(
        id="item errors are not those of the map itself", rule="S7.2",
        flow=partial(error_port, "collect", [2, 2]), outputs={"o": [-1], "told": "m NodeFailed"},
        runs={"told": 1, "one": 1}, states={"m": "failed"}, others="done",
    ),
)  # fmt: skip
