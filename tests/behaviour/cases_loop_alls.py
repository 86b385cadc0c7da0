"""Rows: the list of the values of all rounds, beside the last and the final one (S6.4)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final, Literal

from dataflow import Failure, Flow, collect, each, merge
from tests.behaviour.cases_loops import AT_LIMIT, exited, step
from tests.behaviour.nodes import add, count_to, counted, fails, ident, inc, nothing, small, src, total
from tests.behaviour.table import Case

Nested = Literal["all of results", "result of alls", "all of alls"]


@counted
async def fresh(n: int) -> list[int]:
    return [n]


@counted
async def spoil(xs: list[list[int]]) -> list[list[int]]:
    """Change what it got."""
    for x in xs:
        x.append(-1)
    return xs


@counted
async def passed(x: int, failure: Failure) -> int:
    return x


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


def without_a_carry(limit: int) -> Flow:
    with Flow() as f:
        x = f.input("x", int)
        with f.loop(name="up", limit=limit) as it:
            made = f.add(src, x=x)
        f.output("made", it.all(made.out))
        f.output("outer", it.all(x))
        f.output("constant", it.all(7))
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


def reached() -> Flow:
    """List a port of the inner loop by the outer one: the last value of each outer round."""
    with Flow() as f:
        with f.loop(name="outer", limit=2) as outer:
            v = outer.carry(0)
            with f.loop(name="inner", limit=2) as inner:
                w = inner.carry(v.out)
                stepped = f.add(inc, x=w.out)
                w.next(stepped.out)
            v.next(inner.result(stepped.out))
        f.output("o", outer.all(stepped.out))
    return f


def loop_in_map() -> Flow:
    with Flow() as f:
        item = each(f.input("xs", list[int]))
        with f.loop(name="up") as it:
            v = it.carry(item)
            it.while_(v.out, lambda x: x < 3)
            v.next(f.add(inc, x=v.out).out)
        f.output("o", collect(it.all(v.out)))
        f.output("sums", collect(f.add(total, xs=it.all(v.out)).out))
    return f


def map_in_loop() -> Flow:
    with Flow() as f:
        with f.loop(name="up", limit=3) as it:
            n = it.carry(0)
            doubled = f.add(inc, x=each(f.add(count_to, n=n.out).out))
            n.next(f.add(inc, x=n.out).out)
        f.output("o", it.all(collect(doubled.out)))
        f.output("flat", collect(f.add(total, xs=each(it.all(collect(doubled.out)))).out))
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


def an_error_after_a_round() -> Flow:
    """Carry an error from outside from the second round on."""
    with Flow() as f:
        bad = f.add(fails, x=1)
        with f.loop(name="up", limit=3) as it:
            v = it.carry(5)
            v.next(f.add(add, x=v.out, y=bad.out).out)
        f.output("last", it.result(v.out))
        f.output("o", f.add(total, xs=it.all(v.out)).out)
    return f.using(errors="continue")


def a_failure_that_is_handled_in_the_body() -> Flow:
    with Flow() as f, f.loop(name="up", limit=2) as it:
        v = it.carry(0)
        odd = f.add(fails, x=v.out)
        f.output("seen", it.all(f.add(passed, x=v.out, failure=odd.error).out))
        f.output("none", it.all(odd.out))
        v.next(f.add(step, v=v.out).out)
    return f


def handled_loop_error() -> Flow:
    """Fail in the second round; the list is a skip then, since it is not known."""
    f = Flow()
    with f.loop(name="up", limit=3) as it:
        v = it.carry(0)
        it.until(f.add(small, x=v.out).out, lambda x: 1 // (1 - x) < 0)
        v.next(f.add(inc, x=v.out).out)
    f.output("o", f.add(ident, x=it.all(v.out)).out)
    f.output("kind", f.add(kind).out)  # type: ignore[call-arg]  # wired by name below
    f.connect("up.$error", "kind.failure")
    return f


@counted
async def kind(failure: Failure) -> str:
    return failure.type


def lists_are_copies() -> Flow:
    with Flow() as f:
        with f.loop(name="up", limit=2) as it:
            n = it.carry(0)
            made = f.add(fresh, n=n.out)
            n.next(f.add(inc, x=n.out).out)
        f.output("spoilt", f.add(spoil, xs=it.all(made.out)).out)
        f.output("all", it.all(made.out))
        f.output("last", it.result(made.out))
    return f


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
    Case(
        id="all of a loop that carries nothing", rule="S6.4", flow=partial(without_a_carry, 2),
        inputs={"x": 5}, outputs={"made": [5, 5], "outer": [5, 5], "constant": [7, 7]}, runs={"src": 2},
    ),
    *(
        Case(
            id=f"nested loops: {how}", rule="S6.5", flow=partial(loop_in_loop, how), outputs={"o": outputs},
            runs={"inc": 6, "add": 3},
        )
        for how, outputs in NESTED_LISTS
    ),
    Case(
        id="all of a port of an inner loop", rule="S6.4", flow=reached, outputs={"o": [2, 4]},
        runs={"inc": 4},
    ),
    Case(
        id="all of a loop in a map", rule="S6.5", flow=loop_in_map, inputs={"xs": [0, 5, 2]},
        outputs={"o": [[0, 1, 2], [], [2]], "sums": [3, 0, 2]}, runs={"inc": 4, "total": 3}, others="done",
    ),
    Case(
        id="all of a map in a loop", rule="S6.4", flow=map_in_loop,
        outputs={"o": [[], [1], [1, 2]], "flat": [0, 1, 3]},
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
    Case(
        id="an error after a round makes all of it an error, and not the result", rule="S6.4",
        flow=an_error_after_a_round, status="failed", outputs={"last": 5},
        failures=(("fails", "ValueError", "bad 1"),), states={"up": "done", "total": "not_run"},
        why={"total": ("fails failed: ValueError: bad 1",)},
    ),
    Case(
        id="all of what has failed in every round, and is handled", rule="S6.4",
        flow=a_failure_that_is_handled_in_the_body, outputs={"seen": [0, 1], "none": []},
        runs={"fails": 2, "passed": 2, "step": 2},
    ),
    Case(
        id="all of a loop whose failure is handled is a skip", rule="S9.3", flow=handled_loop_error,
        outputs={"kind": "ZeroDivisionError"}, states={"up": "failed", "ident": "skipped"},
    ),
    Case(
        id="the list of all rounds and the last value are copies", rule="S3.4", flow=lists_are_copies,
        outputs={"spoilt": [[0, -1], [1, -1]], "all": [[0], [1]], "last": [1]},
    ),
)  # fmt: skip
