"""Which firings come to no more than a call, and which calls a value may be given without more ado (S2.4)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from dataflow import Flow, Node, collect, each, fallback, gather, merge, node, race, threaded
from dataflow.compiler.plan import QuickCall, ScopePlan
from tests.support.quick_nodes import (
    Adder,
    add,
    anything,
    awaiting,
    body_of,
    by_keyword,
    calls_of,
    configured,
    defaulted,
    end_of,
    fields,
    inc,
    is_big,
    keys,
    lazily,
    listed,
    listed_with,
    may,
    nested,
    node_in,
    one,
    ordered,
    pair,
    pieces,
    plain,
    plan_of,
    ports,
    quick_of,
    raw,
    told,
)

# what a firing comes to

Wire = Callable[[Flow], object]


def placed(function: Any, *values: object, **inputs: object) -> Wire:
    """Place one node, named it."""
    return lambda f: f.add(_named(function), *values, **inputs)


def _named(function: Any) -> Any:
    return (function if isinstance(function, Node) else node(function)).with_(name="it")


def behind(function: Any, **more: Any) -> Wire:
    """Place a node, named it, behind one that gives anything."""
    return lambda f: f.add(_named(function), x=f.add(anything, x=1).out, **more)


def behind_a_signal(f: Flow) -> None:
    f.after(f.add(_named(inc), x=1), f.add(one).done)


QUICK: dict[str, Wire] = {
    "no parameter": placed(one),
    "one": placed(inc, x=1),
    "two": placed(add, x=1, y=2),
    "a default": placed(defaulted, x=1),
    "a config that comes first": placed(configured, x=1),
    "nothing but *args": placed(listed, 1, 2),
    "*args behind another": placed(listed_with, 1, 2, 3),
    "a port that may be left out": placed(may, x=1),
    "a port that takes failures": placed(told, failure=1),
    "a bound method": placed(Adder(2).add, x=1),
    "a coroutine function around another": placed(awaiting(inc), x=1),
    "a failure that is handled": placed(node(inc).with_(on_error="skip"), x=1),
    "a default for a failure": placed(node(inc).with_(default=1), x=1),
    "a function that runs in a thread": placed(threaded(plain), x=1),
    "a limit": placed(node(inc).with_(limit=1), x=1),
    "a value of any type for any type": behind(anything),
}
SLOW: dict[str, Wire] = {
    "a parameter by keyword": placed(by_keyword, x=1),
    "retries": placed(node(inc).with_(retries=2), x=1),
    "a timeout": placed(node(inc).with_(timeout=1), x=1),
    "a deadline": placed(node(inc).with_(deadline=1), x=1),
    "a result with fields": placed(fields, x=1),
    "a result with keys": placed(keys, x=1),
    "pieces": placed(pieces, x=1),
    "ports of its config": placed(ports, x=1),
    "a raw node": placed(raw, x=1),
    "a partial": placed(functools.partial(inc), x=1),
    "an object that is called": placed(Adder(2), x=1),
    "a method that is no coroutine function": placed(Adder(2).add_plainly, x=1),
    "a value of any type for a type": behind(inc),
    "a signal port": lambda f: f.add(_named(ordered), x=1, first=f.add(one).done),
    "a wait for a signal": behind_a_signal,
}


@pytest.mark.parametrize("wire", QUICK.values(), ids=QUICK)
def test_a_call_that_only_makes_a_coroutine_of_what_stands_in_slots_is_quick(wire: Wire) -> None:
    plan = plan_of(wire)
    assert plan.quick[node_in(plan, "it").index] is not None


@pytest.mark.parametrize("wire", SLOW.values(), ids=SLOW)
def test_a_call_that_takes_more_is_not_quick(wire: Wire) -> None:
    plan = plan_of(wire)
    assert plan.quick[node_in(plan, "it").index] is None


ENDS: dict[str, Wire] = {
    "a memo": placed(node(inc).with_(memo="run"), x=1),
    **{
        kind: SLOW[kind]
        for kind in (
            "a parameter by keyword", "retries", "a timeout", "a deadline", "a partial", "a signal port",
            "an object that is called", "a method that is no coroutine function", "a wait for a signal",
            "a value of any type for a type",
        )
    },
}  # fmt: skip
LOOKED_AT_IN_THE_END: dict[str, Wire] = {
    "an effect": placed(node(inc).with_(effect=True), x=1),
    "a cutoff": placed(node(inc).with_(cutoff=lambda old, new: old == new), x=1),
    **{kind: wire for kind, wire in SLOW.items() if kind not in ENDS},
}


@pytest.mark.parametrize("wire", [*QUICK.values(), *ENDS.values()], ids=[*QUICK, *ENDS])
def test_what_a_call_returns_is_the_value_of_its_one_port(wire: Wire) -> None:
    plan = plan_of(wire)
    assert plan.ends[node_in(plan, "it").index] is not None


@pytest.mark.parametrize("wire", LOOKED_AT_IN_THE_END.values(), ids=LOOKED_AT_IN_THE_END)
def test_what_a_call_returns_is_looked_at(wire: Wire) -> None:
    plan = plan_of(wire)
    assert plan.ends[node_in(plan, "it").index] is None


def test_several_edges_on_one_port_are_looked_at() -> None:
    def wire(f: Flow) -> None:
        parted = f.when(f.input("x", int), lambda x: x > 1)
        f.add(_named(inc), x=f.add(inc, x=parted.yes).out)
        f.add(node(inc).with_(name="other"), x=parted.no)
        f.connect("other.out", "it.x")

    plan = plan_of(wire)
    assert plan.quick[node_in(plan, "it").index] is None


def test_a_branch_is_looked_at() -> None:
    plan = plan_of(lambda f: f.when(1, lambda x: x > 1))
    assert (plan.quick, plan.ends) == ([None], [None])


def test_nodes_in_a_loop_and_in_a_map_are_quick_as_any_other() -> None:
    for wire in (looped, mapped):
        assert isinstance(quick_of(body_of(plan_of(wire)), "inc"), QuickCall)
    assert end_of(body_of(plan_of(looped)), "inc").calls == ()
    assert end_of(body_of(plan_of(mapped)), "inc").is_collected


def looped(f: Flow) -> None:
    with f.loop(limit=2) as it:
        v = it.carry(0)
        v.next(f.add(inc, x=v.out).out)


def mapped(f: Flow) -> None:
    f.output("o", collect(f.add(inc, x=each(f.input("xs", list[int]))).out))


# what it takes its arguments out of


def test_one_argument_is_named_by_its_slot() -> None:
    plan = plan_of(lambda f: f.add(inc, x=f.add(one).out))
    quick = quick_of(plan, "inc")
    assert (quick.take, quick.slot) == (None, node_in(plan, "one").outputs["out"])


def arguments(plan: ScopePlan, id: str, values: dict[str, object]) -> list[object]:
    """Return what a node is called with, if these nodes gave these values."""
    slots = list(plan.initial)
    for name, value in values.items():
        slots[node_in(plan, name).outputs["out"]] = value
    quick = quick_of(plan, id)
    assert quick.take is not None
    return list(quick.take(slots))


def test_no_argument_is_taken_for_no_parameter() -> None:
    assert arguments(plan_of(lambda f: f.add(one)), "one", {}) == []


def test_arguments_are_taken_in_the_order_of_the_parameters() -> None:
    plan = plan_of(lambda f: f.add(add, y=f.add(one).out, x=f.add(inc, x=1).out))
    assert arguments(plan, "add", {"inc": "x", "one": "y"}) == ["x", "y"]


def readers(f: Flow, shared: str) -> None:
    """Wire a node that reads x and y in an item; those of the root are kept, and so have another holder."""
    item = each([1])
    x, y = f.add(node(anything).with_(name="x"), x=item), f.add(node(anything).with_(name="y"), x=item)
    for name, port in (("x", x.out), ("y", y.out)):
        if name in shared:
            f.add(node(anything).with_(name=f"other_{name}"), x=port)
    f.add(pair, x=x.out, y=y.out)


@pytest.mark.parametrize("shared", ["", "x", "y", "xy"])
def test_what_others_read_too_is_given_as_a_copy_and_only_that(shared: str) -> None:
    given: dict[str, object] = {"x": [1], "y": [2]}
    taken = arguments(body_of(plan_of(lambda f: readers(f, shared))), "pair", given)
    assert taken == [[1], [2]]
    are_copies = [value is not given[name] for name, value in zip("xy", taken, strict=True)]
    assert are_copies == [name in shared for name in "xy"]


def test_one_argument_is_marked_if_others_read_it_too() -> None:
    body = body_of(plan_of(lambda f: readers(f, "x")))
    assert quick_of(body, "other_x").is_shared


def test_one_argument_that_nobody_else_reads_is_not_marked() -> None:
    def wire(f: Flow) -> None:
        f.add(anything, x=f.add(inc, x=each(f.input("xs", list[int]))).out)

    assert not quick_of(body_of(plan_of(wire)), "anything").is_shared


# whom its value is told


def fanned_out(f: Flow) -> Any:
    source = f.add(one)
    f.add(inc, x=source.out)
    f.add(by_keyword, x=source.out)
    return source


def test_calls_are_given_a_value_without_more_ado() -> None:
    assert calls_of(plan_of(fanned_out), "one") == ["inc", "by_keyword"]


LOOKED_AT: dict[str, Callable[[Flow, Any], object]] = {
    "a merge": lambda f, port: f.output("o", merge(port, 1)),
    "a fallback": lambda f, port: f.output("o", fallback(port, 1)),
    "a gather": lambda f, port: f.output("o", gather(port, 1)),
    "a race": lambda f, port: f.output("o", race(port, f.add(one).out)),
    "a map over it": lambda f, port: f.add(inc, x=each(gather(port))),
    "a map that reads it": lambda f, port: f.add(add, x=each([1]), y=port),
    "a loop that begins with it": lambda f, port: carried(f, port, 1),
    "a loop that reads it": lambda f, port: carried(f, 0, port),
    "a flow node": lambda f, port: f.add(nested, x=port),
    "a lazy port": lambda f, port: f.add(lazily, x=1, extra=port),
    "a reader that has a lazy port": lambda f, port: f.add(lazily, x=port, extra=f.add(may, x=1).out),
}


def carried(f: Flow, first: Any, constant: Any) -> None:
    with f.loop(limit=2) as it:
        v = it.carry(first)
        v.next(f.add(add, x=v.out, y=constant).out)


@pytest.mark.parametrize("read", LOOKED_AT.values(), ids=LOOKED_AT)
def test_a_value_that_others_than_calls_hear_of_is_looked_at(read: Callable[[Flow, Any], object]) -> None:
    assert calls_of(plan_of(lambda f: read(f, fanned_out(f).out)), "one") is None


def test_the_test_of_a_loop_is_looked_at() -> None:
    def wire(f: Flow) -> None:
        with f.loop(limit=2) as it:
            v = it.carry(0)
            up = f.add(inc, x=v.out)
            it.until(f.add(is_big, x=up.out).out, bool)
            v.next(up.out)

    assert calls_of(body_of(plan_of(wire)), "is_big") is None


def test_a_value_that_a_map_collects_alone_is_told_it_alone() -> None:
    end = end_of(body_of(plan_of(mapped)), "inc")
    assert (end.is_collected, end.calls) == (True, None)


def test_a_value_that_a_map_collects_and_another_reads_is_looked_at() -> None:
    def wire(f: Flow) -> None:
        first = f.add(inc, x=each(f.input("xs", list[int])))
        f.output("o", collect(first.out))
        f.output("p", collect(f.add(inc, x=first.out).out))

    end = end_of(body_of(plan_of(wire)), "inc")
    assert (end.is_collected, end.calls) == (False, None)


@pytest.mark.parametrize("port", ["done", "error"])
def test_a_node_of_which_another_port_is_read_has_no_one_slot(port: str) -> None:
    def wire(f: Flow) -> None:
        f.output("o", getattr(f.add(inc, x=1), port))

    plan = plan_of(wire)
    assert plan.ends[node_in(plan, "inc").index] is None


@pytest.mark.parametrize("kind", ["a race", "a lazy port"])
def test_where_nodes_may_be_withdrawn_or_never_asked_for_no_value_goes_its_own_way(kind: str) -> None:
    plan = plan_of(lambda f: LOOKED_AT[kind](f, f.add(one).out))
    assert set(plan.ends) == {None}
