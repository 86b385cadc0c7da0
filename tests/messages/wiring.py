# ruff: noqa: ARG005, E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type, call-arg, call-overload, attr-defined, misc, return-value, index, operator, func-returns-value"
"""What is said of a flow while it is wired, and when it is checked (S1.7, S20)."""

from __future__ import annotations

import operator
from typing import Any, Final

from dataflow import SKIP, ExecutionContext, Flow, collect, each, flow, gather, merge, node
from dataflow.core.wiring import MapBlock
from dataflow.flows import Flow as AnyFlow
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


def no_next_value(f: Flow) -> None:
    with f.loop(limit=2) as it:
        it.carry(1)


def two_tests(f: Flow) -> None:
    with f.loop(limit=2) as it:
        c = it.carry(1)
        s = f.add(inc, x=c.out)
        c.next(s.out)
        it.until(s.out, lambda x: x > 1)
        it.while_(c.out, lambda x: x > 1)


def async_test(f: Flow) -> None:
    with f.loop(limit=2) as it:
        c = it.carry(1)
        c.next(c.out)
        it.while_(c.out, inc)


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


def another_type_next(f: Flow) -> None:
    with f.loop(limit=2) as it:
        c: Any = it.carry("a")
        c.next(f.add(length, text=c.out).out)


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


def an_item_in_a_loop(f: Flow) -> None:
    item = each(f.input("xs", list[int]))
    with f.loop(limit=2) as it:
        c = it.carry(1)
        c.next(f.add(pair, p=c.out, q=item).out)


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


def wide() -> Any:
    port: Any = Flow().input("x", int)
    for _ in range(14):
        port = merge(port, merge(port))
    return port


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


def a_cycle_in_a_map(f: Flow) -> None:
    """Have an item wait for the list of all; an output reads that list too."""
    item = f.add(inc, x=each(f.input("xs", list[int])))
    f.after(item, f.add(node(takes_list).with_(name="whole"), xs=collect(item.out)).done)
    f.output("y", collect(item.out))


async def takes_list(xs: list[int]) -> int:
    return len(xs)


def a_cycle_through_a_lifted_loop(f: Flow) -> None:
    """Read the items of a map both in a loop, which is named like its head, and beside it."""
    head = f.add(node(plus).with_(name="head"), p=each(f.input("xs", list[int])))
    f.add(node(takes_list).with_(name="back"), xs=collect(head.out))
    f.connect("back", "head.q", feedback=True, limit=1)
    beside = f.add(node(inc).with_(name="beside"), x=head.out)
    f.add(node(takes_list).with_(name="whole"), xs=collect(beside.out))


async def plus(p: int, q: int) -> int:
    return p + q


# fmt: off
ROWS: Final = [
    Row("a node id twice", wired(lambda f: (f.add(node(inc).with_(name='a'), x=1), f.add(node(inc).with_(name='a'), x=1))), "node id 'a' is used twice"),
    Row("an input twice", wired(lambda f: (f.input('x', int), f.input('x', int))), "input 'x' is declared twice"),
    Row("an output twice", wired(lambda f: (f.output('x', 1), f.output('x', 2))), "output 'x' is declared twice"),
    Row("a default that does not fit", wired(lambda f: f.input('x', int, 'a')), "default of input 'x': expected int, found str 'a'"),
    Row("a constant that does not fit", wired(lambda f: f.add(inc, x='a')), "port 'inc.x': expected int, found str 'a'"),
    Row("a required port", wired(lambda f: f.add(inc)), "port 'inc.x' is required and has neither an edge nor a constant"),
    Row("an unknown port", wired(lambda f: f.add(inc, x=1, y=2)), "node 'inc' (tests.behaviour.flow_parts:inc) has no input port 'y'; choices: x"),
    Row("too many positional arguments", wired(lambda f: f.add(inc, 1, 2)), "node 'inc' takes at most 1 positional argument, found 2"),
    Row("too many of two", wired(lambda f: f.add(pair, 1, 2, 3)), "node 'pair' takes at most 2 positional arguments, found 3"),
    Row("by position and by name", wired(lambda f: f.add(inc, 1, x=2)), "port 'inc.x' is given twice, by position and by name"),
    Row("a step as a value", wired(lambda f: f.add(inc, x=f.add(inc, x=1))), "port 'inc_2.x' is given a step; wire one of its ports: step.out, step.done or step.error"),
    Row("a list of ports", wired(lambda f: f.add(join, parts=[f.add(fetch, url='a').out])), "port 'join.parts' is given a list with ports in it; write gather(...) for a list of values"),
    Row("a branch as a value", wired(lambda f: f.add(inc, x=f.when(1, lambda x: x > 0))), "port 'inc.x' is given a when, which is no port; wire one of its ports"),
    Row("SKIP as a value", wired(lambda f: f.add(inc, x=SKIP)), "port 'inc.x' is given SKIP, which is no value"),
    Row("a port of another flow", wired(lambda f: f.add(inc, x=other_flow().out)), "port 'inc.out' belongs to flow 'other', not to this one; make it an input of this flow"),
    Row("a flow in itself", itself, "flow 'f' would contain itself, as part of node 'f'"),
    Row("flows too deep", lambda: nested(105), "flow 'f103' as a node: flow 'f102' as a node: flow 'f101' as a node: flow 'f100' as a node: flow 'f99' as a node: at most 100 flows are nested in one another"),
    Row("a flow in a flow with a problem", wired(lambda f: f.add(_with_a_problem())), "flow 'inner' as a node: port 'inc.x' is required and has neither an edge nor a constant"),
    Row("an edge of another type", wired(lambda f: f.add(fetch, url=f.add(length, text='a').out)), "port 'fetch.url' expects str, but length.out is int"),
    Row("a list into one", wired(lambda f: f.add(fetch, url=f.add(split, doc='a').out.chunks)), "port 'fetch.url' expects str, but split.chunks is list[str]; wire each(...) to run once per item"),
    Row("a collect forgotten", wired(lambda f: f.add(join, parts=f.add(fetch, url=each(['a'])).out)), "port 'join.parts' expects list[str], but fetch.out is str; collect it first"),
    Row("an output inside a map", wired(lambda f: f.output('o', f.add(fetch, url=each(['a'])).out)), "output 'o' reads fetch.out, which is inside a map; collect it first"),
    Row("items that may be failures", wired(lambda f: f.add(join, parts=collect(f.add(fetch, url=each(['a'], on_error='collect')).out))), "port 'join.parts' expects list[str], but collect(fetch.out) is list[str | Failure]; with on_error='collect' a failed item leaves a Failure in the list"),
    Row("each over no list", wired(lambda f: f.add(inc, x=each(f.add(inc, x=1).out))), "map of 'inc_2' goes over inc.out, which is int; expected a list"),
    Row("collect outside a map", wired(lambda f: f.add(join, parts=collect(f.add(fetch, url='a').out))), "collect(fetch.out): the port is not inside a map opened by each in this block"),
    Row("two maps", wired(two_maps), "node 'pair' reads two maps neither inside the other: inc.out and each(a constant); collect one of them first"),
    Row("maps of unlike options", wired(unlike_maps), "port 'pair.q': each($in.xs) has other options than the same each read by 'pair'; two calls share a map only with equal options"),
    Row("an item in a loop", wired(an_item_in_a_loop), "loop 'loop' reads pair.out, which is inside a map; collect it first\nnext value of '$carry.carry' of loop 'loop' is list[int], but the port began as int"),
    Row("a signal into a data port", wired(lambda f: f.add(inc, x=f.add(inc, x=1).done)), "port 'inc_2.x' is a data port, but inc.$done is a signal port"),
    Row("an empty merge", wired(lambda f: f.add(inc, x=merge())), "port 'inc.x': merge needs at least one source"),
    Row("every of nothing", wired(lambda f: f.add(inc, x=every())), "port 'inc.x': every needs at least one source"),
    Row("edges beside a map", wired(lambda f: f.add(pair, p=every(1, 2), q=each([1]))), "node 'pair' reads two maps neither inside the other: every(a constant, a constant) and each(a constant); collect one of them first"),
    Row("an edge of another type among several", wired(lambda f: f.add(fetch, url=every('a', f.add(length, text='a').out))), "port 'fetch.url' expects str, but every(a constant, length.out) is Literal['a'] | int"),
    Row("after of no step here", wired(lambda f: f.after(other_flow(), f.add(inc, x=1).done)), "after: node 'inc' is not in this block"),
    Row("after of a value", wired(lambda f: f.after(f.add(inc, x=1), f.add(inc, x=1).out)), "after of node 'inc': expected the `done` of a step in this block or around it, found 'inc_2.out'"),
    Row("two sure edges", wired(by_name(('split.title', 'fetch.url'))), "port 'fetch.url' takes one value, but $in.url and split.title both always bring one; use merge or gather"),
    Row("an edge to no node", wired(by_name(('split.title', 'nowhere.x'))), "edge split.title -> nowhere.x: no node 'nowhere' in this block; choices: split, fetch"),
    Row("an edge from no node", wired(by_name(('nobody', 'fetch.url'))), "port 'fetch.url' reads 'nobody.out': no node 'nobody'; choices: split, fetch"),
    Row("an edge from no port", wired(by_name(('split.titel', 'fetch.url'))), "port 'fetch.url' reads 'split.titel': node 'split' has no output port 'titel'; choices: out, title, chunks"),
    Row("an edge from no input", wired(by_name(('$in.nothing', 'fetch.url'))), "port 'fetch.url' reads '$in.nothing', which does not exist here; choices: url"),
    Row("an edge from no source", wired(by_name(('.a', 'fetch.url'))), "edge .a -> fetch.url: '.a' is no source: write `node.port`, `node` or `$in.name`"),
    Row("an edge from a parameter alone", wired(by_name(('$in', 'fetch.url'))), "edge $in -> fetch.url: '$in' is no source: write `$in.name`"),
    Row("an edge from no parameter", wired(by_name(('$out.a', 'fetch.url'))), "edge $out.a -> fetch.url: '$out.a' is no source: there is no '$out'; choices: $in, $carry, $item"),
    Row("unknown options of an edge", wired(by_name(('split.title', 'split.doc'), size=1, colour=2)), "edge split.title -> split.doc: unknown option 'colour'; choices: id, meta, feedback, limit, on_limit, each_round, leave\nedge split.title -> split.doc: unknown option 'size'; choices: id, meta, feedback, limit, on_limit, each_round, leave\nport 'split.doc' is wired by edges and by a source of its own; use one\nthe nodes form a cycle: split -> split; a flow is acyclic: what repeats goes into a loop, or comes back by a feedback edge"),
    Row("a small cycle", wired(a_cycle(3)), "the nodes form a cycle: n0 -> n1 -> n2 -> n0; a flow is acyclic: what repeats goes into a loop, or comes back by a feedback edge"),
    Row("a long cycle", wired(a_cycle(20)), "the nodes form a cycle: n0 -> n1 -> n2 -> n3 -> n4 -> n5 -> n6 -> n7 -> n8 -> n9 -> n10 -> n11 -> 8 more -> n0; a flow is acyclic: what repeats goes into a loop, or comes back by a feedback edge"),
    Row("a cycle through a map", wired(a_cycle_through_a_map), "the nodes form a cycle: first -> gather -> fetch -> join -> first; a flow is acyclic: what repeats goes into a loop, or comes back by a feedback edge"),
    Row("a cycle in a map", wired(a_cycle_in_a_map), "the nodes form a cycle: inc -> whole -> inc; a flow is acyclic: what repeats goes into a loop, or comes back by a feedback edge"),
    Row("a cycle through a loop of feedback edges", wired(a_cycle_through_a_lifted_loop), "the nodes form a cycle: head -> beside -> head; a flow is acyclic: what repeats goes into a loop, or comes back by a feedback edge"),
    Row("a loop without an end", wired(settings_of_a_loop(limit=None)), "loop 'loop' has neither a limit nor a test: it would never end"),
    Row("a limit of a loop", wired(settings_of_a_loop(limit=0)), "loop 'loop': limit must be a whole number of 1 or more, or None, found 0"),
    Row("on_limit of a loop", wired(settings_of_a_loop(on_limit='stop')), "loop 'loop': on_limit cannot be 'stop'; choices: exit, fail"),
    Row("carried from inside", wired(loop_reads_inside), "'$carry.carry' of loop 'loop' begins with 'inc.out', which is inside the loop; add that node before the loop\n'$carry.carry' of loop 'loop' has no next value"),
    Row("two next values", wired(two_next_values), "next value of '$carry.carry' of loop 'loop' is given twice"),
    Row("no next value", wired(no_next_value), "'$carry.carry' of loop 'loop' has no next value"),
    Row("a next value of another type", wired(another_type_next), "next value of '$carry.carry' of loop 'loop' is int, but the port began as str"),
    Row("two tests", wired(two_tests), "the test of loop 'loop' is given twice; a loop has one `until` or `while_`"),
    Row("an async test", wired(async_test), "the test of loop 'loop': expected a plain function, found the async function inc; decide inside a node"),
    Row("a test of two values", wired(test_of_two), "the test of loop 'loop': expected a function of the value, found lt(a, b, /)"),
    Row("a test of an int", document("...\nnodes: {l: {loop: {carry: {c: {first: {value: 1}, next: n}}, nodes: {n: {type: 'tests.behaviour.flow_parts:inc', inputs: {x: $carry.c}}}, until: n}}}"), "2:139 the test of loop 'l' reads n.out, which is int; expected bool"),
    Row("while of what a round makes", wired(while_of_a_round), "the test of loop 'loop' reads inc.out; `while` tests a carried port before the round, use `until` for what a round makes"),
    Row("a function that returns no port", lambda: returns_an_int.check(), "@flow function 'returns_an_int' returned int; expected a port, or a NamedTuple of ports for several outputs"),
    Row("a function with *args", lambda: takes_any.check(), "@flow function 'takes_any': inputs have names, found *xs: 'int'"),
    Row("a default without out", wired(lambda f: f.add(Flow('empty').with_(default=3))), "default of node 'empty' is for its port 'out', which it does not have; there are none"),
    Row("a default of another type", wired(lambda f: f.add(node(inc).with_(default='a'), x=1)), "default of node 'inc': expected int, found str 'a'"),
    Row("no case of a switch", lambda: Flow().switch(1, str, ['a', 'b'])['c'], "the switch has no case 'c'; choices: a, b"),
    Row("a port as a condition", lambda: bool(Flow().input('x', int)), "port '$in.x' has no value while the flow is wired, so it cannot be used with bool; decide with f.when(port, predicate) or inside a node"),
    Row("a port in a text", lambda: f"{Flow().input('x', int)}", "port '$in.x' has no value while the flow is wired, so it cannot be used with an f-string; do it inside a node and wire the port into it"),
    Row("a port that is iterated", lambda: list(Flow().input('x', list[int])), "port '$in.x' has no value while the flow is wired, so it cannot be used with iteration; wire each(port) into a node to run it once per item"),
    Row("a port that is called", lambda: Flow().input('x', Any)(1), "port '$in.x' has no value while the flow is wired, so it cannot be used with a call; do it inside a node and wire the port into it"),
    Row("a node that is called with a port", lambda: node(settings)(Flow().input('x', int), {}), "port '$in.x' has no value while the flow is wired, so it cannot be used with a call of settings; say add(settings, ...)"),
    Row("a port with an index", lambda: Flow().input('x', list[int])[0], "port '$in.x' has no value while the flow is wired, so it cannot be used with [...]; give the node a result with named fields, or take the item inside a node"),
    Row("a field of an input", lambda: Flow().input('x', Parts).title, "port '$in.x' has no value while the flow is wired, so it cannot be used with the attribute 'title'; a source never reaches into a value; only a node's `out` has its result's fields as ports"),
    Row("a field of a join", lambda: merge(Flow().input('x', Parts)).title, "port merge(...) has no value while the flow is wired, so it cannot be used with the attribute 'title'; a source never reaches into a value"),
    Row("a field of a step", lambda: Flow().add(split, doc='a').title, "port <step split> has no value while the flow is wired, so it cannot be used with the attribute 'title'; a field of the result is step.out.title"),
    Row("a join too deep", lambda: joined(200), "merge(...) is nested more than 100 deep; put a node in between"),
    Row("a collect of nothing in a map", wired(lambda f: f.output('o', gather(each([1])))), "output 'o' reads gather(each(a constant)), which is inside a map; collect it first"),
    Row("points", wired(lambda f: f.add(summarise, text=f.add(point).out)), "port 'summarise.text' expects str, but point.out is Point"),
    Row("an item of another block", wired(item_of_another_block), "port 'pair.q' reads the item of a map that is opened in another block; carry it into the loop, or call each(...) again to open a map in this block\nloop 'loop' reads pair.out, which is inside a map; collect it first\nnext value of '$carry.carry' of loop 'loop' is list[int], but the port began as int"),
    Row("a reserved id", wired(lambda f: f.add(node(inc).with_(name="$in"), x=1)), "node id '$in' is reserved; give the node another name"),
    Row("a map over nothing", wired(lambda f: f.wiring.block.nodes.update(m=MapBlock("m"))), "map 'm' goes over nothing: `over` names its lists"),
    Row("two conversations", wired(two_conversations), "port 'when.value' is a data port, but $in.chat is a context port\nport 'when_2.value' is a data port, but $in.chat is a context port\nport 'talks.context' could get two conversations, from when.yes and from when_2.yes; make one of them with merge_contexts"),
    Row("a join too wide", wide, 'merge(...) holds more than 10000 joins; put a node in between'),
]
# fmt: on


def _with_a_problem() -> Flow:
    inner = Flow("inner")
    inner.add(inc)
    return inner
