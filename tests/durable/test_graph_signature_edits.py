"""Which edits of a flow make a node another one, and by which of its parts (S11.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dataflow import (
    Config,
    Flow,
    collect,
    each,
    fallback,
    merge,
    node,
)  # fmt: skip
from dataflow.durable.graph_signature import FlowShape, NodeShape, shape_of
from tests.support.quick_nodes import Set, add, configured, defaulted, inc

Wire = Callable[[Flow], object]


def shape(wire: Wire) -> FlowShape:
    flow = Flow("versions")
    with flow:
        wire(flow)
    return shape_of(flow.compile())


def differing(one: Wire, other: Wire, address: str) -> tuple[str, ...]:
    """Name what differs between two versions of a node."""
    old, new = shape(one).entries[address], shape(other).entries[address]
    return tuple(name for name in NodeShape._fields if getattr(old, name) != getattr(new, name))


class Asked(Config):
    by: int = 1
    decide: Any = None
    names: tuple[str, ...] = ()


async def asking(config: Asked, x: int) -> int:
    return x + config.by


async def dec(x: int) -> int:
    return x - 1


def versioned(version: str, function: Any = inc) -> Any:
    return node(version=version, name="a")(function)


def placed(function: Any, **given: Any) -> Wire:
    given = given or {"x": 1}
    return lambda f: f.add(node(name="a")(function), **given)


def two(wire: Callable[[Any, Any], Any]) -> Wire:
    """Let a node `a` read what is made of two nodes."""

    def wired(f: Flow) -> None:
        one, other = f.add(node(name="one")(inc), x=1).out, f.add(node(name="other")(inc), x=2).out
        f.add(node(name="a")(inc), x=wire(one, other))

    return wired


def looping(
    *,
    limit: int = 9,
    first: int = 0,
    by: Any = inc,
    test: Any = None,
    kind: str = "until",
) -> Wire:
    def wired(f: Flow) -> None:
        with f.loop(name="a", limit=limit) as loop:
            carry = loop.carry(first)
            step = f.add(node(name="step")(by), x=carry.out)
            carry.next(step.out)
            if kind == "until":
                loop.until(step.out, test or is_big)
            else:
                loop.while_(carry.out, test or is_big)
        f.add(node(name="reader")(inc), x=carry.final)

    return wired


def is_big(x: int) -> bool:
    return x > 3


def is_small(x: int) -> bool:
    return x < 3


def mapping(by: Any = inc, **options: Any) -> Wire:
    def wired(f: Flow) -> None:
        item: Any = each(f.input("xs", list[int]), **options)
        f.output("y", collect(f.add(node(name="a")(by), x=item).out))

    return wired


def nesting(*, given: int = 1, default: int = 2, reads: str = "last", inner: Any = inc) -> Wire:
    """Let a node `a` run a flow of two nodes with the inputs x and y."""

    def wired(f: Flow) -> None:
        with Flow("a") as nested:
            x, y = nested.input("x", int), nested.input("y", int, default=default)
            first = nested.add(node(name="first")(inner), x=x)
            steps = {"first": first, "last": nested.add(add, x=first.out, y=y)}
            nested.output("y", steps[reads].out)
        f.add(nested, x=given)

    return wired


def after(*names: str) -> Wire:
    def wired(f: Flow) -> None:
        made = {name: f.add(node(name=name)(inc), x=1) for name in ("one", "other")}
        f.after(f.add(node(name="a")(inc), x=1), *(made[name].done for name in names))

    return wired


EDITS: list[tuple[str, Wire, Wire, tuple[str, ...]]] = [
    ("nothing", placed(inc), placed(inc), ()),
    ("another function", placed(inc), placed(dec), ("type", "code")),
    ("the version", lambda f: f.add(versioned("1"), x=1), lambda f: f.add(versioned("2"), x=1), ("version",)),
    ("a constant", placed(inc, x=1), placed(inc, x=2), ("wiring",)),
    ("the type of a constant", placed(inc, x=1), placed(inc, x=True), ("wiring",)),
    ("a default that is written out", placed(defaulted), placed(defaulted, x=1, y=2), ("wiring",)),
    ("the order of the ports", placed(add, x=1, y=2), placed(add, y=2, x=1), ()),
    (
        "a config",
        lambda f: f.add(node(name="a")(configured), config=Set(by=1), x=1),
        lambda f: f.add(node(name="a")(configured), config=Set(by=2), x=1),
        ("config", "code"),  # a field with its default counts with the code
    ),
    (
        "a field of a config that is set to its default",
        lambda f: f.add(node(name="a")(configured), config=Set(), x=1),
        lambda f: f.add(node(name="a")(configured), config=Set(by=1), x=1),
        (),
    ),
    (
        "the code of a function in a config",
        lambda f: f.add(node(name="a")(asking), config=Asked(decide=lambda x: x > 1), x=1),
        lambda f: f.add(node(name="a")(asking), config=Asked(decide=lambda x: x > 2), x=1),
        ("code",),
    ),
    (
        "a function in a config",
        lambda f: f.add(node(name="a")(asking), config=Asked(decide=is_big), x=1),
        lambda f: f.add(node(name="a")(asking), config=Asked(decide=is_small), x=1),
        ("config", "code"),
    ),
    ("a source", two(lambda one, _: one), two(lambda _, other: other), ("wiring",)),
    ("a join in between", two(lambda one, _: one), two(merge), ("wiring",)),
    ("the mode of a join", two(merge), two(fallback), ("wiring",)),
    ("the order of a join", two(merge), two(lambda one, other: merge(other, one)), ("wiring",)),
    ("what comes before", after("one"), after("other"), ("wiring",)),
    ("the order of what comes before", after("one", "other"), after("other", "one"), ()),
    ("a setting", lambda f: f.add(node(name="a", retries=2, timeout=3.0)(inc), x=1), placed(inc), ()),
    (
        "a node that is left out",
        placed(inc),
        lambda f: f.add(node(name="a")(inc).with_(enabled=False), x=1),
        (),
    ),
    ("an output of the flow", placed(inc), lambda f: f.output("y", f.add(node(name="a")(inc), x=1).out), ()),
    ("the limit of a loop", looping(limit=9), looping(limit=5), ()),
    ("the first value of a loop", looping(first=0), looping(first=1), ("wiring",)),
    ("the test of a loop", looping(test=is_big), looping(test=is_small), ("wiring", "code")),
    ("the code of a test", looping(test=lambda x: x > 1), looping(test=lambda x: x > 2), ("code",)),
    ("the kind of a test", looping(), looping(kind="while"), ("wiring",)),
    ("the function of a node in a loop", looping(), looping(by=dec), ()),
    ("how many items run at once", mapping(), mapping(max_concurrency=2), ()),
    ("what failed items do", mapping(), mapping(on_error="skip"), ("config",)),
    ("the keys of a map", mapping(), mapping(key=str), ("config",)),
    ("what a flow node is given", nesting(given=1), nesting(given=2), ("wiring",)),
    ("a default of a flow node", nesting(default=1), nesting(default=2), ("wiring",)),
    ("what leaves a flow node", nesting(reads="last"), nesting(reads="first"), ("wiring",)),
    ("the function of a node in a flow node", nesting(), nesting(inner=dec), ()),
    ("the code of a key", mapping(key=lambda x: f"{x}"), mapping(key=lambda x: f"_{x}"), ("code",)),
]


def test_an_edit_is_told_by_the_parts_that_differ() -> None:
    for name, one, other, parts in EDITS:
        assert differing(one, other, "a") == parts, name
