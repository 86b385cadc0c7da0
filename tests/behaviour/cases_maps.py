"""Rows: maps (S7.1)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from dataflow import Flow, collect, each, fallback, gather, merge
from tests.behaviour.nodes import (
    add,
    counted,
    defaulted_pair,
    ident,
    inc,
    listed,
    no_list,
    nothing,
    small,
    square,
    total,
)
from tests.behaviour.table import Case


@counted
async def first_letter(word: str) -> str:
    return word[0]


@counted
async def pairs(x: int, ys: list[int]) -> list[int]:
    return [x, *ys]


def squares() -> Flow:
    """Square the items, then sum the squares."""
    with Flow("B12") as f:
        squared = f.add(square, x=each(f.input("items", list[int])))
        values = collect(squared.out)
        f.output("values", values)
        f.output("sum", f.add(total, xs=values).out)
    return f


def same_items(items: Any) -> Flow:
    with Flow("B12") as f:
        f.output("values", collect(f.add(ident, x=each(f.input("items", list[object], items))).out))
    return f


def over(items: Any) -> Flow:
    with Flow() as f:
        f.output("o", collect(f.add(ident, x=each(f.add(ident, x=items).out)).out))
    return f


def keyed(key: Callable[[str], Any]) -> Flow:
    with Flow() as f:
        f.output("o", collect(f.add(first_letter, word=each(f.input("words", list[str]), key=key)).out))
    return f


def shared() -> Flow:
    with Flow() as f:
        xs = f.input("xs", list[int])
        squared, more = f.add(square, x=each(xs)), f.add(inc, x=each(xs))
        f.output("o", collect(f.add(listed, squared.out, more.out, each(xs)).out))
    return f


def parting() -> Flow:
    """Part the items by a branch, and join what comes of them."""
    with Flow() as f:
        even = f.when(each(f.input("xs", list[int])), lambda x: x % 2 == 0)
        more = f.add(inc, x=even.no)
        f.output("even", collect(even.yes))
        f.output("merged", collect(merge(even.yes, more.out)))
        f.output("gathered", collect(gather(even.yes, more.out)))
        f.output("instead", collect(fallback(even.yes, None)))
        f.output("either", collect(f.add(defaulted_pair, x=even.yes, y=even.no).out))
    return f


def over_nothing() -> Flow:
    with Flow() as f:
        squared = f.add(square, x=each(f.add(no_list).out))
        f.output("sum", f.add(total, xs=collect(squared.out)).out)
    return f


def beside_a_dead_port() -> Flow:
    """Give every item an outer port that is dead as well."""
    with Flow() as f:
        dead = f.add(nothing)
        item = each(f.input("xs", list[int]))
        f.output("o", collect(f.add(add, x=item, y=dead.out).out))
    return f


def broadcast() -> Flow:
    with Flow() as f:
        xs = f.input("xs", list[int])
        size = f.add(total, xs=xs)
        f.output("o", collect(f.add(add, x=each(xs), y=size.out).out))
        f.output("constant", collect(f.add(add, x=each(xs), y=100).out))
    return f


def nested(levels: int) -> Flow:
    with Flow() as f:
        item: Any = f.input("xs", list[Any])
        for _ in range(levels):
            item = each(item)
        out: Any = f.add(inc, x=item).out
        for _ in range(levels):
            out = collect(out)
        f.output("o", out)
    return f


def both_levels() -> Flow:
    """Read an outer item, a list made of it, and the items of that list."""
    with Flow() as f:
        row = each(f.input("rows", list[list[int]]))
        size = f.add(total, xs=row)
        scaled = f.add(add, x=each(row), y=size.out)
        in_row = collect(scaled.out)
        f.output("rows", collect(f.add(pairs, x=size.out, ys=in_row).out))
        f.output("sums", collect(f.add(total, xs=in_row).out))
    return f


def some_left_out() -> Flow:
    with Flow() as f:
        little = f.add(small, x=each(f.input("xs", list[int])))
        f.output("o", collect(little.out))
        f.output("more", collect(f.add(inc, x=little.out).out))
    return f


MAPS: Final = (
    Case(
        id="B12a", rule="S7.1", flow=squares, inputs={"items": [5, 1, 4, 2, 3]},
        outputs={"values": [25, 1, 16, 4, 9], "sum": 55}, runs={"square": 5, "total": 1}, others="done",
        events=(("map_opened", "square", {"items": 5}), ("node_finished", "square", {"state": "done"})),
    ),
    Case(
        id="B12b", rule="S7.1", flow=squares, inputs={"items": []}, outputs={"values": [], "sum": 0},
        runs={"total": 1}, events=(("map_opened", "square", {"items": 0}), ("node_started", "total", {})),
        others="done",
    ),
    Case(
        id="B12d", rule="S7.1", flow=squares, inputs={"items": [9]}, outputs={"values": [81], "sum": 81},
        runs={"square": 1, "total": 1}, states={"square[0]": "done"},
    ),
    Case(
        id="B12g", rule="S1.6", flow=partial(same_items, [0, None, "", 5]),
        outputs={"values": [0, None, "", 5]}, runs={"ident": 4},
    ),
    *(
        Case(id=f"a map over: {items!r}", rule="S7.1", flow=partial(over, items), outputs={"o": list(items)})
        for items in ((1, 2), range(3))
    ),
    *(
        Case(
            id=f"a map over: {items!r}", rule="S7.1", flow=partial(over, items), status="failed",
            runs={"ident": 1}, failures=(("ident_2", "NodeFailed", "DF0814 ident_2.item:"),),
            states={"ident_2": "failed"},
        )
        for items in (3, "ab", b"ab", {"a": 1}, None, {1, 2})
    ),
    Case(
        id="items named by a key", rule="S2.2", flow=partial(keyed, str.lower),
        inputs={"words": ["B", "a/b"]}, outputs={"o": ["B", "a"]},
        states={"first_letter[b]": "done", "first_letter[a%2Fb]": "done"}, others="done",
    ),
    Case(
        id="equal keys", rule="S7.1", flow=partial(keyed, str.lower), inputs={"words": ["B", "b"]},
        status="failed", runs={}, failures=(("first_letter", "NodeFailed", "DF0816 first_letter:"),),
        states={"first_letter": "failed"},
    ),
    Case(
        id="a key that is no text", rule="S7.1", flow=partial(keyed, len), inputs={"words": ["B"]},
        status="failed", failures=(("first_letter", "NodeFailed", "DF0812 first_letter:"),),
    ),
    Case(
        id="a key that raises", rule="S7.1", flow=partial(keyed, lambda word: word[5]),
        inputs={"words": ["B"]}, status="failed", failures=(("first_letter", "IndexError", "out of range"),),
    ),
    Case(
        id="two calls share a map", rule="S7.1", flow=shared, inputs={"xs": [2, 3]},
        outputs={"o": [[4, 3, 2], [9, 4, 3]]}, runs={"square": 2, "inc": 2, "listed": 2},
        states={"square[1]/inc": "done", "square[1]/listed": "done"},
        events=(("map_opened", "square", {"items": 2}),), others="done",
    ),
    Case(
        id="items part and join", rule="S7.1", flow=parting, inputs={"xs": [1, 2, 3, 4]},
        runs={"inc": 2, "defaulted_pair": 4},
        outputs={
            "even": [2, 4], "merged": [2, 2, 4, 4], "gathered": [[2], [2], [4], [4]],
            "instead": [None, 2, None, 4], "either": [["dflt", 1], [2, "other"], ["dflt", 3], [4, "other"]],
        },
        states={"when[1]/inc": "skipped", "when[3]/inc": "skipped"}, others="done",
    ),
    Case(
        id="a map over a skip", rule="S2.4", flow=over_nothing, runs={"no_list": 1},
        states={"square": "skipped", "total": "skipped"}, others="done",
        why={"total": ("total: port 'xs'", "square: the list no_list.out", "no_list: port 'out'")},
    ),
    Case(
        id="items beside a dead outer port", rule="S4.3", flow=beside_a_dead_port,
        inputs={"xs": [1, 2]}, outputs={"o": []}, runs={"nothing": 1},
        states={"add[0]": "skipped", "add[1]": "skipped"}, others="done",
        why={"add[1]": ("add[1]: port 'y'", "nothing: port 'out' not emitted")},
    ),
    Case(
        id="outer values are broadcast", rule="S2.3", flow=broadcast, inputs={"xs": [1, 2]},
        outputs={"o": [4, 5], "constant": [101, 102]}, runs={"total": 1, "add": 2, "add_2": 2},
    ),
    Case(
        id="a map in a map", rule="S7.1", flow=partial(nested, 2), inputs={"xs": [[1, 2], [], [3]]},
        outputs={"o": [[2, 3], [], [4]]}, runs={"inc": 3},
        states={"inc": "done", "inc[0]": "done", "inc[0][1]": "done", "inc[1]": "done", "inc[2][0]": "done"},
        others="done",
    ),
    Case(
        id="a map in a map with readers at both levels", rule="S7.1", flow=both_levels,
        inputs={"rows": [[1, 2], [], [5]]}, outputs={"rows": [[3, 4, 5], [0], [5, 10]], "sums": [9, 0, 10]},
        runs={"total": 3, "add": 3, "pairs": 3, "total_2": 3}, others="done",
    ),
    Case(
        id="items that are a skip", rule="S7.1", flow=some_left_out, inputs={"xs": [1, 5, 0, 7]},
        outputs={"o": [1, 0], "more": [2, 1]}, runs={"small": 4, "inc": 2},
        states={"small[1]/inc": "skipped", "small[3]/inc": "skipped"}, others="done",
    ),
)  # fmt: skip
