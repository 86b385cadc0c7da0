"""Rows: the list of the values of all rounds, beside the last and the final one (S6.4)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final, Literal

from dataflow import Failure, Flow, merge
from tests.behaviour.cases_loops import AT_LIMIT, exited, step
from tests.behaviour.nodes import add, counted, fails, inc, nothing, total
from tests.behaviour.table import Case

Nested = Literal["all of results", "result of alls", "all of alls"]


def what_leaves(kind: Literal["until", "while"], leave: int) -> Flow:
    """Let everything leave that can: the last value, the final one, all of them, of a node and of a carry."""
    with Flow() as f:
        with f.loop(name="up", limit=10) as it:
            v = it.carry(0)
            stepped = f.add(step, v=v.out)
            if kind == "until":
                it.until(stepped.out, lambda x: x >= leave)
            else:
                it.while_(v.out, lambda x: x < leave)
            v.next(stepped.out)
        f.output("result", it.result(stepped.out))
        f.output("final", v.final)
        f.output("all", it.all(stepped.out))
        f.output("begun", it.all(v.out))
        f.output("sum", f.add(total, xs=it.all(stepped.out)).out)
    return f


def some_rounds_without() -> Flow:
    """List what is there in the rounds 0 and 2 of 4, what is never there, and a join of both exits."""
    with Flow() as f:
        with f.loop(name="up", limit=10) as it:
            v = it.carry(0)
            w = f.when(v.out, lambda x: x in {0, 2})
            it.until(v.out, lambda x: x >= 3)
            v.next(f.add(step, v=v.out).out)
            never = f.add(nothing)
        f.output("yes", it.all(w.yes))
        f.output("never", it.all(never.out))
        f.output("joined", it.all(merge(w.yes, w.no)))
    return f


def loop_in_loop(how: Nested) -> Flow:
    """Count up from 0, 10 and 20, two rounds each."""
    with Flow() as f:
        with f.loop(name="outer", limit=3) as outer:
            tens = outer.carry(0)
            with f.loop(name="inner", limit=2) as inner:
                v = inner.carry(tens.out)
                stepped = f.add(inc, x=v.out)
                v.next(stepped.out)
            tens.next(f.add(add, x=tens.out, y=10).out)
        match how:
            case "all of results":
                f.output("o", outer.all(inner.result(stepped.out)))
            case "result of alls":
                f.output("o", outer.result(inner.all(stepped.out)))
            case "all of alls":
                f.output("o", outer.all(inner.all(stepped.out)))
    return f


def an_error_from_outside(reader: Literal["node", "constant"]) -> Flow:
    """List what is an error in every round, beside what is none."""
    with Flow() as f:
        bad = f.add(fails, x=1)
        with f.loop(name="up", limit=2) as it:
            v = it.carry(0)
            good = f.add(step, v=v.out)
            listed = f.add(add, x=v.out, y=bad.out).out if reader == "node" else bad.out
            v.next(good.out)
        f.output("o", f.add(total, xs=it.all(listed)).out)
        f.output("good", it.all(good.out))
    return f.using(errors="continue")


@counted
async def kind(failure: Failure) -> str:
    return failure.type


NESTED_LISTS: Final[tuple[tuple[Nested, list[Any]], ...]] = (
    ("all of results", [2, 12, 22]),
    ("result of alls", [21, 22]),
    ("all of alls", [[1, 2], [11, 12], [21, 22]]),
)
READERS: Final[tuple[Literal["node", "constant"], ...]] = ("node", "constant")

LOOP_ALLS: Final = (
    Case(
        id="all, result and final, until", rule="S6.4", flow=partial(what_leaves, "until", 3),
        outputs={"result": 3, "final": 2, "all": [1, 2, 3], "begun": [0, 1, 2], "sum": 6},
        runs={"step": 3, "total": 1}, events=exited("condition", 3), others="done",
    ),
    Case(
        id="all, result and final, while", rule="S6.4", flow=partial(what_leaves, "while", 3),
        outputs={"result": 3, "final": 3, "all": [1, 2, 3], "begun": [0, 1, 2], "sum": 6},
        runs={"step": 3, "total": 1}, events=exited("condition", 3), others="done",
    ),
    Case(
        id="all, result and final, at the limit", rule="S6.4", flow=partial(what_leaves, "while", 99),
        outputs={
            "result": 10, "final": 10, "all": list(range(1, 11)), "begun": list(range(10)), "sum": 55,
        },
        warnings=(AT_LIMIT.format(10),),
    ),
    Case(
        id="all, result and final, if no round ran", rule="S6.4", flow=partial(what_leaves, "while", 0),
        outputs={"final": 0, "all": [], "begun": [], "sum": 0}, runs={"total": 1},
        why={"up.step": ("up: no round brought a value",)}, others="done",
    ),
    Case(
        id="all leaves out rounds without a value", rule="S6.4", flow=some_rounds_without,
        outputs={"yes": [0, 2], "never": [], "joined": [0, 1, 2, 3]}, runs={"step": 3, "nothing": 4},
    ),
    *(
        Case(
            id=f"nested loops: {how}", rule="S6.5", flow=partial(loop_in_loop, how), outputs={"o": outputs},
            runs={"inc": 6, "add": 3},
        )
        for how, outputs in NESTED_LISTS
    ),
    *(
        Case(
            id=f"an error from outside makes all of it an error: {reader}", rule="S6.4",
            flow=partial(an_error_from_outside, reader), status="failed", outputs={"good": [1, 2]},
            runs={"fails": 1, "step": 2}, failures=(("fails", "ValueError", "bad 1"),),
            states={"up": "done", "total": "not_run"}, why={"total": ("fails failed: ValueError: bad 1",)},
        )
        for reader in READERS
    ),
)  # fmt: skip
