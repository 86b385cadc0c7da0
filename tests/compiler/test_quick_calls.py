"""Which firings are plain calls, and which calls get a value without inspection (S2.4)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dataflow import Flow, Node, each, fallback, gather, merge, node, race, threaded
from dataflow.compiler.plan import ScopePlan
from tests.support import quick_nodes as q

Wire = Callable[[Flow], object]


def placed(function: Any, *values: object, **inputs: object) -> Wire:
    return lambda f: f.add(_named(function), *values, **inputs)


def _named(function: Any) -> Any:
    return (function if isinstance(function, Node) else node(function)).with_(name="it")


def behind(function: Any, **more: Any) -> Wire:
    return lambda f: f.add(_named(function), x=f.add(q.anything, x=1).out, **more)


def behind_a_signal(f: Flow) -> None:
    f.after(f.add(_named(q.inc), x=1), f.add(q.one).done)


def behind_several_edges(f: Flow) -> None:
    parted = f.when(f.input("x", int), lambda x: x > 1)
    f.add(_named(q.inc), x=f.add(q.inc, x=parted.yes).out)
    f.add(node(q.inc).with_(name="other"), x=parted.no)
    f.connect("other.out", "it.x")


QUICK: dict[str, Wire] = {
    "no parameter": placed(q.one),
    "one": placed(q.inc, x=1),
    "two": placed(q.add, x=1, y=2),
    "a default": placed(q.defaulted, x=1),
    "a config that comes first": placed(q.configured, x=1),
    "nothing but *args": placed(q.listed, 1, 2),
    "*args behind another": placed(q.listed_with, 1, 2, 3),
    "a port that may be left out": placed(q.may, x=1),
    "a port that takes failures": placed(q.told, failure=1),
    "a bound method": placed(q.Adder(2).add, x=1),
    "a coroutine function around another": placed(q.awaiting(q.inc), x=1),
    "a failure that is handled": placed(node(q.inc).with_(on_error="skip"), x=1),
    "a default for a failure": placed(node(q.inc).with_(default=1), x=1),
    "a function that runs in a thread": placed(threaded(q.plain), x=1),
    "a limit": placed(node(q.inc).with_(limit=1), x=1),
    "a value of any type for any type": behind(q.anything),
}
SLOW: dict[str, Wire] = {
    "a parameter by keyword": placed(q.by_keyword, x=1),
    "retries": placed(node(q.inc).with_(retries=2), x=1),
    "a timeout": placed(node(q.inc).with_(timeout=1), x=1),
    "a deadline": placed(node(q.inc).with_(deadline=1), x=1),
    "a result with fields": placed(q.fields, x=1),
    "a result with keys": placed(q.keys, x=1),
    "pieces": placed(q.pieces, x=1),
    "ports of its config": placed(q.ports, x=1),
    "a raw node": placed(q.raw, x=1),
    "a partial": placed(partial(q.inc), x=1),
    "an object that is called": placed(q.Adder(2), x=1),
    "a method that is no coroutine function": placed(q.Adder(2).add_plainly, x=1),
    "a value of any type for a type": behind(q.inc),
    "a signal port": lambda f: f.add(_named(q.ordered), x=1, first=f.add(q.one).done),
    "a wait for a signal": behind_a_signal,
    "several edges": behind_several_edges,
    "a branch": lambda f: f.when(1, lambda x: x > 1, name="it"),
}


ENDS: dict[str, Wire] = {
    "a memo": placed(node(q.inc).with_(memo="run"), x=1),
    **{
        kind: SLOW[kind]
        for kind in (
            "a parameter by keyword", "retries", "a timeout", "a deadline", "a partial", "a signal port",
            "an object that is called", "a method that is no coroutine function", "a wait for a signal",
            "a value of any type for a type", "several edges",
        )
    },
}  # fmt: skip
INSPECTED: dict[str, Wire] = {
    "an effect": placed(node(q.inc).with_(effect=True), x=1),
    "a cutoff": placed(node(q.inc).with_(cutoff=lambda old, new: old == new), x=1),
    **{kind: wire for kind, wire in SLOW.items() if kind not in ENDS},
}


def test_calls_that_only_create_a_coroutine_are_quick() -> None:
    quick = {}
    for kind, wire in (QUICK | SLOW).items():
        plan = q.plan_of(wire)
        quick[kind] = plan.quick[q.node_in(plan, "it").index] is not None
    assert quick == dict.fromkeys(QUICK, True) | dict.fromkeys(SLOW, False)


def test_the_returned_value_of_most_nodes_is_the_value_of_the_only_port() -> None:
    ends = {}
    for kind, wire in (QUICK | ENDS | INSPECTED).items():
        plan = q.plan_of(wire)
        ends[kind] = plan.ends[q.node_in(plan, "it").index] is not None
    assert ends == dict.fromkeys(QUICK | ENDS, True) | dict.fromkeys(INSPECTED, False)


def arguments(plan: ScopePlan, id: str, values: dict[str, object]) -> list[object]:
    slots = list(plan.initial)
    for name, value in values.items():
        slots[q.node_in(plan, name).outputs["out"]] = value
    quick = q.quick_of(plan, id)
    assert quick.take is not None
    return list(quick.take(slots))


def readers(f: Flow, shared: str) -> None:
    """Wire a node that reads x and y in an item; those of the root are kept, and so have another holder."""
    item = each([1])
    x, y = f.add(node(q.anything).with_(name="x"), x=item), f.add(node(q.anything).with_(name="y"), x=item)
    for name, port in (("x", x.out), ("y", y.out)):
        if name in shared:
            f.add(node(q.anything).with_(name=f"other_{name}"), x=port)
    f.add(q.pair, x=x.out, y=y.out)


def test_only_values_with_other_readers_are_copied() -> None:
    for shared in ("", "x", "y", "xy"):
        given: dict[str, object] = {"x": [1], "y": [2]}
        taken = arguments(q.body_of(q.plan_of(partial(readers, shared=shared))), "pair", given)
        assert taken == [[1], [2]]
        are_copies = [value is not given[name] for name, value in zip("xy", taken, strict=True)]
        assert are_copies == [name in shared for name in "xy"]


def fanned_out(f: Flow) -> Any:
    source = f.add(q.one)
    f.add(q.inc, x=source.out)
    f.add(q.by_keyword, x=source.out)
    return source


INSPECTED_READS: dict[str, Callable[[Flow, Any], object]] = {
    "a merge": lambda f, port: f.output("o", merge(port, 1)),
    "a fallback": lambda f, port: f.output("o", fallback(port, 1)),
    "a gather": lambda f, port: f.output("o", gather(port, 1)),
    "a race": lambda f, port: f.output("o", race(port, f.add(q.one).out)),
    "a map over it": lambda f, port: f.add(q.inc, x=each(gather(port))),
    "a map that reads it": lambda f, port: f.add(q.add, x=each([1]), y=port),
    "a loop that begins with it": lambda f, port: carried(f, port, 1),
    "a loop that reads it": lambda f, port: carried(f, 0, port),
    "a flow node": lambda f, port: f.add(q.nested, x=port),
    "a lazy port": lambda f, port: f.add(q.lazily, x=1, extra=port),
    "a reader that has a lazy port": lambda f, port: f.add(q.lazily, x=port, extra=f.add(q.may, x=1).out),
}


def carried(f: Flow, first: Any, constant: Any) -> None:
    with f.loop(limit=2) as it:
        v = it.carry(first)
        v.next(f.add(q.add, x=v.out, y=constant).out)


def test_values_with_other_readers_than_calls_are_inspected() -> None:
    found = {}
    for kind, read in INSPECTED_READS.items():
        found[kind] = q.calls_of(q.plan_of(partial(lambda read, f: read(f, fanned_out(f).out), read)), "one")
    assert found == dict.fromkeys(INSPECTED_READS)


def test_a_node_with_another_port_that_is_read_has_no_single_slot() -> None:
    wires: list[Wire] = [
        lambda f: f.output("o", f.add(q.inc, x=1).done),
        lambda f: f.output("o", f.add(q.inc, x=1).error),
    ]
    for wire in wires:
        plan = q.plan_of(wire)
        assert plan.ends[q.node_in(plan, "inc").index] is None


def test_all_values_are_inspected_where_nodes_may_be_withdrawn_or_never_needed() -> None:
    for kind in ("a race", "a lazy port"):
        read = INSPECTED_READS[kind]
        plan = q.plan_of(partial(lambda read, f: read(f, f.add(q.one).out), read))
        assert set(plan.ends) == {None}
