"""What depends on a node, however far, in whatever stands in between (S11.4)."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dataflow import Flow, RunFailed, collect, each, fallback, gather, merge, node, race
from dataflow.compiler.addresses import address_of, form_of
from dataflow.core.events import EventKind
from dataflow.durable.dependents import dependents
from tests.properties.playing import flow_of
from tests.properties.random_flows import Program, programs
from tests.support.quick_nodes import add, anything, inc, lazily, several

Wire = Callable[[Flow], object]


def at(f: Flow, name: str, x: Any = 1, y: Any = None) -> Any:
    placed = node(name=name)(inc if y is None else add)
    return f.add(placed, **({"x": x} if y is None else {"x": x, "y": y})).out


def joining(join: Callable[..., Any]) -> Wire:
    def wired(f: Flow) -> None:
        a, b = at(f, "a"), at(f, "b")
        f.add(node(name="c")(anything), x=join(a, b))
        at(f, "d", b)

    return wired


def line(f: Flow) -> None:
    at(f, "d", at(f, "c", at(f, "b", at(f, "a"))))
    at(f, "other")


def lazy(f: Flow) -> None:
    f.add(node(name="b")(lazily), x=1, extra=at(f, "a"))


def looping(f: Flow) -> None:
    first, around = at(f, "first"), at(f, "around")
    with f.loop(name="loop", limit=3) as loop:
        one, other = loop.carry(first), loop.carry(0)
        step = at(f, "step", one.out)
        one.next(step)
        stride = at(f, "stride", other.out, around)
        other.next(stride)
        at(f, "beside")
        loop.until(step, lambda x: x > 1)
    at(f, "reader", other.final)
    at(f, "far")


def mapping(f: Flow) -> None:
    around = at(f, "around")
    item: Any = each(f.input("xs", list[int]))
    a = at(f, "a", item)
    b = at(f, "b", a, around)
    f.add(node(name="sum")(several), x=collect(b))
    at(f, "far")


def nesting(f: Flow) -> None:
    with Flow("sub") as sub:
        x, y = sub.input("x", int), sub.input("y", int)
        one, other = at(sub, "one", x), at(sub, "other", y)
        sub.output("one", one)
        sub.output("other", other)
    a, b = at(f, "a"), at(f, "b")
    placed = f.add(sub, x=a, y=b)
    at(f, "reader", placed.out.one)


def deep(f: Flow) -> None:
    around = at(f, "around")
    a = at(f, "a", each(f.input("xs", list[int])))
    with f.loop(name="loop", limit=2) as loop:
        carry = loop.carry(a)
        carry.next(at(f, "step", carry.out, around))
    f.add(node(name="sum")(several), x=collect(carry.final))


IN_MAP = {"a", "a[]", "a[]/b", "sum"}
IN_LOOP = {"loop", "loop[]/step", "loop[]/stride", "loop[]/beside", "reader"}

ROWS: list[tuple[str, Wire, set[str], set[str]]] = [
    ("readers of readers", line, {"b"}, {"b", "c", "d"}),
    ("two nodes", line, {"d", "other"}, {"d", "other"}),
    ("no node", line, set(), set()),
    ("a node that is gone", line, {"gone"}, set()),
    *((f"a {join.__name__}", joining(join), {"a"}, {"a", "c"}) for join in (merge, gather, fallback, race)),
    ("a lazy port", lazy, {"a"}, {"a", "b"}),
    ("what a loop begins with, and its test", looping, {"first"}, {"first", *IN_LOOP}),
    ("a value from around a loop", looping, {"around"}, {"around", "loop", "loop[]/stride", "reader"}),
    ("a value that is carried", looping, {"loop[]/stride"}, {"loop", "loop[]/stride", "reader"}),
    ("a test", looping, {"loop[]/step"}, IN_LOOP),
    ("a node that nothing reads", looping, {"loop[]/beside"}, {"loop", "loop[]/beside", "reader"}),
    ("a loop", looping, {"loop"}, IN_LOOP),
    ("what reads a loop", looping, {"reader"}, {"reader"}),
    ("a map", mapping, {"a"}, IN_MAP),
    ("the node that a map is named by", mapping, {"a[]"}, IN_MAP),
    ("a node in a map, and not the one it reads", mapping, {"a[]/b"}, {"a", "a[]/b", "sum"}),
    ("a value from around a map", mapping, {"around"}, {"around", "a", "a[]/b", "sum"}),
    ("an input of a flow node", nesting, {"b"}, {"b", "sub", "sub/other", "reader"}),
    ("a node in a flow node", nesting, {"sub/one"}, {"sub", "sub/one", "reader"}),
    ("a flow node", nesting, {"sub"}, {"sub", "sub/one", "sub/other", "reader"}),
    ("at any depth", deep, {"around"}, {"around", "a", "a[]/loop", "a[]/loop[]/step", "sum"}),
]


def test_these_depend_on_it() -> None:
    for name, wire, changed, expected in ROWS:
        with Flow("outer") as flow:
            wire(flow)
        assert dependents(flow.compile(), changed) == expected, name


# against runs


def salted(block: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for id, placed in block.get("nodes", {}).items():
        if "salt" in placed.get("config", {}):
            yield id, placed
        for part in placed.values():
            if isinstance(part, dict) and "nodes" in part:
                yield from salted(part)


async def values_of(flow: Flow, inputs: dict[str, Any]) -> dict[str, str]:
    found = {}
    try:
        async with flow.start(**inputs) as run:
            async for event in run.events():
                if event.kind == EventKind.NODE_FINISHED and event.data["state"] in ("done", "skipped"):
                    found[str(event.path)] = repr(event.data["ports"])
    except RunFailed:
        pass  # what was done before stands
    return found


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.data())
async def test_no_value_changes_but_those_of_dependents(program: Program, data: st.DataObject) -> None:
    assume('"race"' not in json.dumps(program.document))  # which of two is first may change with anything
    document = copy.deepcopy(program.document)
    nodes = list(salted(document))
    assume(nodes)
    id, placed = data.draw(st.sampled_from(nodes))
    before = flow_of(program.document)
    placed["config"]["salt"] += 1
    after = flow_of(document)
    one, other = await values_of(before, program.inputs), await values_of(after, program.inputs)
    changed = {form_of(path) for path in one.keys() & other.keys() if one[path] != other[path]}
    plan = before.compile()
    forms = {form for form in map(form_of, [*one, *other]) if address_of(form).rpartition("/")[2] == id}
    assert changed <= dependents(plan, forms)
