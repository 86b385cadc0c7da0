"""Rows: branches, several edges on one port, the firing rule (S4, S5.2)."""

from __future__ import annotations

from functools import partial
from typing import Final

from dataflow import Flow, node
from tests.behaviour.nodes import counted, defaulted_pair, ident, inc, pair, src
from tests.behaviour.table import Case


@counted
async def left(x: int) -> int:
    return x * 10


@counted
async def right(x: int) -> int:
    return x * 100


@counted
async def join(val: int) -> list[object]:
    return ["J", val]


@counted
async def tail(y: list[object]) -> list[object]:
    return y


def both_exits(*, swapped: bool, direct: bool = False) -> Flow:
    """Lead both exits of a branch to one port, over a node each or directly."""
    with Flow("B01") as f:
        cond = f.when(f.add(src, x=f.input("x", int)).out, lambda v: v > 5)
        if not direct:
            first, second = f.add(left, x=cond.yes).out, "right"
            f.add(right, x=cond.no)
        else:
            first, second = cond.yes, "when.no"
        if swapped:
            f.connect(second, "join.val")
        joined = f.add(join, val=first)
        if not swapped:
            f.connect(second, "join.val")
        f.output("tail", f.add(tail, y=joined.out).out)
    return f


def dead_port() -> Flow:
    """Feed a port that only the branch not taken could feed."""
    with Flow("B03") as f:
        cond = f.when(f.add(src, x=f.input("x", int)).out, lambda v: v > 5)
        first = f.add(node(ident).with_(name="t"), x=cond.yes)
        second = f.add(node(ident).with_(name="u"), x=cond.no)
        joined = f.add(node(pair).with_(name="j"), p=first.out, q=second.out)
        f.output("k", f.add(ident, x=joined.out).out)
    return f


def one_optional_port_dead() -> Flow:
    with Flow() as f:
        cond = f.when(f.input("x", int), lambda v: v > 5)
        f.output("o", f.add(defaulted_pair, x=cond.yes, y=f.add(src, x=cond.no).out).out)
    return f


def dead_chain() -> Flow:
    with Flow() as f:
        exits = f.when(f.input("x", int), lambda v: v > 5)
        first = f.add(inc, x=exits.yes)
        f.output("o", f.add(inc, x=f.add(inc, x=first.out).out).out)
    return f


B01_TAKEN: Final = {"src": 1, "left": 1, "join": 1, "tail": 1}
B01_OTHER: Final = {"src": 1, "right": 1, "join": 1, "tail": 1}

BRANCHES: Final = (
    *(
        case
        for swapped, order in ((False, "in order"), (True, "swapped"))
        for case in (
            Case(
                id=f"B01: a {order}", rule="S5.2", flow=partial(both_exits, swapped=swapped), inputs={"x": 7},
                outputs={"tail": ["J", 70]}, runs=B01_TAKEN, states={"right": "skipped"}, others="done",
                why={"right": ("port 'x' has no value", "exit 'no' not taken")},
            ),
            Case(
                id=f"B01: b {order}", rule="S5.2", flow=partial(both_exits, swapped=swapped), inputs={"x": 3},
                outputs={"tail": ["J", 300]}, runs=B01_OTHER, states={"left": "skipped"}, others="done",
                why={"left": ("port 'x' has no value", "exit 'yes' not taken")},
            ),
            *(
                Case(
                    id=f"B01: c {order} {x}", rule="S5.2", inputs={"x": x},
                    flow=partial(both_exits, swapped=swapped, direct=True), outputs={"tail": ["J", x]},
                    runs={"src": 1, "join": 1, "tail": 1}, others="done",
                )
                for x in (7, 3)
            ),
        )
    ),
    Case(
        id="B03", rule="S4.3", flow=dead_port, inputs={"x": 3},
        runs={"src": 1, "u": 1}, states={"t": "skipped", "j": "skipped", "ident": "skipped"}, others="done",
        why={
            "t": ("t: port 'x' has no value", "when: exit 'yes' not taken"),
            "j": ("j: port 'p' has no value", "t: port 'x' has no value", "when: exit 'yes' not taken"),
            "ident.out": ("ident: port 'x'", "j: port 'p'", "t: port 'x'", "when: exit 'yes' not taken"),
        },
        warnings=("DF0835 j:",),
        events=(("warning", "j", {"code": "join_unreleased"}), ("node_finished", "j", {"state": "skipped"})),
    ),
    Case(
        id="an optional port that is dead beside a live one", rule="S4.4",
        flow=one_optional_port_dead, inputs={"x": 3}, outputs={"o": ["dflt", 3]},
        runs={"src": 1, "defaulted_pair": 1},
    ),
    Case(
        id="a dead path", rule="S3.3", flow=dead_chain, inputs={"x": 3}, runs={},
        states={"inc": "skipped", "inc_2": "skipped", "inc_3": "skipped"}, others="done",
        why={
            "inc_3.out": (
                "inc_3: port 'x'", "inc_2: port 'x'", "inc: port 'x'", "when: exit 'yes' not taken",
            ),
        },
        events=(
            ("branch_evaluated", "when", {"matched": "no"}), ("node_finished", "inc", {"state": "skipped"}),
            ("node_finished", "inc_2", {"state": "skipped"}),
            ("node_finished", "inc_3", {"state": "skipped"}),
        ),
    ),
)  # fmt: skip
