"""Reading native documents."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any, Final, Literal

import pytest

from dataflow import FlowInvalid, FormatError, Limit, Memo, Retry
from dataflow.core.functions import NamedFunction
from dataflow.core.policy import EachOptions, Policy, Settings
from dataflow.core.ports import MISSING
from dataflow.core.wiring import (
    Carried,
    Collect,
    Each,
    Edge,
    Every,
    Fallback,
    FlowInput,
    Gather,
    Literally,
    LoopBlock,
    LoopTest,
    Many,
    MapBlock,
    Merge,
    MergeContexts,
    PlacedNode,
    Reference,
    Source,
    Wiring,
)
from dataflow.formats.native.reader import load
from dataflow.formats.native.writer import dump
from tests.formats.nesting import nest
from tests.support.codes import codes

DIGEST: Final = Path("docs/examples/digest.yaml")


def load_yaml(text: str) -> Wiring:
    return load(f"dataflow: 1\n{text}", "flow.yaml", nest)


def placed(text: str) -> PlacedNode:
    """Read one node, which has a line of its own."""
    node = load_yaml(f"nodes:\n  node: {text}").block.nodes["node"]
    assert isinstance(node, PlacedNode)
    return node


def source(text: str) -> Any:
    """Read the source of one output."""
    return load_yaml(f"outputs:\n  out: {text}").block.outputs["out"]


def test_the_digest_is_read_as_wired() -> None:
    wiring = load(DIGEST.read_text("utf-8"), str(DIGEST), nest)
    assert wiring.name == "digest"
    assert wiring.uses == {"text": "./digest_nodes.py"}
    assert wiring.inputs["target"] == FlowInput(int, 2000, "integer")
    assert list(wiring.block.nodes) == ["page", "refine", "saved"]
    assert wiring.block.edges == [
        Edge(Reference("$in", "path"), "page", "path"),
        Edge(Reference("$in", "to"), "saved", "path"),
        Edge(Reference("refine", "text"), "saved", "text"),
    ]
    loop = wiring.block.nodes["refine"]
    assert isinstance(loop, LoopBlock)
    assert (loop.limit, loop.on_limit) == (5, "exit")
    assert loop.carries["doc"] == Carried(Reference("page"), Reference("joined"))
    assert loop.test == LoopTest("until", Reference("grade", "short"))
    brief = loop.body.nodes["brief"]
    assert isinstance(brief, PlacedNode)
    text = brief.inputs["text"]
    assert isinstance(text, Each)
    assert text == Each(Reference("parts", "chunks"), call=text.call)


def test_a_document_without_a_name_is_called_as_its_file() -> None:
    assert load("dataflow: 1", "flows/two.flow.yaml", nest).name == "two.flow"
    assert load("dataflow: 1", "", nest).name == "flow"


def test_json_is_read_by_its_own_rules() -> None:
    text = '{\t"dataflow": 1, "meta": {"a": 1e3, "b": "\\ud83d\\ude00\\/"}}'
    assert load(text, "flow.json", nest).meta == {"a": 1000.0, "b": "😀/"}


def test_inline_plain_sources_become_edges_before_those_of_the_list() -> None:
    wiring = load_yaml(
        """
edges:
  - {source: c, target: a, target_port: x, id: e, meta: {k: 1}}
  - {source: c, source_port: p, target: a, target_port: x}
  - {source: c, source_port: p, target: a, target_port: x}
nodes:
  a: {type: t, inputs: {x: [b.p, b.p, c], y: $in.i}}
  b: {type: t, inputs: {z: "c.$done"}}
"""
    )
    assert wiring.block.edges == [
        Edge(Reference("b", "p"), "a", "x"),
        Edge(Reference("b", "p"), "a", "x"),
        Edge(Reference("c"), "a", "x"),
        Edge(Reference("$in", "i"), "a", "y"),
        Edge(Reference("c", "$done"), "b", "z"),
        Edge(Reference("c"), "a", "x", "e", {"k": 1}),
        Edge(Reference("c", "p"), "a", "x"),
        Edge(Reference("c", "p"), "a", "x"),
    ]
    assert not any(node.inputs for node in wiring.block.nodes.values() if isinstance(node, PlacedNode))


SOURCES: Final[dict[str, Source]] = {
    "a": Reference("a"),
    "a.b": Reference("a", "b"),
    "a.b.c": Reference("a", "b.c"),
    "a.$error": Reference("a", "$error"),
    "$in.x": Reference("$in", "x"),
    '"my%20node%2Ea.50%25"': Reference("my node.a", "50%"),
    "{merge: [a, b.c]}": Merge((Reference("a"), Reference("b", "c"))),
    "{gather: [a]}": Gather((Reference("a"),)),
    "{merge_contexts: [a], how: append}": MergeContexts((Reference("a"),), "append"),
    "{merge_contexts: [a, b], how: 'm:f'}": MergeContexts(
        (Reference("a"), Reference("b")), NamedFunction("m:f")
    ),
    "{fallback: [a, {merge: [b]}]}": Fallback(Reference("a"), Merge((Reference("b"),))),
    "{collect: {each: a, share: s}}": Collect(Each(Reference("a"), call="s")),
    "{every: [a, b.c, {collect: {every: [a]}}]}": Every(
        (Reference("a"), Reference("b", "c"), Collect(Every((Reference("a"),))))
    ),
    "{each: a, key: 'm:f.g', max_concurrency: 3, on_error: skip, share: s}": Each(
        Reference("a"), EachOptions(NamedFunction("m:f.g"), 3, "skip"), "s"
    ),
}


def test_a_source_is_read() -> None:
    assert {text: source(text) for text in SOURCES} == SOURCES


def test_a_constant_is_never_read_as_anything_else() -> None:
    for text in ("$in.x", "{merge: [a]}", "'{{ x }}'", "on", "null", "[1, {a: b}]", ".nan"):
        inline = source(f"{{value: {text}}}")
        beside = placed(f"{{type: t, values: {{p: {text}}}}}").inputs["p"]
        for constant in (inline, beside):
            assert isinstance(constant, Literally)
            assert constant.is_json
            assert json.dumps(constant.value) == json.dumps(load_yaml(f"meta: {{x: {text}}}").meta["x"])


def test_a_list_with_an_expression_in_it_stays_with_the_node() -> None:
    node = placed("{type: t, inputs: {x: [a, {value: 1}], y: [{merge: [a]}]}}")
    many = node.inputs["x"]
    assert isinstance(many, Many)
    assert many.sources[0] == Reference("a")
    assert isinstance(many.sources[1], Literally)
    assert node.inputs["y"] == Merge((Reference("a"),))


def test_equal_constants_under_each_are_one_list_and_others_are_not() -> None:
    wiring = load_yaml(
        """
nodes:
  a:
    type: t
    inputs: {x: {each: {value: [1]}}, y: {each: {merge: [{value: [1]}]}}, z: {each: {value: [true]}}}
  b: {type: t, inputs: {x: {each: {value: [1]}}, y: {value: [1]}}}
"""
    )
    a, b = wiring.block.nodes.values()
    assert isinstance(a, PlacedNode)
    assert isinstance(b, PlacedNode)
    lists = [
        given.source for given in (a.inputs["x"], b.inputs["x"], a.inputs["z"]) if isinstance(given, Each)
    ]
    assert lists[0] is lists[1]
    assert len({*lists, b.inputs["y"]}) == 3


def test_a_node_has_what_is_written() -> None:
    node = placed("{type: d:p.t, config: {a: [1]}, after: [x, my node], meta: {at: [1, 2]}}")
    assert (node.id, node.type, node.config, node.config_is_json) == ("node", "d:p.t", {"a": [1]}, True)
    assert (node.after, node.meta, node.policy) == (["x", "my node"], {"at": [1, 2]}, Policy())
    assert placed("{type: t}").config is MISSING
    assert placed("{type: t, config: {}}").config == {}


def test_a_policy_has_what_is_given_and_no_more() -> None:
    policy = placed(
        """{type: t, policy: {retry: {retries: 2, on: [timeout], backoff: fixed, first: 2, jitter: true},
        timeout: 1.5, deadline: null, memo: run, on_error: route, default: null,
        limit: llm, effect: true, enabled: false}}"""
    ).policy
    assert policy == Policy(
        retry=Retry(2, on=("timeout",), backoff="fixed", first=2.0, jitter=True),
        timeout=1.5, deadline=None, memo="run", on_error="route", default=None, limit="llm", effect=True,
        enabled=False,
    )  # fmt: skip
    assert placed("{type: t, policy: {limit: 2, retry: {}}}").policy == Policy(limit=2, retry=Retry())
    memo = placed("{type: t, policy: {memo: {reach: store, ttl: 60, environment: [LANG, TZ]}}}").policy.memo
    assert memo == Memo("store", ttl=60, environment=["LANG", "TZ"])
    assert placed("{type: t, policy: {memo: {reach: run}}}").policy.memo == Memo("run")


def test_an_invalid_memo_is_refused() -> None:
    for memo, problem in {
        "ever": "DF0122 nodes.node.policy.memo",
        "{reach: off}": "DF0122 nodes.node.policy.memo.reach",
        "{ttl: 1}": "DF0120 nodes.node.policy.memo.reach",
        "{reach: run, ttl: 0}": "DF0122 nodes.node.policy.memo.ttl",
        "{reach: run, until: 1}": "DF0121 nodes.node.policy.memo.until",
        "[run]": "DF0122 nodes.node.policy.memo",
    }.items():
        with pytest.raises(FlowInvalid) as caught:
            placed(f"{{type: t, policy: {{memo: {memo}}}}}")
        assert codes(caught.value) == [problem]


def test_settings_are_read() -> None:
    settings = load_yaml(
        "using: {errors: continue, max_concurrency: 2, timeout: 3, "
        "limits: {a: {slots: 1}, b: {per_second: 2}}}"
    ).settings
    assert (settings.errors, settings.max_concurrency, settings.timeout) == ("continue", 2, 3.0)
    assert settings.limits is not None
    assert settings.limits["a"] == 1
    limit = settings.limits["b"]
    assert isinstance(limit, Limit)
    assert (limit.slots, limit.per_second) == (None, 2.0)
    assert load_yaml("using: {}").settings == Settings()


def test_a_loop_is_read() -> None:
    loop = load_yaml(
        """
nodes:
  again:
    after: [x]
    meta: {k: v}
    loop:
      limit: null
      on_limit: fail
      carry: {n: {first: {merge: [a]}, next: inner.n}}
      while: {source: $carry.n, test: "m:small"}
      nodes: {inner: {type: t, inputs: {n: $carry.n}}}
      edges: [{source: $in, source_port: i, target: inner, target_port: i}]
      outputs: {n: $carry.n}
"""
    ).block.nodes["again"]
    assert isinstance(loop, LoopBlock)
    assert (loop.after, loop.meta, loop.limit, loop.on_limit) == (["x"], {"k": "v"}, None, "fail")
    assert loop.carries == {"n": Carried(Merge((Reference("a"),)), Reference("inner", "n"))}
    assert loop.test == LoopTest("while", Reference("$carry", "n"), NamedFunction("m:small"))
    assert loop.body.edges == [
        Edge(Reference("$carry", "n"), "inner", "n"),
        Edge(Reference("$in", "i"), "inner", "i"),
    ]
    assert loop.body.outputs == {"n": Reference("$carry", "n")}
    empty = load_yaml("nodes: {again: {loop: {}}}").block.nodes["again"]
    assert empty == LoopBlock("again")


def test_a_map_is_read() -> None:
    block = load_yaml(
        """
nodes:
  per:
    map:
      over: {x: $in.xs, y: {value: [1]}}
      key: m:name
      max_concurrency: 2
      on_error: collect
      nodes: {inner: {type: t, inputs: {x: $item.x}}}
      outputs: {all: inner}
"""
    ).block.nodes["per"]
    assert isinstance(block, MapBlock)
    assert block.over["x"] == Reference("$in", "xs")
    assert block.options == EachOptions(NamedFunction("m:name"), 2, "collect")
    assert block.body.edges == [Edge(Reference("$item", "x"), "inner", "x")]


INPUTS: Final[dict[str, FlowInput]] = {
    "{type: string}": FlowInput(str, MISSING, "string"),
    "{}": FlowInput(Any, MISSING),
    "{default: [1]}": FlowInput(Any, [1]),
    "{type: {enum: [a, b]}, default: a}": FlowInput(Literal["a", "b"], "a", {"enum": ["a", "b"]}),
    "{type: {type: string, format: date}, default: 2020-01-02}": FlowInput(
        date, date(2020, 1, 2), {"type": "string", "format": "date"}
    ),
    "{type: number, default: 1}": FlowInput(float, 1.0, "number"),
    "{type: {}}": FlowInput(Any, MISSING, {}),
}


def test_an_input_has_its_type_and_its_schema() -> None:
    assert {text: load_yaml(f"inputs: {{a: {text}}}").inputs["a"] for text in INPUTS} == INPUTS


NAMES: Final = [
    "ж", "节点", "a b", "a.b", "a/b[0]~$in%", "$", "🙂", "on", "1", "'quoted\"", "a\nb", "\u202e",
    "x" * 2000, " ",
]  # fmt: skip


def test_a_node_may_have_any_name() -> None:
    document = {
        "dataflow": 1,
        "nodes": {id: {"type": "t", "after": [id]} for id in NAMES},
        "outputs": {id: {"collect": {"value": 1}} for id in NAMES},
    }
    wiring = load(json.dumps(document), "flow.json", nest)
    assert {id: node.after for id, node in wiring.block.nodes.items()} == {id: [id] for id in NAMES}
    assert list(wiring.block.outputs) == NAMES
    reads: dict[str, Source] = {id: Reference(id, id) for id in NAMES}
    wiring.block.outputs = reads
    assert load(json.dumps(dump(wiring)), "flow.json", nest).block.outputs == reads


def test_a_hundred_thousand_nodes_are_read() -> None:
    lines = [f"  n{number}: {{type: t, inputs: {{p: n{number + 1}}}}}" for number in range(100_000)]
    wiring = load_yaml("\n".join(["nodes:", *lines]))
    assert len(wiring.block.nodes) == len(wiring.block.edges) == 100_000


def test_deep_sources_are_read_or_refused() -> None:
    for before, after in (("{merge: [", "]}"), ("{each: ", "}"), ("{value: [", "]}")):
        assert source(before * 30 + "a" + after * 30) is not None
        with pytest.raises(FormatError, match="DF0116"):
            source(before * 2000 + "a" + after * 2000)
