# ruff: noqa: ARG005, E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type, call-arg, call-overload, attr-defined, misc, return-value, index, operator, name-defined, func-returns-value"
"""What is said of node functions and policies, and of a flow while it is wired and checked (S1, S6, S20)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from pydantic import BaseModel, field_validator

from dataflow import (
    SKIP,
    Config,
    ExecutionContext,
    Expression,
    Flow,
    Limit,
    NodeOutput,
    Port,
    Ports,
    Retry,
    collect,
    each,
    flow,
    gather,
    merge,
    node,
    threaded,
)
from dataflow.authoring import InstalledNode
from dataflow.core.functions import import_function
from dataflow.core.nodetype import derive
from dataflow.core.policy import EachOptions
from dataflow.core.wiring import All, Block, Literally, MapBlock, Placed, PlacedNode, Reference, Wiring
from dataflow.flows import Flow as AnyFlow
from dataflow.packs.registry import find_type
from dataflow.types.validation import check_json, check_value
from tests.behaviour.flow_parts import Parts, fetch, inc, join, length, pair, split
from tests.messages.telling import Row, document, wired
from tests.support.quick_nodes import every


class Options(Config):
    size: int = 1
    names: tuple[str, ...] = ()


async def opened(options: Options, **values: Any) -> int:
    return 1


async def closed(options: Options, x: int = 1) -> int:
    return 1


async def unresolved(x: Nowhere) -> int:  # noqa: F821 - what is tested
    return 1


async def two_configs(a: Options, b: Options) -> int:
    return 1


async def raw(text: str) -> NodeOutput:
    return NodeOutput()


async def raw_config(config: int) -> NodeOutput:
    return NodeOutput()


async def raw_ports(config: Options) -> NodeOutput:
    return NodeOutput()


def ports(function: Any, make: Callable[[Any], Any]) -> Any:
    return wired(lambda f: f.add(node(ports=make)(function), Options()))


def config(**settings: Any) -> Any:
    return wired(lambda f: f.add(closed, settings))


class Sized(Config):
    size: int

    @field_validator("size")
    @classmethod
    def _is_positive(cls, size: int) -> int:
        if size <= 0:
            raise ValueError("a size is positive")
        return size


class Rules(Config):
    rule: Expression


async def counts(rules: Rules) -> int:
    return 1


async def sized(sized: Sized) -> int:
    return 1


class Sizes(BaseModel):
    size: int = 1


async def modelled() -> Sizes:
    return Sizes()


async def total(*xs: int) -> int:
    return sum(xs)


async def split_numbers(x: int) -> list[int]:
    return [x]


# fmt: off
TYPES: Final = [
    Row("an async function for a thread", wired(lambda f: f.add(threaded(inc)))),
    Row("a call for a function", lambda: derive(inc(1))),
    Row("an annotation", wired(lambda f: f.add(unresolved))),
    Row("no signature", wired(lambda f: f.add(threaded(max)))),
    Row("**values without ports", wired(lambda f: f.add(opened))),
    Row("two configs", wired(lambda f: f.add(two_configs))),
    Row("a parameter of a raw node", wired(lambda f: f.add(raw))),
    Row("config of a raw node", wired(lambda f: f.add(raw_config))),
    Row("a port that every node has", ports(opened, lambda c: Ports({}, {'$done': int}))),
    Row("ports that raise", ports(opened, lambda c: {}['x'])),
    Row("no ports", ports(opened, lambda c: 3)),
    Row("ports without **values", ports(closed, lambda c: Ports({'y': int}, {}))),
    Row("the context of a raw node", ports(raw_ports, lambda c: Ports({}, {'context': Port(int)}))),
    Row("no config", wired(lambda f: f.add(closed, 3))),
    Row("a config field", config(size='a')),
    Row("an unknown config field", config(sizes=1)),
    Row("a config that its class refuses", wired(lambda f: f.add(sized, {"size": -1}))),
    Row("a config port", wired(lambda f: f.add(closed, f.input('c', Any)))),
    Row("the status of an output", lambda: NodeOutput(status='done')),
    Row("a marker as a condition", lambda: bool(SKIP)),
    Row("a marker as a default", wired(lambda f: f.input('x', int, SKIP))),
]
# fmt: on
# fmt: off
POLICIES: Final = [
    Row("seconds", lambda: node(timeout=0)(inc)),
    Row("an unknown setting", lambda: node(retry=3)),
    Row("a whole number", lambda: Retry(-1)),
    Row("a choice", lambda: node(on_error='stop')(inc)),
    Row("on", lambda: Retry(1, on='timeout')),
    Row("before", lambda: Retry(1, before=3)),
    Row("an empty limit", lambda: Limit()),
    Row("keep", lambda: Flow().using(keep=1)),
    Row("slots by name", lambda: Flow().using(limits={'web': 0})),
    Row("default=SKIP", lambda: node(default=SKIP)(inc)),
    Row("options of a map", lambda: EachOptions(on_error='stop')),
    Row("a number out of range", lambda: check_value(10**400, float)),
    Row("what JSON cannot carry", lambda: check_json({1}, set[int])),
    Row("a value that a model refuses", lambda: check_json({"size": -1}, Sized)),
    Row("an expression that is no text", wired(lambda f: f.add(counts, {"rule": 3}))),
]
# fmt: on
INSTALLED: Final = [
    Row(
        "a config of an installed type that has none",
        lambda: InstalledNode("control.read_text").config(encoding="utf-8"),
    )
]
DECLARING: Final = [*TYPES, *POLICIES, *INSTALLED]


def other_flow() -> Any:
    return Flow("other").add(inc, x=1)


def loop_reads_inside(f: Flow) -> None:
    with f.loop(limit=2) as it:
        inner = f.add(inc, x=1)
        it.carry(inner.out)


def two_next_values(f: Flow) -> None:
    with f.loop(limit=2) as it:
        c = it.carry(1)
        c.next(f.add(inc, x=c.out).out)
        c.next(2)


def test_of_two(f: Flow) -> None:
    with f.loop(limit=2) as it:
        c = it.carry(1)
        c.next(c.out)
        it.while_(c.out, operator.lt)


def while_of_a_round(f: Flow) -> None:
    with f.loop(limit=2) as it:
        c = it.carry(1)
        s = f.add(inc, x=c.out)
        c.next(s.out)
        it.while_(s.out, lambda x: x > 1)


def settings_of_a_loop(limit: Any = 2, on_limit: Any = "exit") -> Any:
    def wire(f: Flow) -> None:
        with f.loop(limit=limit, on_limit=on_limit) as it:
            c = it.carry(1)
            c.next(c.out)

    return wire


def a_cycle(count: int) -> Any:
    def wire(f: Flow) -> None:
        for n in range(count):
            f.add(node(inc).with_(name=f"n{n}"))
            f.connect(f"n{(n - 1) % count}", f"n{n}.x")

    return wire


def by_name(*edges: tuple[str, str], **options: Any) -> Any:
    def wire(f: Flow) -> None:
        f.input("url", str)
        f.add(split, doc="a")
        f.add(fetch)
        f.connect("$in.url", "fetch.url")
        for source, target in edges:
            f.connect(source, target, **options)

    return wire


def two_maps(f: Flow) -> None:
    f.add(pair, p=each([1]), q=f.add(inc, x=each([2])).out)


def unlike_maps(f: Flow) -> None:
    xs = f.input("xs", list[int])
    f.add(pair, p=each(xs, max_concurrency=1), q=each(xs, max_concurrency=2))


def itself() -> list[str]:
    f = Flow("f")
    f.add(f)
    return f.check()


def nested(depth: int) -> list[str]:
    inner = Flow("inner")
    for n in range(depth):
        outer = Flow(f"f{n}")
        outer.add(inner)
        inner = outer
    return inner.check()


def doubled(levels: int) -> list[Any]:
    flow = Flow("f0")
    flow.add(inc, x=1)
    for level in range(1, levels):
        outer = Flow(f"f{level}")
        for _ in range(2):
            outer.add(flow)
        flow = outer
    return flow.check()


@flow
def returns_an_int(f: AnyFlow) -> Any:
    return 3


@flow
def takes_any(f: AnyFlow, *xs: int) -> Any:
    return f.add(inc, x=1).out


def joined(depth: int) -> Any:
    source: Any = Flow().input("x", int)
    for _ in range(depth):
        source = merge(source, 1)
    return source


def item_of_another_block(f: Flow) -> None:
    item = each(f.input("xs", list[int]))
    f.add(inc, x=item)
    with f.loop(limit=2) as it:
        c = it.carry(1)
        c.next(f.add(pair, p=c.out, q=item).out)


async def talks(context: ExecutionContext) -> ExecutionContext:
    return context


def two_conversations(f: Flow) -> None:
    given = f.input("chat", ExecutionContext)
    x = f.input("x", int)
    asked, more = f.when(given, lambda chat: True), f.when(given, lambda chat: False)
    f.add(talks)
    f.connect("when.yes", "talks.context")
    f.connect("when_2.yes", "talks.context")
    f.output("o", x)
    f.output("a", asked.no)
    f.output("m", more.no)


def a_cycle_through_a_map(f: Flow) -> None:
    first = f.add(node(fetch).with_(name="first"))
    f.add(join, parts=collect(f.add(fetch, url=each(gather(first.out))).out))
    f.connect("join", "first.url")


def all_of_no_loop() -> object:
    nodes: dict[str, Placed] = {"inc": PlacedNode("inc", type=derive(inc), inputs={"x": Literally(1)})}
    wiring = Wiring("f", block=Block(nodes, outputs={"o": All(Reference("inc"))}))
    return Flow.from_wiring(wiring, find_type, import_function).check()


# fmt: off
WIRING: Final = [
    Row("a node id twice", wired(lambda f: (f.add(node(inc).with_(name='a'), x=1), f.add(node(inc).with_(name='a'), x=1)))),
    Row("an input twice", wired(lambda f: (f.input('x', int), f.input('x', int)))),
    Row("a required port", wired(lambda f: f.add(inc))),
    Row("by position and by name", wired(lambda f: f.add(inc, 1, x=2))),
    Row("a step as a value", wired(lambda f: f.add(inc, x=f.add(inc, x=1)))),
    Row("a list of ports", wired(lambda f: f.add(join, parts=[f.add(fetch, url='a').out]))),
    Row("values of *xs in a list", wired(lambda f: f.add(total, xs=[1, 2]))),
    Row("ports of *xs in a list", wired(lambda f: f.add(total, xs=[f.add(inc, x=1).out]))),
    Row("a port of a list for *xs", wired(lambda f: f.add(total, xs=f.add(split_numbers, x=1).out))),
    Row("a port given to connect", wired(lambda f: f.connect(f.add(inc, x=1).out, "inc.x"))),
    Row("a field of a model", wired(lambda f: f.add(inc, x=f.add(modelled).out.size))),
    Row("a branch as a value", wired(lambda f: f.add(inc, x=f.when(1, lambda x: x > 0)))),
    Row("SKIP as a value", wired(lambda f: f.add(inc, x=SKIP))),
    Row("a port of another flow", wired(lambda f: f.add(inc, x=other_flow().out))),
    Row("a flow in itself", itself),
    Row("flows too deep", lambda: nested(105)),
    Row("flows that double", lambda: doubled(31)),
    Row("an edge of another type", wired(lambda f: f.add(fetch, url=f.add(length, text='a').out))),
    Row("a list into one", wired(lambda f: f.add(fetch, url=f.add(split, doc='a').out.chunks))),
    Row("a collect forgotten", wired(lambda f: f.add(join, parts=f.add(fetch, url=each(['a'])).out))),
    Row("an output inside a map", wired(lambda f: f.output('o', f.add(fetch, url=each(['a'])).out))),
    Row("items that may be failures", wired(lambda f: f.add(join, parts=collect(f.add(fetch, url=each(['a'], on_error='collect')).out)))),
    Row("each over no list", wired(lambda f: f.add(inc, x=each(f.add(inc, x=1).out)))),
    Row("collect outside a map", wired(lambda f: f.add(join, parts=collect(f.add(fetch, url='a').out)))),
    Row("two lists with one share", document("...\ninputs: {xs: {}, ys: {}}\nnodes: {a: {type: 'tests.behaviour.flow_parts:inc', inputs: {x: {each: $in.xs, share: s}}}, b: {type: 'tests.behaviour.flow_parts:inc', inputs: {x: {each: $in.ys, share: s}}}}")),
    Row("two maps", wired(two_maps)),
    Row("maps of unlike options", wired(unlike_maps)),
    Row("a signal into a data port", wired(lambda f: f.add(inc, x=f.add(inc, x=1).done))),
    Row("an empty merge", wired(lambda f: f.add(inc, x=merge()))),
    Row("every of nothing", wired(lambda f: f.add(inc, x=every()))),
    Row("edges beside a map", wired(lambda f: f.add(pair, p=every(1, 2), q=each([1])))),
    Row("after of no step here", wired(lambda f: f.after(other_flow(), f.add(inc, x=1).done))),
    Row("after of a value", wired(lambda f: f.after(f.add(inc, x=1), f.add(inc, x=1).out))),
    Row("two sure edges", wired(by_name(('split.title', 'fetch.url')))),
    Row("an edge to no node", wired(by_name(('split.title', 'nowhere.x')))),
    Row("an edge from no port", wired(by_name(('split.titel', 'fetch.url')))),
    Row("an edge from no input", wired(by_name(('$in.nothing', 'fetch.url')))),
    Row("an edge from no source", wired(by_name(('.a', 'fetch.url')))),
    Row("an edge from a parameter alone", wired(by_name(('$in', 'fetch.url')))),
    Row("unknown options of an edge", wired(by_name(('split.title', 'split.doc'), size=1, colour=2))),
    Row("a small cycle", wired(a_cycle(3))),
    Row("a long cycle", wired(a_cycle(20))),
    Row("a cycle through a map", wired(a_cycle_through_a_map)),
    Row("a loop without an end", wired(settings_of_a_loop(limit=None))),
    Row("a limit of a loop", wired(settings_of_a_loop(limit=0))),
    Row("on_limit of a loop", wired(settings_of_a_loop(on_limit='stop'))),
    Row("carried from inside", wired(loop_reads_inside)),
    Row("two next values", wired(two_next_values)),
    Row("a test of an int", document("...\nnodes: {l: {loop: {carry: {c: {first: {value: 1}, next: n}}, nodes: {n: {type: 'tests.behaviour.flow_parts:inc', inputs: {x: $carry.c}}}, until: n}}}")),
    Row("while of what a round makes", wired(while_of_a_round)),
    Row("a function that returns no port", lambda: returns_an_int.check()),
    Row("a function with *args", lambda: takes_any.check()),
    Row("a default without out", wired(lambda f: f.add(Flow('empty').with_(default=3)))),
    Row("a default of another type", wired(lambda f: f.add(node(inc).with_(default='a'), x=1))),
    Row("no case of a switch", lambda: Flow().switch(1, str, ['a', 'b'])['c']),
    Row("a port with an index", lambda: Flow().input('x', list[int])[0]),
    Row("a field of an input", lambda: Flow().input('x', Parts).title),
    Row("a field of a join", lambda: merge(Flow().input('x', Parts)).title),
    Row("a field of a step", lambda: Flow().add(split, doc='a').title),
    Row("a join too deep", lambda: joined(200)),
    Row("a collect of nothing in a map", wired(lambda f: f.output('o', gather(each([1]))))),
    Row("an item of another block", wired(item_of_another_block)),
    Row("a reserved id", wired(lambda f: f.add(node(inc).with_(name="$in"), x=1))),
    Row("a map over nothing", wired(lambda f: f.wiring.block.nodes.update(m=MapBlock("m")))),
    Row("two conversations", wired(two_conversations)),
    Row("all outside a loop", all_of_no_loop),
]
# fmt: on


BACK: Final = {"feedback": True}


def edges(*told: tuple[str, str, dict[str, Any]]) -> Any:
    def wire(f: Any) -> None:
        f.input("x", int)
        f.add(inc)
        f.add(inc, x=f.add(inc, x=f.add(inc, x=f.input("y", int)).out).out)
        for source, target, options in told:
            f.connect(source, target, **options)

    return wired(wire)


def out_of_a_map_over_edges(f: Any) -> None:
    first = f.add(inc)
    f.connect("$in.x", "inc.x")
    f.input("x", int)
    f.add(pair, p=every(first.out, 1), q=2)
    f.connect("pair", "inc.x", feedback=True)


def of_a_map_beside(f: Any, *, is_item: bool = False) -> None:
    head = f.add(inc)
    f.connect("$in.x", "inc.x")
    f.input("x", int)
    xs = f.input("xs", list[int])
    item: Any = each(xs)
    beside = f.add(inc, x=item)
    inside = f.add(pair, p=head.out, q=item if is_item else beside.out)
    f.add(inc, x=f.add(count_of, xs=collect(inside.out)).out)
    f.connect("inc_3", "inc.x", feedback=True)
    f.output("y", collect(beside.out))


def beside_an_item(f: Any) -> None:
    item = f.add(inc, x=each(f.input("xs", list[int])))
    f.add(count_of, xs=collect(item.out))
    f.connect("count_of", "inc.x", feedback=True)


def own_list(**options: Any) -> Any:
    def wire(f: Any) -> None:
        item = f.add(inc, x=each(f.input("xs", list[int]), **options) if options else every(1, 2))
        f.output("y", collect(f.add(pair, p=item.out, q=f.add(count_of, xs=collect(item.out)).out).out))

    return wired(wire)


async def count_of(xs: list[Any]) -> int:
    return len(xs)


def unread() -> object:
    """Wire a flow of which an input and a node are read by nothing."""
    f = Flow("f")
    f.input("x", int)
    f.output("y", f.add(inc, x=f.add(inc, x=1).out).out)
    f.add(inc, x=2)
    return f.warnings()


# fmt: off
ROUNDS: Final = [
    Row("what nothing reads", unread),
    Row("a feedback edge without a loop", edges(("inc_4", "inc.x", BACK))),
    Row("feedback that leaves a loop", edges(("inc", "inc.x", {**BACK, "leave": "all"}))),
    Row("each_round outside a loop", edges(("$in.x", "inc.x", {"each_round": True}))),
    Row("all of no loop", edges(("$in.x", "inc.x", {"leave": "all"}))),
    Row("what an edge cannot be", edges(("$in.x", "inc.x", {"feedback": 1, "leave": "first", "each_round": "no", "on_limit": "exit"}))),
    Row("a limit of a feedback edge", edges(("inc", "inc.x", {**BACK, "limit": 0, "on_limit": "stop"}))),
    Row("feedback out of a map over edges", wired(out_of_a_map_over_edges)),
    Row("feedback in a document", document("...\nnodes: {a: {type: control.if, config: {condition: value}}}\nedges: [{source: a, source_port: yes, target: a, target_port: value, feedback: true, leave: all}]")),
    Row("feedback beside an item", wired(beside_an_item)),
    Row("what is beside a loop in its map", wired(of_a_map_beside)),
    Row("an item beside the loop that opens its map", wired(partial(of_a_map_beside, is_item=True))),
    Row("a list in its own map over edges", own_list()),
    Row("a list in its own map that skips", own_list(on_error="skip")),
]
# fmt: on

TABLES: Final = {"declaring": DECLARING, "wiring": WIRING, "rounds": ROUNDS}
