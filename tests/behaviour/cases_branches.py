"""Rows: branches, the firing rule, several edges on one port (S4, S5.1, S5.2)."""

from __future__ import annotations

from functools import partial
from typing import Final

from dataflow import Flow, node
from tests.behaviour.nodes import (
    add,
    counted,
    defaulted,
    defaulted_pair,
    ident,
    inc,
    listed,
    listed_with,
    one,
    pair,
    split,
    src,
)
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


def both_exits(*, swapped: bool) -> Flow:
    """Lead both exits of a branch to one port, over a node each."""
    with Flow("B01") as f:
        cond = f.when(f.add(src, x=f.input("x", int)).out, lambda v: v > 5)
        f.add(left, x=cond.yes)
        f.add(right, x=cond.no)
        if swapped:
            f.connect("right", "join.val")
            joined = f.add(join, val=f.add(left.__wrapped__, x=cond.yes).out) if False else None  # placeholder
    return f
