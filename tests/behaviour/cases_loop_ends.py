"""Rows: loops whose values are skips, whose tests go wrong, whose rounds fail (S6.1, S6.4)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal

from dataflow import Failure, Flow, fallback, merge
from tests.behaviour.cases_loops import AT_LIMIT, exited, step
from tests.behaviour.nodes import add, counted, defaulted_pair, fails, ident, inc, nothing, small, src
from tests.behaviour.table import Case


@counted
async def told(failure: Failure) -> str:
    return f"{failure.path} {failure.type}"


def handled_loop(fault: Literal["node", "test", "limit"]) -> Flow:
    """Wire the error port of a loop; `instead` shows that what leaves it is a skip."""
    f = Flow()
    with f.loop(name="up", limit=2, on_limit="fail") as it:
        v = it.carry(0)
        it.until(v.out, lambda x: 1 // x < 0 if fault == "test" else False)
        v.next(f.add(fails if fault == "node" else ident, x=v.out).out)
    f.output("told", f.add(told).out)  # type: ignore[call-arg]  # wired by name below
    f.connect("up.$error", "told.failure")
    f.output("instead", f.add(ident, x=fallback(v.final, "none")).out)
    return f


def skipping(limit: int) -> Flow:
    """Carry a value that becomes a skip: `small` gives nothing from 2 on."""
    with Flow() as f:
        with f.loop(name="up", limit=limit) as it:
            v, w = it.carry(0), it.carry(7)
            little = f.add(small, x=v.out)
            shown = f.add(defaulted_pair, x=v.out, y=w.out)
            v.next(f.add(inc, x=little.out).out)
            w.next(w.out)
            it.until(w.out, lambda _: False)
        f.output("shown", it.result(shown.out))
        f.output("little", it.result(little.out))
        f.output("v", v.final)
        f.output("w", w.final)
    return f


def exhausted() -> Flow:
    """Test what becomes a skip in the third round."""
    with Flow() as f:
        with f.loop(name="up", limit=10) as it:
            v = it.carry(0)
            little = f.add(small, x=v.out)
            it.until(little.out, lambda _: False)
            v.next(f.add(inc, x=v.out).out)
        f.output("little", it.result(little.out))
        f.output("v", v.final)
    return f


def first_value_dead(*, beside: bool) -> Flow:
    with Flow() as f:
        dead = f.add(nothing)
        with f.loop(name="up") as it:
            v, w = it.carry(dead.out), it.carry(1 if beside else dead.out)
            shown = f.add(defaulted_pair, x=v.out, y=w.out)
            it.until(shown.out, lambda _: True)
            v.next(v.out)
            w.next(w.out)
        f.output("shown", it.result(shown.out))
        f.output("v", v.final)
    return f


def odd_test(predicate: Callable[[Any], Any]) -> Flow:
    with Flow() as f:
        with f.loop(name="up", limit=10) as it:
            v = it.carry(0)
            stepped = f.add(step, v=v.out)
            it.until(stepped.out, predicate)
            v.next(stepped.out)
        f.output("out", f.add(ident, x=it.result(stepped.out)).out)
    return f


def fails_in_round(number: int) -> Flow:
    with Flow() as f:
        with f.loop(name="up", limit=10) as it:
            v = it.carry(0)
            bad = f.add(fails, x=f.when(v.out, lambda x: x == number).yes)
            it.until(v.out, lambda x: x >= 5)
            v.next(f.add(step, v=v.out).out)
        f.output("v", v.final)
        f.output("after", f.add(inc, x=it.result(merge(bad.out, v.out))).out)
        f.output("aside", f.add(src, x=1).out)
    return f.using(errors="continue")


def outer_error(reader: str) -> Flow:
    """Bring an error of the outer scope into a loop (S4.2)."""
    with Flow() as f:
        bad = f.add(fails, x=1)
        with f.loop(name="up", limit=2) as it:
            v, w = it.carry(0), it.carry(bad.out if reader == "first" else 0)
            poisoned, good = f.add(add, x=v.out, y=bad.out), f.add(step, v=v.out)
            if reader == "while":
                it.while_(w.out, lambda x: x < 5)
            else:
                it.until(poisoned.out if reader == "until" else good.out, lambda x: x >= 2)
            v.next(good.out)
            w.next(poisoned.out if reader in ("while", "final") else w.out)
        leaving = {"result": it.result(poisoned.out), "final": w.final}.get(reader, v.final)
        f.output("o", f.add(ident, x=leaving).out)
        f.output("good", it.result(good.out))
    return f.using(errors="continue")


def odd_while(predicate: Callable[[Any], Any]) -> Flow:
    with Flow() as f:
        with f.loop(name="up", limit=10) as it:
            v = it.carry(0)
            it.while_(v.out, predicate)
            v.next(f.add(step, v=v.out).out)
        f.output("v", v.final)
    return f


HANDLED_LOOPS: Final[tuple[tuple[Literal["node", "test", "limit"], str, int, dict[str, str]], ...]] = (
    ("node", "up[0]/fails ValueError", 1, {"up[0]/fails": "failed"}),
    ("test", "up ZeroDivisionError", 1, {"up[0]/ident": "not_run"}),
    ("limit", "up LoopLimit", 2, {"up[0]/ident": "done", "up[1]/ident": "not_run"}),
)

LOOP_ENDS: Final = (
    *(
        Case(
            id=f"an outer error in a loop: {reader}", rule="S4.2", flow=partial(outer_error, reader),
            status="failed", outputs=outputs, runs=runs, states={"up": state, "ident": "not_run"},
            failures=(("fails", "ValueError", "bad 1"),), why={"ident": ("fails failed: ValueError: bad 1",)},
        )
        for reader, state, outputs, runs in (
            ("result", "done", {"good": 2}, {"fails": 1, "step": 2}),
            ("final", "done", {"good": 2}, {"fails": 1, "step": 2}),
            ("until", "failed", {}, {"fails": 1, "step": 1}),
            ("while", "failed", {}, {"fails": 1, "step": 1}),
            ("first", "not_run", {}, {"fails": 1}),
        )
    ),
    Case(
        id="a carried port becomes a skip", rule="S6.1", flow=partial(skipping, 5),
        outputs={"shown": ["dflt", 7], "little": 1, "w": 7}, runs={"small": 3, "inc": 2, "defaulted_pair": 5},
        states={
            "up[2]/small": "done", "up[2]/inc": "skipped", "up[3]/small": "skipped", "up[3]/inc": "skipped",
            "up[4]/small": "skipped", "up[4]/inc": "not_run",
        },
        others="done",
        why={
            "up.carry": (
                "up[3]/inc: port 'x'", "up[3]/small: port 'x'", "up[2]/inc: port 'x'",
                "port 'out' not emitted",
            ),
        },
        warnings=(AT_LIMIT.format(5),),
    ),
    Case(
        id="a test that is a skip", rule="S6.1", flow=exhausted, outputs={"little": 1, "v": 2},
        runs={"small": 3, "inc": 2}, events=exited("exhausted", 3), states={"up[2]/inc": "not_run"},
        others="done",
    ),
    Case(
        id="a while test that raises", rule="S6.1", flow=partial(odd_while, lambda x: 1 // (2 - x) >= 0),
        status="failed", runs={"step": 2}, failures=(("up", "ZeroDivisionError", "division"),),
        events=exited("failed", 2), states={"up": "failed"},
    ),
    Case(
        id="a first value that is a skip", rule="S6.1", flow=partial(first_value_dead, beside=True),
        outputs={"shown": ["dflt", 1]}, runs={"nothing": 1, "defaulted_pair": 1},
        why={"up.carry": ("nothing: port 'out' not emitted",)}, events=exited("condition", 1),
    ),
    Case(
        id="first values that are all skips", rule="S2.4", flow=partial(first_value_dead, beside=False),
        runs={"nothing": 1}, states={"up": "skipped"}, others="done",
        why={
            "up.defaulted_pair": ("up: port", "nothing: port 'out' not emitted"),
            "up.carry": ("up: port", "nothing:"),
        },
    ),
    Case(
        id="a test that raises", rule="S6.1", flow=partial(odd_test, lambda x: 1 // (2 - x) < 0),
        status="failed", runs={"step": 2}, failures=(("up", "ZeroDivisionError", "division"),),
        events=exited("failed", 2), states={"up": "failed", "ident": "not_run"},
    ),
    Case(
        id="a test that gives no bool", rule="S16.3", flow=partial(odd_test, lambda x: x), status="failed",
        runs={"step": 1}, states={"up": "failed"},
        failures=(("up", "NodeFailed", "DF0812 up:"),),
    ),
    *(
        Case(
            id=f"the error port of a loop: {fault}", rule="S9.3", flow=partial(handled_loop, fault),
            outputs={"told": text, "instead": "none"}, states={"up": "failed", "told": "done", **inner},
            events=exited("failed", rounds),
        )
        for fault, text, rounds, inner in HANDLED_LOOPS
    ),
    Case(
        id="a failure in a round", rule="S6.4", flow=partial(fails_in_round, 2), status="failed",
        outputs={"aside": 1}, runs={"fails": 1, "step": 3, "src": 1},
        failures=(("up[2]/fails", "ValueError", "bad 2"),),
        states={
            "up": "failed", "inc": "not_run", "up[1]/fails": "skipped", "up[2]/fails": "failed",
            "src": "done",
        },
        why={"inc": ("up[2]/fails failed: ValueError: bad 2",)}, events=exited("failed", 3),
    ),
)  # fmt: skip
