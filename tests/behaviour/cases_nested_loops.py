"""Rows: loops in loops, and what becomes of limits, tests and skips in each outer round (S6.2, S6.5)."""

from __future__ import annotations

from functools import partial
from typing import Final, Literal

from dataflow import Flow
from tests.behaviour.nodes import add, inc, small
from tests.behaviour.table import Case


def inner_limit(on_limit: Literal["exit", "fail"]) -> Flow:
    """Let the inner loop come to its limit of 2 in each of the outer rounds, which count 0, 10, 20."""
    f = Flow()
    with f.loop(name="outer", limit=3) as outer:
        tens = outer.carry(0)
        with f.loop(name="inner", limit=2, on_limit=on_limit) as inner:
            v = inner.carry(tens.out)
            stepped = f.add(inc, x=v.out)
            inner.until(stepped.out, lambda _: False)
            v.next(stepped.out)
        tens.next(f.add(add, x=tens.out, y=10).out)
    f.output("o", outer.all(inner.result(stepped.out)))
    return f


def inner_while() -> Flow:
    """Count v up to 2 where it is less: in the first two of the outer rounds, which begin with 0, 1, 2, 3."""
    with Flow() as f:
        with f.loop(name="outer", limit=4) as outer:
            n = outer.carry(0)
            with f.loop(name="inner") as inner:
                v = inner.carry(n.out)
                inner.while_(v.out, lambda x: x < 2)
                stepped = f.add(inc, x=v.out)
                v.next(stepped.out)
            n.next(f.add(add, x=n.out, y=1).out)
        f.output("results", outer.all(inner.result(stepped.out)))
        f.output("last", outer.result(inner.result(stepped.out)))
        f.output("finals", outer.all(v.final))
        f.output("alls", outer.all(inner.all(stepped.out)))
    return f


def inner_first_value_dead() -> Flow:
    """Begin the inner loop with what is a skip from the third outer round on."""
    with Flow() as f:
        with f.loop(name="outer", limit=4) as outer:
            n = outer.carry(0)
            little = f.add(small, x=n.out)
            with f.loop(name="inner", limit=2) as inner:
                v = inner.carry(little.out)
                v.next(f.add(inc, x=v.out).out)
            n.next(f.add(add, x=n.out, y=1).out)
        f.output("finals", outer.all(v.final))
        f.output("begun", outer.all(inner.all(v.out)))
        f.output("last", outer.result(v.final))
    return f


def inner_test_raises() -> Flow:
    with Flow() as f:
        with f.loop(name="outer", limit=4) as outer:
            n = outer.carry(0)
            with f.loop(name="inner", limit=2) as inner:
                v = inner.carry(n.out)
                inner.until(v.out, lambda x: 1 // (1 - x) > 5)
                v.next(v.out)
            n.next(f.add(add, x=n.out, y=1).out)
        f.output("o", outer.all(v.final))
    return f


NESTED_LOOPS: Final = (
    Case(
        id="the inner limit is reached in each outer round", rule="S6.5",
        flow=partial(inner_limit, "exit"), outputs={"o": [2, 12, 22]}, runs={"inc": 6, "add": 3},
        warnings=tuple(f"DF0834 outer[{number}]/inner: ended at its limit of 2" for number in range(3)),
        events=tuple(
            ("loop_exited", f"outer[{number}]/inner", {"reason": "max_iterations", "iterations": 2})
            for number in range(3)
        ),
        others="done",
    ),
    Case(
        id="the inner limit fails the outer loop", rule="S6.2", flow=partial(inner_limit, "fail"),
        status="failed", failures=(("outer[0]/inner", "LoopLimit", "DF0803 inner:"),),
        states={"outer": "failed", "outer[0]/inner": "failed", "outer[0]/inner[1]/inc": "done"},
        events=(
            ("loop_exited", "outer[0]/inner", {"reason": "failed", "iterations": 2}),
            ("loop_exited", "outer", {"reason": "failed", "iterations": 1}),
        ),
    ),
    Case(
        id="an inner while that allows no round in some outer rounds", rule="S6.5", flow=inner_while,
        outputs={"results": [2, 2], "last": 2, "finals": [2, 2, 2, 3], "alls": [[1, 2], [2], [], []]},
        runs={"inc": 3, "add": 4},
        events=(
            ("loop_exited", "outer[1]/inner", {"reason": "condition", "iterations": 1}),
            ("loop_exited", "outer[2]/inner", {"reason": "condition", "iterations": 0}),
        ),
        others="done",
    ),
    Case(
        id="an inner loop that is skipped in some outer rounds", rule="S2.4", flow=inner_first_value_dead,
        outputs={"finals": [2, 3], "begun": [[0, 1], [1, 2]], "last": 3},
        runs={"small": 4, "inc": 4, "add": 4},
        states={"outer[2]/inner": "skipped", "outer[3]/inner": "skipped"}, others="done",
    ),
    Case(
        id="an inner test that raises in the second outer round", rule="S6.1", flow=inner_test_raises,
        status="failed", failures=(("outer[1]/inner", "ZeroDivisionError", "division"),),
        states={"outer": "failed", "outer[0]/inner": "done", "outer[1]/inner": "failed"},
        warnings=("DF0834 outer[0]/inner:",),
    ),
)  # fmt: skip
