# ruff: noqa: ARG005, E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type, call-arg, call-overload, attr-defined, misc, return-value, index, operator, func-returns-value"
"""What is said of a flow while it is wired, and when it is checked (S1.7, S20)."""

from __future__ import annotations

import operator
from typing import Any, Final

from dataflow import SKIP, ExecutionContext, Flow, collect, each, flow, gather, merge, node
from dataflow.core.functions import import_function
from dataflow.core.nodetype import derive
from dataflow.core.wiring import All, Block, Literally, MapBlock, Placed, PlacedNode, Reference, Wiring
from dataflow.flows import Flow as AnyFlow
from dataflow.packs.registry import find_type
from tests.behaviour.flow_parts import Parts, fetch, inc, join, length, pair, point, split, summarise
from tests.messages.telling import Row, document, wired
from tests.support.edges import every

__all__ = ["ROWS"]


def loop(f: Flow, limit: Any = 2, **settings: Any) -> Any:
    return f.loop(limit=limit, **settings)


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


@flow
def returns_an_int(f: AnyFlow) -> Any:
    return 3


@flow
def takes_any(f: AnyFlow, *xs: int) -> Any:
    return f.add(inc, x=1).out


async def settings(x: int, config: dict[str, int]) -> int:
    return x


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
ROWS: Final = [
    Row("a node id twice", wired(lambda f: (f.add(node(inc).with_(name='a'), x=1), f.add(node(inc).with_(name='a'), x=1)))),
    Row("an input twice", wired(lambda f: (f.input('x', int), f.input('x', int)))),
    Row("a required port", wired(lambda f: f.add(inc))),
    Row("by position and by name", wired(lambda f: f.add(inc, 1, x=2))),
    Row("a step as a value", wired(lambda f: f.add(inc, x=f.add(inc, x=1)))),
    Row("a list of ports", wired(lambda f: f.add(join, parts=[f.add(fetch, url='a').out]))),
    Row("a branch as a value", wired(lambda f: f.add(inc, x=f.when(1, lambda x: x > 0)))),
    Row("SKIP as a value", wired(lambda f: f.add(inc, x=SKIP))),
    Row("a port of another flow", wired(lambda f: f.add(inc, x=other_flow().out))),
    Row("a flow in itself", itself),
    Row("flows too deep", lambda: nested(105)),
    Row("an edge of another type", wired(lambda f: f.add(fetch, url=f.add(length, text='a').out))),
    Row("a list into one", wired(lambda f: f.add(fetch, url=f.add(split, doc='a').out.chunks))),
    Row("a collect forgotten", wired(lambda f: f.add(join, parts=f.add(fetch, url=each(['a'])).out))),
    Row("an output inside a map", wired(lambda f: f.output('o', f.add(fetch, url=each(['a'])).out))),
    Row("items that may be failures", wired(lambda f: f.add(join, parts=collect(f.add(fetch, url=each(['a'], on_error='collect')).out)))),
    Row("each over no list", wired(lambda f: f.add(inc, x=each(f.add(inc, x=1).out)))),
    Row("collect outside a map", wired(lambda f: f.add(join, parts=collect(f.add(fetch, url='a').out)))),
    Row("two maps", wired(two_maps)),
    Row("maps of unlike options", wired(unlike_maps)),
    Row("a signal into a data port", wired(lambda f: f.add(inc, x=f.add(inc, x=1).done))),
    Row("an empty merge", wired(lambda f: f.add(inc, x=merge()))),
    Row("every of nothing", wired(lambda f: f.add(inc, x=every()))),
    Row("edges beside a map", wired(lambda f: f.add(pair, p=every(1, 2), q=each([1])))),
    Row("an edge of another type among several", wired(lambda f: f.add(fetch, url=every('a', f.add(length, text='a').out)))),
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
    Row("points", wired(lambda f: f.add(summarise, text=f.add(point).out))),
    Row("an item of another block", wired(item_of_another_block)),
    Row("a reserved id", wired(lambda f: f.add(node(inc).with_(name="$in"), x=1))),
    Row("a map over nothing", wired(lambda f: f.wiring.block.nodes.update(m=MapBlock("m")))),
    Row("two conversations", wired(two_conversations)),
    Row("all outside a loop", all_of_no_loop),
]
# fmt: on
