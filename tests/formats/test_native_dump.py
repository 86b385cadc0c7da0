"""Graph definitions are written as native documents."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Final

import pytest
from pydantic import SecretStr, field_validator

from dataflow import (
    Config,
    Diagnostic,
    ExecutionContext,
    Flow,
    FlowInvalid,
    Limit,
    Maybe,
    Retry,
    collect,
    each,
    fallback,
    gather,
    merge,
    node,
)
from dataflow.builder.builtin import BUILT_IN
from dataflow.builder.declare import Node
from dataflow.compiler.passes import examine
from dataflow.core.config import FunctionReference
from dataflow.core.nodetype import NodeType
from dataflow.core.policy import EachOptions, Policy, Settings
from dataflow.core.wiring import (
    Block,
    Carried,
    Each,
    Edge,
    FlowInput,
    Gather,
    Literally,
    LoopBlock,
    LoopTest,
    Many,
    MapBlock,
    Merge,
    PlacedNode,
    Reference,
    Wiring,
)
from dataflow.errors import PackError
from dataflow.formats.native.reader import load
from dataflow.formats.native.writer import dump, dump_yaml
from tests.formats.nesting import nest
from tests.support.codes import codes

HERE: Final = __name__


class Options(Config):
    size: int = 1
    names: tuple[str, ...] = ()


class Choice(Config):
    picks: list[FunctionReference] = []  # noqa: RUF012 - pydantic copies it


class Hidden(Config):
    token: SecretStr


class OneWay(Config):
    size: int

    @field_validator("size", mode="after")
    @classmethod
    def _double(cls, size: int) -> int:
        if size > 2:
            raise ValueError("too large")
        return size * 2


class Loose(Config):
    thing: object = None


@node
async def head(text: str, options: Options, day: date = date(2020, 1, 2)) -> str:
    return text[: options.size]


@node
async def join(*parts: str, sep: str = "") -> str:
    return sep.join(parts)


@node
async def choose(text: str, choice: Choice) -> str:
    return text


@node
async def hide(hidden: Hidden) -> str:
    return ""


@node
async def loosely(loose: Loose) -> str:
    return ""


@node
async def split(text: str) -> list[str]:
    return text.split()


@node
async def maybe(text: str) -> Maybe[str]:
    return text


def is_short(text: str) -> bool:
    return len(text) < 3


def name_of(text: str) -> str:
    return text


def found(id: str) -> NodeType:
    """Find the types of this module."""
    known = {**BUILT_IN, **{given.type.id: given.type for given in (head, join, choose, split, maybe)}}
    if id not in known:
        raise PackError(id, "is not known")
    return known[id]


def problems(wiring: Wiring) -> list[Diagnostic | str]:
    with pytest.raises(FlowInvalid) as caught:
        dump(wiring)
    return list(caught.value.problems)


def of_node(placed: PlacedNode) -> Wiring:
    return Wiring(block=Block({placed.id: placed}))


def wired() -> Wiring:
    """Wire a flow with all that a document can say of one made in Python."""
    flow = Flow("all of it")
    text = flow.input("text", str)
    day = flow.input("day", date, date(2020, 1, 1))
    flow.input("size", int, 3)
    flow.input("any", Any)
    flow.input("names", list[str])
    first = flow.add(head, text, Options(size=2, names=("a",)), day=day)
    words = flow.add(split, text)
    short = flow.when(first.out, is_short)
    kind = flow.switch(text, name_of, ["a", "default"])
    item = flow.add(
        head.with_(name="each head"),
        each(words.out, key=name_of, max_concurrency=2, on_error="skip"),
        Options(),
    )
    joined = flow.add(join, merge(short.yes, short.no), "constant", kind["a"], sep="-")
    with flow.loop(name="again", limit=None, on_limit="fail") as loop:
        carried = loop.carry(joined.out)
        longer = flow.add(join, carried.out, carried.out)
        carried.next(longer.out)
        loop.while_(carried.out, is_short)
        result = loop.result(longer.out)
        final = carried.final
    retry = Retry(2, on=(ValueError, "timeout"), backoff="fixed", first=2.5)
    last = flow.add(maybe.with_(retries=retry, timeout=3, on_error="skip"), text=result)
    flow.after(last, first.done, words.done)
    flow.output("text", fallback(last.out, "none"))
    flow.output("items", collect(item.out))
    flow.output("final", gather(final))
    limits: dict[str, Limit | int] = {"a": 2, "b": Limit(per_second=0.5)}
    return replace(flow.wiring, settings=Settings("continue", 4, limits, 60))


WRITTEN: Final = """\
dataflow: 1
name: all of it
inputs:
  text: {type: string}
  day: {type: {format: date, type: string}, default: "2020-01-01"}
  size: {type: integer, default: 3}
  any: {}
  names: {type: {items: {type: string}, type: array}}
nodes:
  head: {type: HERE:head, config: {size: 2, names: [a]}}
  split: {type: HERE:split}
  when: {type: control.if, config: {predicate: HERE:is_short}}
  switch: {type: control.switch, config: {pick: HERE:name_of, cases: [a, default]}}
  each head:
    type: HERE:head
    config: {size: 1, names: []}
    inputs:
      text: {each: split, key: HERE:name_of, max_concurrency: 2, on_error: skip}
  join:
    type: HERE:join
    inputs: {parts: [{merge: [when.yes, when.no]}, {value: constant}, switch.a]}
    values: {sep: "-"}
  again:
    loop:
      limit: null
      on_limit: fail
      carry: {carry: {first: join, next: join_2}}
      while: {source: $carry.carry, test: HERE:is_short}
      nodes:
        join_2: {type: HERE:join}
      edges:
        - {source: $carry, source_port: carry, target: join_2, target_port: parts}
        - {source: $carry, source_port: carry, target: join_2, target_port: parts}
      outputs: {join_2: join_2, carry: $carry.carry}
  maybe:
    type: HERE:maybe
    policy:
      retry: {retries: 2, "on": [ValueError, timeout], backoff: fixed, first: 2.5}
      timeout: 3
      on_error: skip
    after: [head, split]
edges:
  - {source: $in, source_port: text, target: head, target_port: text}
  - {source: $in, source_port: day, target: head, target_port: day}
  - {source: $in, source_port: text, target: split, target_port: text}
  - {source: head, target: when, target_port: value}
  - {source: $in, source_port: text, target: switch, target_port: value}
  - {source: again, source_port: join_2, target: maybe, target_port: text}
outputs:
  text: {fallback: [maybe, {value: none}]}
  items: {collect: each%20head}
  final: {gather: [again.carry]}
using: {errors: continue, max_concurrency: 4, limits: {a: {slots: 2}, b: {per_second: 0.5}}, timeout: 60}
"""


def test_a_flow_from_python_is_written_and_read_back_the_same() -> None:
    document = dump(wired())
    assert dump_yaml(wired()).replace(HERE, "HERE") == WRITTEN
    again = load(json.dumps(document), "flow.json", nest)
    assert dump(again) == document
    assert dump(load(dump_yaml(again), "flow.yaml", nest)) == document
    graph, _ = examine(again, found)
    assert not graph.problems


def test_a_written_document_is_a_copy() -> None:
    meta = {"a": [1]}
    document: Any = dump(Wiring("x", meta=meta))
    document["meta"]["a"].append(2)
    assert meta == {"a": [1]}
    assert dump(Wiring("x")) == {"dataflow": 1, "name": "x"}


def test_plain_sources_of_a_node_are_written_as_edges_in_order() -> None:
    wiring = of_node(
        PlacedNode(
            "a",
            type="t",
            inputs={
                "x": Reference("b", "p"),
                "y": Many((Reference("b"), Reference("c"))),
                "z": Many((Reference("b"), Literally(1))),
            },
        )
    )
    wiring.block.edges.append(Edge(Reference("c"), "a", "x", "id", {"m": 1}))
    assert (
        dump_yaml(wiring)
        == """\
dataflow: 1
name: flow
nodes:
  a: {type: t, inputs: {z: [b, {value: 1}]}}
edges:
  - {source: b, source_port: p, target: a, target_port: x}
  - {source: b, target: a, target_port: "y"}
  - {source: c, target: a, target_port: "y"}
  - {source: c, target: a, target_port: x, id: id, meta: {m: 1}}
"""
    )


def test_a_map_is_written() -> None:
    block = MapBlock(
        "per",
        over={"x": Reference("$in", "xs")},
        options=EachOptions(name_of, 2, "collect"),
        body=Block({"inner": PlacedNode("inner", type="t")}, [Edge(Reference("$item", "x"), "inner", "x")]),
    )
    assert (
        dump_yaml(Wiring(block=Block({"per": block}))).replace(HERE, "HERE")
        == """\
dataflow: 1
name: flow
nodes:
  per:
    map:
      over: {x: $in.xs}
      key: HERE:name_of
      max_concurrency: 2
      on_error: collect
      nodes:
        inner: {type: t}
      edges:
        - {source: $item, source_port: x, target: inner, target_port: x}
"""
    )


def test_constants_are_written_by_the_type_of_their_port() -> None:
    placed = PlacedNode(
        "a", type=head.type, inputs={"text": Literally("x"), "day": Literally(date(2021, 1, 1))}
    )
    document: Any = dump(of_node(placed))
    assert document["nodes"]["a"]["values"] == {"text": "x", "day": "2021-01-01"}


def test_a_config_may_be_given_as_a_dict() -> None:
    whole = {"size": 2, "names": []}
    for placed in (
        PlacedNode("a", type=head.type, config={"size": 2}),
        PlacedNode("a", type="m:head", config=whole),
    ):
        document: Any = dump(of_node(placed))
        assert document["nodes"]["a"]["config"] == whole


def local() -> Node[..., Any]:
    @node
    async def inner() -> None: ...

    return inner


def with_input(port: object) -> Wiring:
    return of_node(PlacedNode("a", type="t", inputs={"p": port}))  # type: ignore[dict-item]


def loop_of_constants() -> Wiring:
    loop = LoopBlock(
        "l",
        carries={"c": Carried(Literally(1))},
        test=LoopTest("until", Reference("a"), lambda x: bool(x)),
        body=Block(outputs={"o": Literally(b"")}),
    )
    return Wiring(block=Block({"l": loop}, outputs={"o": Literally(b"")}))


#: Codes and places of the problems of flows that cannot be written.
REFUSED: Final[list[tuple[Wiring, list[str]]]] = [
    (of_node(PlacedNode("a", type=local().type)), ["DF0149 nodes.a"]),
    (
        of_node(PlacedNode("a", type=choose.type, config=Choice(picks=[is_short, lambda x: x]))),
        ["DF0149 nodes.a.config.picks.1"],
    ),
    (
        of_node(PlacedNode("a", type=hide.type, config=Hidden(token=SecretStr("x" * 8)))),
        ["DF0148 nodes.a.config"],
    ),
    (of_node(PlacedNode("a", type="t", config=OneWay(size=2))), ["DF0148 nodes.a.config"]),
    (of_node(PlacedNode("a", type=loosely.type, config=Loose(thing=object()))), ["DF0147 nodes.a.config"]),
    (of_node(PlacedNode("a", type="t", config={"size": (1,)})), ["DF0147 nodes.a.config.size"]),
    (with_input(Literally(Path("x"))), ["DF0147 a.p"]),
    (with_input(Gather((Merge((Literally({1}),)),))), ["DF0147 a.p"]),
    (with_input(Each(Reference("b"), EachOptions(lambda x: x))), ["DF0149 a.p"]),
    (
        of_node(PlacedNode("a", type="t", policy=Policy(retry=Retry(before=print)))),
        ["DF0147 nodes.a.policy.retry"],
    ),
    (of_node(PlacedNode("a", type="t", policy=Policy(default=(1, 2)))), ["DF0147 nodes.a.policy"]),
    (of_node(PlacedNode("a", type="t", policy=Policy(cutoff=print))), ["DF0147 nodes.a.policy"]),
    (Wiring(inputs={"c": FlowInput(ExecutionContext)}), ["DF0151 inputs.c"]),
    (Wiring(inputs={"c": FlowInput(Any, (1,))}), ["DF0147 inputs.c.default"]),
    (
        loop_of_constants(),
        [
            "DF0152 nodes.l.loop.carry.c",
            "DF0149 nodes.l.loop.until",
            "DF0147 nodes.l.loop.outputs.o",
            "DF0147 outputs.o",
        ],
    ),
    (of_node(PlacedNode("", type="t")), ["DF0122 nodes."]),
    (of_node(PlacedNode("$in", type="t")), ["DF0127 nodes.$in"]),
    (of_node(PlacedNode("a")), ["DF0122 nodes.a.type"]),
    (Wiring(name="\ud800"), ["DF0147 name"]),
    (Wiring(meta={"a": {1}}), ["DF0147 meta.a"]),
    (Wiring(problems=["one", "two", "one"]), ["one", "two"]),
]


def test_what_a_document_cannot_have_is_refused_with_its_place() -> None:
    assert [codes(problems(wiring)) for wiring, _ in REFUSED] == [found for _, found in REFUSED]


def test_problems_of_a_config_and_of_a_source_have_their_places() -> None:
    [config] = problems(of_node(PlacedNode("a", type=head.type, config={"size": "x"})))
    [output] = problems(Wiring(block=Block(outputs={"o": Reference("a", "")})))
    assert "nodes.a.config" in str(config)
    assert "outputs.o" in str(output)


def test_sources_that_nest_too_deep_for_a_document_are_refused() -> None:
    source: Any = Reference("a")
    for _ in range(300):
        source = Merge((source,))
    told = problems(Wiring(block=Block(outputs={"o": source})))
    assert codes(told) == ["DF0147"]
