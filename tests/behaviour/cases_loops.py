"""Rows: loops, what leaves them, and how they end (S6.1, S6.2, S6.4)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal

from dataflow import Failure, Flow, fallback, merge
from tests.behaviour.nodes import add, counted, defaulted_pair, fails, ident, inc, nothing, small, src, total
from tests.behaviour.table import Case, wired


@counted
async def step(v: int) -> int:
    return v + 1


@counted
async def grade(v: int) -> int:
    return v


def counting(
    start: int, leave: int, limit: int | None = 100, on_limit: Literal["exit", "fail"] = "exit"
) -> Flow:
    with Flow("B07") as f:
        with f.loop(name="up", limit=limit, on_limit=on_limit) as it:
            v = it.carry(start)
            stepped = f.add(step, v=v.out)
            it.until(stepped.out, lambda x: x >= leave)
            v.next(stepped.out)
        f.output("out", it.result(stepped.out))
        f.output("final", v.final)
    return f


@wired
def while_below(f: Flow, start: int, bound: int, limit: int | None = 100) -> None:
    with f.loop(name="up", limit=limit) as it:
        v = it.carry(start)
        it.while_(v.out, lambda x: x < bound)
        stepped = f.add(step, v=v.out)
        v.next(stepped.out)
    f.output("out", it.result(stepped.out))
    f.output("final", v.final)


@wired
def next_only(f: Flow, kind: Literal["until", "while"]) -> None:
    with f.loop(name="up", limit=10) as it:
        v = it.carry(0)
        graded = f.add(grade, v=v.out)
        if kind == "until":
            it.until(graded.out, lambda x: x >= 2)
        else:
            it.while_(v.out, lambda x: x < 3)
        f.add(src, x=graded.out)
        v.next(f.add(step, v=f.add(ident, x=graded.out).out).out)
    f.output("out", it.result(graded.out))


@wired
def last_live(f: Flow, *, ever: bool) -> None:
    with f.loop(name="up", limit=10) as it:
        v = it.carry(0)
        w = f.when(v.out, lambda x: ever and x in {0, 2})
        it.until(v.out, lambda x: x >= 3)
        v.next(f.add(step, v=v.out).out)
    f.output("out", f.add(ident, x=it.result(w.yes)).out)
    f.output("joined", it.result(merge(w.yes, w.no)))


def exited(reason: str, rounds: int) -> tuple[tuple[str, str, dict[str, Any]], ...]:
    begun = (("loop_round", "up", {"round": number}) for number in range(rounds))
    return (*begun, ("loop_exited", "up", {"reason": reason, "iterations": rounds}))


AT_LIMIT: Final = "DF0834 up: ended at its limit of {} round"

LOOPS: Final = (
    *(Case(id=f"B07{letter}", rule="S6.2", flow=partial(counting, 0, 100, limit),
            outputs={"out": limit, "final": limit - 1}, runs={"step": limit},
            warnings=(AT_LIMIT.format(limit),), events=exited("max_iterations", limit), others="done")
        for letter, limit in (("a", 1), ("b", 3))),
    Case(id="B07c", rule="S6.1", flow=partial(counting, 0, 3, 10), outputs={"out": 3, "final": 2},
        runs={"step": 3}, events=exited("condition", 3), others="done"),
    Case(id="B07f", rule="S6.2", flow=partial(counting, 0, 100, 3, "fail"), status="failed", runs={"step": 3},
        failures=(("up", "LoopLimit", "DF0803 up:"),), states={"up": "failed"}, events=exited("failed", 3)),
    Case(id="B07g", rule="S6.2", flow=partial(counting, 0, 250, None), outputs={"out": 250, "final": 249},
        runs={"step": 250}, events=exited("condition", 250)),
    Case(id="the default limit is 100", rule="S6.2", flow=partial(counting, 0, 250),
        outputs={"out": 100, "final": 99}, runs={"step": 100}, warnings=(AT_LIMIT.format(100),),
        events=exited("max_iterations", 100)),
    Case(id="the test comes before the limit", rule="S6.1", flow=partial(counting, 0, 3, 3, "fail"),
        outputs={"out": 3, "final": 2}, runs={"step": 3}, events=exited("condition", 3)),
    Case(id="while", rule="S6.1", flow=partial(while_below, 0, 3), outputs={"out": 3, "final": 3},
        runs={"step": 3}, events=exited("condition", 3), others="done"),
    Case(id="while without a round", rule="S6.1", flow=partial(while_below, 9, 3), outputs={"final": 9},
        runs={}, why={"up.step": ("up: no round brought a value",)}, events=exited("condition", 0),
        others="done"),
    Case(id="until, what only next values need does not run in the last round", rule="S6.1",
        flow=partial(next_only, "until"), outputs={"out": 2},
        runs={"grade": 3, "src": 3, "step": 2, "ident": 2},
        states={"up[2]/step": "not_run", "up[2]/ident": "not_run"}, others="done",
        why={"up[2]/ident": ("no further round follows",)}),
    Case(id="while, next values are computed in every round", rule="S6.1", flow=partial(next_only, "while"),
        outputs={"out": 2}, runs={"grade": 3, "src": 3, "step": 3, "ident": 3}, others="done"),
    Case(id="a result is the last live value", rule="S6.1", flow=partial(last_live, ever=True),
        outputs={"out": 2, "joined": 3}, runs={"step": 3, "ident": 1}),
    Case(id="a result that is never live", rule="S6.1", flow=partial(last_live, ever=False),
        outputs={"joined": 3}, runs={"step": 3}, states={"ident": "skipped"},
        why={"ident": ("ident: port 'x'", "up: no round brought a value", "up[3]/when: exit 'yes' not")}),
)  # fmt: skip


Nested = Literal["all of results", "result of alls", "all of alls"]


@wired
def what_leaves(f: Flow, kind: Literal["until", "while"], leave: int) -> None:
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


@wired
def some_rounds_without(f: Flow) -> None:
    with f.loop(name="up", limit=10) as it:
        v = it.carry(0)
        w = f.when(v.out, lambda x: x in {0, 2})
        it.until(v.out, lambda x: x >= 3)
        v.next(f.add(step, v=v.out).out)
        never = f.add(nothing)
    f.output("yes", it.all(w.yes))
    f.output("never", it.all(never.out))
    f.output("joined", it.all(merge(w.yes, w.no)))


@wired
def loop_in_loop(f: Flow, how: Nested) -> None:
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


def an_error_from_outside(reader: Literal["node", "constant"]) -> Flow:
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
    Case(id="all, result and final, until", rule="S6.4", flow=partial(what_leaves, "until", 3),
        outputs={"result": 3, "final": 2, "all": [1, 2, 3], "begun": [0, 1, 2], "sum": 6},
        runs={"step": 3, "total": 1}, events=exited("condition", 3), others="done"),
    Case(id="all, result and final, while", rule="S6.4", flow=partial(what_leaves, "while", 3),
        outputs={"result": 3, "final": 3, "all": [1, 2, 3], "begun": [0, 1, 2], "sum": 6},
        runs={"step": 3, "total": 1}, events=exited("condition", 3), others="done"),
    Case(id="all, result and final, at the limit", rule="S6.4", flow=partial(what_leaves, "while", 99),
        outputs={"result": 10, "final": 10, "all": list(range(1, 11)), "begun": list(range(10)), "sum": 55},
        warnings=(AT_LIMIT.format(10),)),
    Case(id="all, result and final, if no round ran", rule="S6.4", flow=partial(what_leaves, "while", 0),
        outputs={"final": 0, "all": [], "begun": [], "sum": 0}, runs={"total": 1},
        why={"up.step": ("up: no round brought a value",)}, others="done"),
    Case(id="all leaves out rounds without a value", rule="S6.4", flow=some_rounds_without,
        outputs={"yes": [0, 2], "never": [], "joined": [0, 1, 2, 3]}, runs={"step": 3, "nothing": 4}),
    *(Case(id=f"nested loops: {how}", rule="S6.5", flow=partial(loop_in_loop, how), outputs={"o": outputs},
            runs={"inc": 6, "add": 3})
        for how, outputs in NESTED_LISTS),
    *(Case(id=f"an error from outside makes all of it an error: {reader}", rule="S6.4",
            flow=partial(an_error_from_outside, reader), status="failed", outputs={"good": [1, 2]},
            runs={"fails": 1, "step": 2}, failures=(("fails", "ValueError", "bad 1"),),
            states={"up": "done", "total": "not_run"}, why={"total": ("fails failed: ValueError: bad 1",)})
        for reader in READERS),
)  # fmt: skip


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


@wired
def skipping(f: Flow, limit: int) -> None:
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


@wired
def exhausted(f: Flow) -> None:
    with f.loop(name="up", limit=10) as it:
        v = it.carry(0)
        little = f.add(small, x=v.out)
        it.until(little.out, lambda _: False)
        v.next(f.add(inc, x=v.out).out)
    f.output("little", it.result(little.out))
    f.output("v", v.final)


@wired
def first_value_dead(f: Flow, *, beside: bool) -> None:
    dead = f.add(nothing)
    with f.loop(name="up") as it:
        v, w = it.carry(dead.out), it.carry(1 if beside else dead.out)
        shown = f.add(defaulted_pair, x=v.out, y=w.out)
        it.until(shown.out, lambda _: True)
        v.next(v.out)
        w.next(w.out)
    f.output("shown", it.result(shown.out))
    f.output("v", v.final)


@wired
def odd_test(f: Flow, predicate: Callable[[Any], Any]) -> None:
    with f.loop(name="up", limit=10) as it:
        v = it.carry(0)
        stepped = f.add(step, v=v.out)
        it.until(stepped.out, predicate)
        v.next(stepped.out)
    f.output("out", f.add(ident, x=it.result(stepped.out)).out)


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


@wired
def odd_while(f: Flow, predicate: Callable[[Any], Any]) -> None:
    with f.loop(name="up", limit=10) as it:
        v = it.carry(0)
        it.while_(v.out, predicate)
        v.next(f.add(step, v=v.out).out)
    f.output("v", v.final)


HANDLED_LOOPS: Final[tuple[tuple[Literal["node", "test", "limit"], str, int, dict[str, str]], ...]] = (
    ("node", "up[0]/fails ValueError", 1, {"up[0]/fails": "failed"}),
    ("test", "up ZeroDivisionError", 1, {"up[0]/ident": "not_run"}),
    ("limit", "up LoopLimit", 2, {"up[0]/ident": "done", "up[1]/ident": "not_run"}),
)

LOOP_ENDS: Final = (
    *(Case(id=f"an outer error in a loop: {reader}", rule="S4.2", flow=partial(outer_error, reader),
            status="failed", outputs=outputs, runs=runs, states={"up": state, "ident": "not_run"},
            failures=(("fails", "ValueError", "bad 1"),), why={"ident": ("fails failed: ValueError: bad 1",)})
        for reader, state, outputs, runs in (("result", "done", {"good": 2}, {"fails": 1, "step": 2}),
            ("final", "done", {"good": 2}, {"fails": 1, "step": 2}),
            ("until", "failed", {}, {"fails": 1, "step": 1}),
            ("while", "failed", {}, {"fails": 1, "step": 1}), ("first", "not_run", {}, {"fails": 1}))),
    Case(id="a carried port becomes a skip", rule="S6.1", flow=partial(skipping, 5),
        outputs={"shown": ["dflt", 7], "little": 1, "w": 7}, runs={"small": 3, "inc": 2, "defaulted_pair": 5},
        states={"up[2]/small": "done", "up[2]/inc": "skipped", "up[3]/small": "skipped",
            "up[3]/inc": "skipped", "up[4]/small": "skipped", "up[4]/inc": "not_run"}, others="done",
        why={"up.carry": ("up[3]/inc: port 'x'", "up[3]/small: port 'x'", "up[2]/inc: port 'x'",
                "port 'out' not emitted")}, warnings=(AT_LIMIT.format(5),)),
    Case(id="a test that is a skip", rule="S6.1", flow=exhausted, outputs={"little": 1, "v": 2},
        runs={"small": 3, "inc": 2}, events=exited("exhausted", 3), states={"up[2]/inc": "not_run"},
        others="done"),
    Case(id="a while test that raises", rule="S6.1", flow=partial(odd_while, lambda x: 1 // (2 - x) >= 0),
        status="failed", runs={"step": 2}, failures=(("up", "ZeroDivisionError", "division"),),
        events=exited("failed", 2), states={"up": "failed"}),
    Case(id="a first value that is a skip", rule="S6.1", flow=partial(first_value_dead, beside=True),
        outputs={"shown": ["dflt", 1]}, runs={"nothing": 1, "defaulted_pair": 1},
        why={"up.carry": ("nothing: port 'out' not emitted",)}, events=exited("condition", 1)),
    Case(id="first values that are all skips", rule="S2.4", flow=partial(first_value_dead, beside=False),
        runs={"nothing": 1}, states={"up": "skipped"}, others="done",
        why={"up.defaulted_pair": ("up: port", "nothing: port 'out' not emitted"),
            "up.carry": ("up: port", "nothing:")}),
    Case(id="a test that raises", rule="S6.1", flow=partial(odd_test, lambda x: 1 // (2 - x) < 0),
        status="failed", runs={"step": 2}, failures=(("up", "ZeroDivisionError", "division"),),
        events=exited("failed", 2), states={"up": "failed", "ident": "not_run"}),
    Case(id="a test that gives no bool", rule="S16.3", flow=partial(odd_test, lambda x: x), status="failed",
        runs={"step": 1}, states={"up": "failed"}, failures=(("up", "NodeFailed", "DF0812 up:"),)),
    *(Case(id=f"the error port of a loop: {fault}", rule="S9.3", flow=partial(handled_loop, fault),
            outputs={"told": text, "instead": "none"}, states={"up": "failed", "told": "done", **inner},
            events=exited("failed", rounds))
        for fault, text, rounds, inner in HANDLED_LOOPS),
    Case(id="a failure in a round", rule="S6.4", flow=partial(fails_in_round, 2), status="failed",
        outputs={"aside": 1}, runs={"fails": 1, "step": 3, "src": 1},
        failures=(("up[2]/fails", "ValueError", "bad 2"),),
        states={"up": "failed", "inc": "not_run", "up[1]/fails": "skipped", "up[2]/fails": "failed",
            "src": "done"}, why={"inc": ("up[2]/fails failed: ValueError: bad 2",)},
        events=exited("failed", 3)),
)  # fmt: skip
