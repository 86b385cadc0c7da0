"""Graph definitions are written as native documents, and documents as YAML that is read the same."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Literal

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

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
from dataflow.authoring import Kind
from dataflow.builder.builtin import BUILT_IN
from dataflow.builder.declare import Node
from dataflow.compiler.passes import examine
from dataflow.core import wiring as w
from dataflow.core.config import FunctionReference
from dataflow.core.nodetype import NodeType
from dataflow.core.policy import EachOptions, Policy, Settings
from dataflow.errors import PackError
from dataflow.formats.native.reader import load
from dataflow.formats.native.writer import dump, dump_yaml
from dataflow.formats.reader import read
from dataflow.formats.writer import LONGEST_KEY, WIDTH, write_yaml
from tests.formats.nesting import nest
from tests.support.codes import codes
from tests.types import example_types as ex

HERE: Final = __name__


class Options(Config):
    size: int = 1
    names: tuple[str, ...] = ()


class Choice(Config):
    picks: list[FunctionReference] = []  # noqa: RUF012 - pydantic copies it


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
    known = {**BUILT_IN, **{given.type.id: given.type for given in (head, join, choose, split, maybe)}}
    if id not in known:
        raise PackError(id, "is not known")
    return known[id]


def problems(wiring: w.Wiring) -> list[Diagnostic]:
    with pytest.raises(FlowInvalid) as caught:
        dump(wiring)
    return list(caught.value.problems)


def of_node(placed: w.PlacedNode) -> w.Wiring:
    return w.Wiring(block=w.Block({placed.id: placed}))


def wired() -> w.Wiring:
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
    flow.after(last, first.done, words.error)
    flow.output("text", fallback(last.out, words.out, "none"))
    flow.output("items", collect(item.out))
    flow.output("final", gather(final))
    limits: dict[str, Limit | int] = {"a": 2, "b": Limit(per_second=0.5)}
    return replace(flow.wiring, settings=Settings("continue", 4, limits, 60, 2.5))


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
    after: [head, split.$error]
edges:
  - {source: $in, source_port: text, target: head, target_port: text}
  - {source: $in, source_port: day, target: head, target_port: day}
  - {source: $in, source_port: text, target: split, target_port: text}
  - {source: head, target: when, target_port: value}
  - {source: $in, source_port: text, target: switch, target_port: value}
  - {source: again, source_port: join_2, target: maybe, target_port: text}
outputs:
  text: {fallback: [maybe, {fallback: [split, {value: none}]}]}
  items: {collect: each%20head}
  final: {gather: [again.carry]}
using:
  errors: continue
  max_concurrency: 4
  limits: {a: {slots: 2}, b: {per_second: 0.5}}
  timeout: 60
  cleanup: 2.5
"""


def test_a_flow_from_python_is_written_and_read_back_the_same() -> None:
    document = dump(wired())
    assert dump_yaml(wired()).replace(HERE, "HERE") == WRITTEN
    again = load(json.dumps(document), "flow.json", nest)
    assert dump(again) == document
    assert dump(load(dump_yaml(again), "flow.yaml", nest)) == document
    graph, _ = examine(again, found)
    assert not graph.problems


def written(type: NodeType | str, **more: Any) -> Any:
    document: Any = dump(of_node(w.PlacedNode("a", type=type, **more)))
    return document["nodes"]["a"]


def local() -> Node[..., Any]:
    @node
    async def inner() -> None: ...

    return inner


def broken() -> w.Wiring:
    nodes = [
        w.PlacedNode("local", type=local().type),
        w.PlacedNode("choice", type=choose.type, config=Choice(picks=[is_short, lambda x: x])),
        w.PlacedNode("config", type="t", config={"size": (1,)}),
        w.PlacedNode("path", type="t", inputs={"p": w.Literally(Path("x"))}),
        w.PlacedNode("inner", type="t", inputs={"p": w.Gather((w.Merge((w.Literally({1}),)),))}),
        w.PlacedNode("key", type="t", inputs={"p": w.Each(w.Reference("b"), EachOptions(lambda x: x))}),
        w.PlacedNode(
            "policy", type="t", policy=Policy(retry=Retry(before=print), default=(1,), cutoff=print)
        ),
    ]
    loop = w.LoopBlock(
        "loop",
        carries={"c": w.Carried(w.Literally(1))},
        test=w.LoopTest("until", w.Reference("a"), lambda x: bool(x)),
        body=w.Block(outputs={"o": w.Literally(b"")}),
    )
    block = w.Block({**{one.id: one for one in nodes}, "loop": loop}, outputs={"o": w.Literally(b"")})
    inputs = {"context": w.FlowInput(ExecutionContext), "default": w.FlowInput(Any, (1,))}
    problems = [Kind("XX0001", "bad")(place) for place in ("one", "two", "one")]
    return w.Wiring(inputs=inputs, block=block, problems=problems)


def test_what_a_document_cannot_have_is_refused_with_its_place() -> None:
    assert codes(problems(broken())) == [
        "XX0001 one",
        "XX0001 two",
        "DF0151 inputs.context",
        "DF0147 inputs.default.default",
        "DF0149 nodes.local",
        "DF0149 nodes.choice.config.picks.1",
        "DF0147 nodes.config.config.size",
        "DF0147 path.p",
        "DF0147 inner.p",
        "DF0149 key.p",
        "DF0147 nodes.policy.policy.retry",
        "DF0147 nodes.policy.policy",
        "DF0147 nodes.policy.policy",
        "DF0327 nodes.loop.loop.carry.c",
        "DF0149 nodes.loop.loop.until",
        "DF0147 nodes.loop.loop.outputs.o",
        "DF0147 outputs.o",
    ]


def test_an_input_is_refused_whose_document_would_not_have_values_of_its_type() -> None:
    fine: tuple[Any, ...] = (
        int | None,
        tuple[int, str],
        Literal["a"],
        date,
        Path,
        bytes,
        Iterable[int],
        dict[str, list[Any]],
    )
    for kind in fine:
        assert "x" in dump(w.Wiring(inputs={"x": w.FlowInput(kind)}))["inputs"]  # type: ignore[operator]
    classes = ex.Person, ex.Model, ex.Titled, ex.Point, ex.Color, ex.UserId, Decimal, set[int], dict[int, str]
    nested = list[Options], dict[str, ex.Color], tuple[int, ex.Point], Options | None, Options | ex.Person
    for kind in (*classes, *nested, tuple[int, ...]):
        assert codes(problems(w.Wiring(inputs={"x": w.FlowInput(kind)}))) == ["DF0151 inputs.x"], kind
    with Flow("asking") as flow:
        flow.ask(ex.UserId, "Who?", name="who")
    assert codes(problems(flow.wiring)) == ["DF0148 nodes.who.config"]


def test_a_flow_that_could_not_be_read_again_is_refused() -> None:
    deep: Any = w.Reference("a")
    for _ in range(300):
        deep = w.Merge((deep,))
    for wiring, place in (
        (of_node(w.PlacedNode("$in", type="t")), "DF0127 nodes.$in"),
        (of_node(w.PlacedNode("a")), "DF0122 nodes.a.type"),
        (w.Wiring(name="\ud800"), "DF0147 name"),
        (w.Wiring(block=w.Block(outputs={"o": deep})), "DF0147"),
        (of_node(w.PlacedNode("a", type=head.type, config={"size": "x"})), "nodes.a.config"),
        (w.Wiring(block=w.Block(outputs={"o": w.Reference("a", "")})), "outputs.o"),
    ):
        [problem] = codes(problems(wiring))
        assert place in problem


awkward = st.sampled_from(
    [
        "", " ", "\n", "a\n", "a\n\n", "\na", " a\nb", "a \nb ", "a\n \nb", "a\tb\nc", "a\r\nb", "-",
        "- a", "a: b", "a:", "#", "a #b", "a#b", "yes", "ON", "null", "~", "1", "1e3", "0x1F", "1_000",
        "1:30", "2020-01-01", ".inf", "<<", "=", "*a", "&a", "!a", "%a", "@a", "`a", "|", ">", "'", '"',
        "\\", "{", "[a", "a]", "a,b", "?", "? a", "$in.path", "./a.py", "../b", "/etc", "m:f", "a.$error",
        "---", "...", "\x7f", "\x85", "a\u2028b", "\ufeff", "a\x85\nb", "é\nü", "\U0001f600", "\ufffe",
        "nodes", "edges", "x" * 120, "x " * 80, "a:b:c", "a  b", "é",
    ]
)  # fmt: skip
texts = st.text(max_size=12) | st.text("ab:#-\n \t'\"{}[],&*!|>%@`?.~$", max_size=12) | awkward
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=25,
)
documents = st.dictionaries(texts, values, min_size=1, max_size=5)


@given(documents)
@example({"k" * (LONGEST_KEY + 1): {"a": [{"b": "c" * WIDTH}]}, "d": {"e" * (LONGEST_KEY + 1): 1}})
@example({"a": [[["b" * WIDTH], "c"], {"d": "e\nf\n"}], "g": [{}], "h": [[]], "i": ["j\nk"]})
def test_what_is_written_is_read_the_same(document: dict[str, Any]) -> None:
    found = read(write_yaml(document), "flow.yaml")[0]
    assert json.dumps(found) == json.dumps(document)


@given(documents)
def test_readers_of_yaml_1_1_read_it_the_same(document: dict[str, Any]) -> None:
    assert json.dumps(yaml.safe_load(write_yaml(document))) == json.dumps(document)


def test_short_values_take_one_line_and_nodes_their_own() -> None:
    document = {
        "dataflow": 1,
        "name": "on",
        "nodes": {
            "page": {"type": "control.read_text", "inputs": {"path": "$in.path"}},
            "loop": {"loop": {"nodes": {"a": {"type": "m:f"}}, "edges": [{"source": "a"}]}},
            "long": {"type": "x", "values": {"text": "word " * 30}},
            "lines": {"type": "x", "values": {"text": "one\n\n  two\n", "short": "a\nb"}},
        },
        "edges": [],
        "meta": {"list": ["a", [1, 2], {"b": "it's"}]},
    }
    assert (
        write_yaml(document)
        == f"""\
dataflow: 1
name: "on"
nodes:
  page: {{type: control.read_text, inputs: {{path: $in.path}}}}
  loop:
    loop:
      nodes:
        a: {{type: m:f}}
      edges:
        - {{source: a}}
  long:
    type: x
    values:
      text: "{"word " * 30}"
  lines:
    type: x
    values:
      text: |
        one

          two
      short: |-
        a
        b
edges: []
meta: {{list: [a, [1, 2], {{b: "it's"}}]}}
"""
    )
