"""Rows: loops and maps inside each other, with limits, tests and skips in each round (S6, S7.1)."""

from __future__ import annotations

from functools import partial
from typing import Final, Literal

from dataflow import Flow, collect, each
from tests.behaviour.nodes import add, fails_on_odd, inc, small, src, total
from tests.behaviour.table import Case, wired


@wired
def loop_in_loop(f: Flow) -> None:
    with f.loop(name="outer") as outer:
        rounds, value = outer.carry(0), outer.carry(0)
        with f.loop(name="inner") as inner:
            done, v = inner.carry(0), inner.carry(value.out)
            stepped = f.add(inc, x=v.out)
            counted = f.add(inc, x=done.out)
            inner.until(counted.out, lambda n: n == 3)
            done.next(counted.out)
            v.next(stepped.out)
        ended = f.add(inc, x=rounds.out)
        outer.until(ended.out, lambda n: n == 3)
        rounds.next(ended.out)
        value.next(inner.result(stepped.out))
    f.output("out", outer.result(inner.result(stepped.out)))
    f.output("inner", outer.result(inner.result(counted.out)))


@wired
def loop_in_map(f: Flow, kind: Literal["until", "while"]) -> None:
    item = each(f.input("xs", list[int]))
    with f.loop(name="up") as it:
        v = it.carry(item)
        stepped = f.add(inc, x=v.out)
        if kind == "until":
            it.until(stepped.out, lambda x: x >= 3)
        else:
            it.while_(v.out, lambda x: x < 3)
        v.next(stepped.out)
    f.output("out", collect(it.result(stepped.out)))
    f.output("final", collect(v.final))
    f.output("more", collect(f.add(src, x=v.final).out))


@wired
def map_in_loop(f: Flow) -> None:
    step = f.input("step", int)
    with f.loop(name="up") as it:
        xs = it.carry(f.input("xs", list[int]))
        raised = f.add(add, x=each(xs.out), y=step)
        values = collect(raised.out)
        size = f.add(total, xs=values)
        it.until(size.out, lambda n: n >= 10)
        xs.next(values)
    f.output("xs", it.result(values))
    f.output("size", it.result(size.out))


@wired
def an_outer_value_that_only_next_values_need(f: Flow) -> None:
    x = f.input("x", int)
    with f.loop(name="up", limit=1) as it:
        v, w = it.carry(x), it.carry(0)
        taken = f.when(x, lambda _: True)
        it.until(taken.yes, lambda _: True)
        v.next(v.out)
        w.next(f.add(inc, x=x).out)
    f.output("w", w.final)


def a_failing_map_in_a_loop() -> Flow:
    with Flow() as f:
        with f.loop(name="up", limit=5) as it:
            xs = it.carry(f.input("xs", list[int]))
            passed = f.add(fails_on_odd, x=each(xs.out))
            it.until(collect(passed.out), lambda _: False)
            xs.next(collect(f.add(inc, x=passed.out).out))
        f.output("out", it.result(collect(passed.out)))
    return f.using(errors="continue")


def a_failing_loop_in_a_map() -> Flow:
    with Flow() as f:
        item = each(f.input("xs", list[int]))
        with f.loop(name="up", limit=2, on_limit="fail") as it:
            v = it.carry(item)
            stepped = f.add(inc, x=v.out)
            it.until(stepped.out, lambda x: x >= 3)
            v.next(stepped.out)
        f.output("out", collect(it.result(stepped.out)))
    return f.using(errors="continue")


@wired
def items_read_in_a_loop(f: Flow, by: Literal["body", "next"]) -> None:
    """Read an item in a loop that does not begin with it: it runs once per item all the same."""
    item = f.add(inc, x=each(f.input("xs", list[int])))
    with f.loop(name="up", limit=2) as it:
        v = it.carry(0)
        v.next(f.add(add, x=v.out, y=item.out).out if by == "body" else item.out)
    f.output("o", collect(v.final))


NESTING: Final = (
    Case(id="a loop whose body reads an item", rule="S6.5", flow=partial(items_read_in_a_loop, "body"),
        inputs={"xs": [1, 5]}, outputs={"o": [4, 12]}, runs={"inc": 2, "add": 4}),
    Case(id="a loop in a loop starts afresh in each outer round", rule="S6.5", flow=loop_in_loop,
        outputs={"out": 9, "inner": 3}, runs={"inc": 9, "inc_2": 9, "inc_3": 3},
        states={"outer[0]/inner": "done", "outer[2]/inner[2]/inc": "done"},
        events=(("loop_round", "outer", {"round": 1}), ("loop_round", "outer[1]/inner", {"round": 0}),
            ("loop_round", "outer[1]/inner", {"round": 2}),
            ("loop_exited", "outer[1]/inner", {"reason": "condition", "iterations": 3}))),
    Case(id="a loop in a map, until", rule="S6.5", flow=partial(loop_in_map, "until"),
        inputs={"xs": [0, 7, 2]}, outputs={"out": [3, 8, 3], "final": [2, 7, 2], "more": [2, 7, 2]},
        runs={"inc": 5, "src": 3},
        states={"up": "done", "up[0]": "done", "up[0][2]/inc": "done", "up[1][0]/inc": "done"}, others="done",
        events=(("loop_exited", "up[0]", {"reason": "condition", "iterations": 3}),)),
    Case(id="a loop in a map, while", rule="S6.1", flow=partial(loop_in_map, "while"),
        inputs={"xs": [0, 7, 2]}, outputs={"out": [3, 3], "final": [3, 7, 3], "more": [3, 7, 3]},
        runs={"inc": 4, "src": 3}, others="done", why={"up[1]": ()}),
    Case(id="a loop in a map over nothing", rule="S7.1", flow=partial(loop_in_map, "until"),
        inputs={"xs": []}, outputs={"out": [], "final": [], "more": []}, runs={}),
    Case(id="a map in a loop", rule="S7.1", flow=map_in_loop, inputs={"xs": [0, 1], "step": 3},
        outputs={"xs": [6, 7], "size": 13}, runs={"add": 4, "total": 2},
        states={"up[0]/add[1]": "done", "up[1]/add[0]": "done", "up[1]/total": "done"}, others="done",
        events=(("map_opened", "up[0]/add", {"items": 2}), ("map_opened", "up[1]/add", {"items": 2}))),
    Case(id="an outer value that only next values need", rule="S6.1",
        flow=an_outer_value_that_only_next_values_need, inputs={"x": 1}, outputs={"w": 0}, runs={},
        states={"up[0]/inc": "not_run"}, others="done"),
    Case(id="a map that fails in a loop", rule="S6.4", flow=a_failing_map_in_a_loop, inputs={"xs": [0, 2]},
        status="failed", runs={"fails_on_odd": 4, "inc": 2},
        failures=(("up[1]/fails_on_odd[0]", "ValueError", "odd 1"),
            ("up[1]/fails_on_odd[1]", "ValueError", "odd 3")),
        states={"up": "failed", "up[0]/fails_on_odd": "done", "up[1]/fails_on_odd": "failed"},
        events=(("loop_exited", "up", {"reason": "failed", "iterations": 2}),)),
    Case(id="a loop that fails in a map", rule="S9.4", flow=a_failing_loop_in_a_map, inputs={"xs": [5, 0, 2]},
        status="failed", runs={"inc": 4}, failures=(("up[1]", "LoopLimit", "DF0803"),),
        states={"up": "failed", "up[0]": "done", "up[1]": "failed", "up[2]": "done"}),
)  # fmt: skip


def inner_limit(on_limit: Literal["exit", "fail"]) -> Flow:
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


@wired
def inner_while(f: Flow) -> None:
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


@wired
def inner_first_value_dead(f: Flow) -> None:
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


@wired
def inner_test_raises(f: Flow) -> None:
    with f.loop(name="outer", limit=4) as outer:
        n = outer.carry(0)
        with f.loop(name="inner", limit=2) as inner:
            v = inner.carry(n.out)
            inner.until(v.out, lambda x: 1 // (1 - x) > 5)
            v.next(v.out)
        n.next(f.add(add, x=n.out, y=1).out)
    f.output("o", outer.all(v.final))


NESTED_LOOPS: Final = (
    Case(id="the inner limit is reached in each outer round", rule="S6.5", flow=partial(inner_limit, "exit"),
        outputs={"o": [2, 12, 22]}, runs={"inc": 6, "add": 3},
        warnings=tuple(f"DF0834 outer[{number}]/inner: ended at its limit of 2" for number in range(3)),
        events=tuple(("loop_exited", f"outer[{number}]/inner", {"reason": "max_iterations", "iterations": 2})
            for number in range(3)), others="done"),
    Case(id="the inner limit fails the outer loop", rule="S6.2", flow=partial(inner_limit, "fail"),
        status="failed", failures=(("outer[0]/inner", "LoopLimit", "DF0803 inner:"),),
        states={"outer": "failed", "outer[0]/inner": "failed", "outer[0]/inner[1]/inc": "done"},
        events=(("loop_exited", "outer[0]/inner", {"reason": "failed", "iterations": 2}),
            ("loop_exited", "outer", {"reason": "failed", "iterations": 1}))),
    Case(id="an inner while that allows no round in some outer rounds", rule="S6.5", flow=inner_while,
        outputs={"results": [2, 2], "last": 2, "finals": [2, 2, 2, 3], "alls": [[1, 2], [2], [], []]},
        runs={"inc": 3, "add": 4},
        events=(("loop_exited", "outer[1]/inner", {"reason": "condition", "iterations": 1}),
            ("loop_exited", "outer[2]/inner", {"reason": "condition", "iterations": 0})), others="done"),
    Case(id="an inner loop that is skipped in some outer rounds", rule="S2.4", flow=inner_first_value_dead,
        outputs={"finals": [2, 3], "begun": [[0, 1], [1, 2]], "last": 3},
        runs={"small": 4, "inc": 4, "add": 4},
        states={"outer[2]/inner": "skipped", "outer[3]/inner": "skipped"}, others="done"),
    Case(id="an inner test that raises in the second outer round", rule="S6.1", flow=inner_test_raises,
        status="failed", failures=(("outer[1]/inner", "ZeroDivisionError", "division"),),
        states={"outer": "failed", "outer[0]/inner": "done", "outer[1]/inner": "failed"},
        warnings=("DF0834 outer[0]/inner:",)),
)  # fmt: skip
