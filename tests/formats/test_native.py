"""Reading native documents."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, Final, Literal

import pytest

from dataflow import FlowInvalid, FormatError, Limit, Retry
from dataflow.formats.native import dump, load
from dataflow.functions import NamedFunction
from dataflow.policy import EachOptions, Policy, Settings
from dataflow.ports import MISSING
from dataflow.wiring import (
    Carried,
    Collect,
    Each,
    Edge,
    Fallback,
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
    Source,
    Wiring,
)

DIGEST: Final = Path("docs/examples/digest.yaml")


def load_yaml(text: str) -> Wiring:
    return load(f"dataflow: 1\n{text}", "flow.yaml")


def placed(text: str) -> PlacedNode:
    """Read one node, which has a line of its own."""
    node = load_yaml(f"nodes:\n  node: {text}").block.nodes["node"]
    assert isinstance(node, PlacedNode)
    return node


def source(text: str) -> Any:
    """Read the source of one output."""
    return load_yaml(f"outputs:\n  out: {text}").block.outputs["out"]


def problems(text: str) -> list[str]:
    with pytest.raises(FlowInvalid) as caught:
        load(text, "flow.yaml")
    assert caught.value.flow == "flow.yaml"
    return list(caught.value.problems)


# what is read


def test_the_digest_is_read_as_wired() -> None:
    wiring = load(DIGEST.read_text("utf-8"), str(DIGEST))
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
    assert brief.inputs == {"text": Each(Reference("parts", "chunks"))}


def test_a_document_without_a_name_is_called_as_its_file() -> None:
    assert load("dataflow: 1", "flows/two.flow.yaml").name == "two.flow"
    assert load("dataflow: 1", "").name == "flow"


def test_json_is_read_by_its_own_rules() -> None:
    text = '{\t"dataflow": 1, "meta": {"a": 1e3, "b": "\\ud83d\\ude00\\/"}}'
    assert load(text, "flow.json").meta == {"a": 1000.0, "b": "😀/"}


def test_inline_plain_sources_become_edges_before_those_of_the_list() -> None:
    wiring = load_yaml(
        """
edges: [{source: c, target: a, target_port: x, id: e, meta: {k: 1}}, {source: c, source_port: p, target: a, target_port: x}]
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
    ]
    assert not any(node.inputs for node in wiring.block.nodes.values() if isinstance(node, PlacedNode))


def test_parallel_edges_stay_distinct() -> None:
    edge = "{source: a, target: b, target_port: p}"
    assert len(load_yaml(f"edges: [{edge}, {edge}]").block.edges) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", Reference("a")),
        ("a.b", Reference("a", "b")),
        ("a.b.c", Reference("a", "b.c")),
        ("a.$error", Reference("a", "$error")),
        ("$in.x", Reference("$in", "x")),
        ('"my%20node%2Ea.50%25"', Reference("my node.a", "50%")),
        ("{merge: [a, b.c]}", Merge((Reference("a"), Reference("b", "c")))),
        ("{gather: [a]}", Gather((Reference("a"),))),
        ("{fallback: [a, {merge: [b]}]}", Fallback(Reference("a"), Merge((Reference("b"),)))),
        ("{collect: {each: a}}", Collect(Each(Reference("a")))),
        (
            "{each: a, key: 'm:f.g', max_concurrency: 3, on_error: skip}",
            Each(Reference("a"), EachOptions(NamedFunction("m:f.g"), 3, "skip")),
        ),
    ],
)
def test_a_source_is_read(text: str, expected: Source) -> None:
    assert source(text) == expected


@pytest.mark.parametrize("text", ["$in.x", "{merge: [a]}", "'{{ x }}'", "on", "null", "[1, {a: b}]"])
def test_a_constant_is_never_read_as_anything_else(text: str) -> None:
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


def test_equal_lists_under_each_open_one_map_and_others_do_not() -> None:
    wiring = load_yaml(
        """
nodes:
  a: {type: t, inputs: {x: {each: {value: [1]}}, y: {each: {merge: [{value: [1]}]}}, z: {each: {value: [true]}}}}
  b: {type: t, inputs: {x: {each: {value: [1]}}, y: {value: [1]}}}
"""
    )
    a, b = wiring.block.nodes.values()
    assert isinstance(a, PlacedNode)
    assert isinstance(b, PlacedNode)
    assert a.inputs["x"] == b.inputs["x"]
    assert a.inputs["x"] != a.inputs["z"]
    assert a.inputs["x"] == Each(b.inputs["x"].source)  # type: ignore[union-attr]
    assert b.inputs["y"] is not b.inputs["x"].source  # type: ignore[union-attr]


def test_a_node_has_what_is_written() -> None:
    node = placed("{type: d:p.t, config: {a: [1]}, after: [x, my node], meta: {at: [1, 2]}}")
    assert (node.id, node.type, node.config, node.config_is_json) == ("node", "d:p.t", {"a": [1]}, True)
    assert (node.after, node.meta, node.policy) == (["x", "my node"], {"at": [1, 2]}, Policy())
    assert placed("{type: t}").config is MISSING
    assert placed("{type: t, config: {}}").config == {}


def test_a_policy_has_what_is_given_and_no_more() -> None:
    policy = placed(
        """{type: t, policy: {retry: {retries: 2, on: [timeout], backoff: fixed, first: 2, jitter: true},
        timeout: 1.5, deadline: null, memo: run, on_error: route, default: null, limit: llm, effect: true, enabled: false}}"""
    ).policy
    assert policy == Policy(
        retry=Retry(2, on=("timeout",), backoff="fixed", first=2.0, jitter=True),
        timeout=1.5, deadline=None, memo="run", on_error="route", default=None, limit="llm", effect=True,
        enabled=False,
    )  # fmt: skip
    assert placed("{type: t, policy: {limit: 2, retry: {}}}").policy == Policy(limit=2, retry=Retry())


def test_settings_are_read() -> None:
    settings = load_yaml(
        "using: {errors: continue, max_concurrency: 2, limits: {a: {slots: 1}}, timeout: 3}"
    ).settings
    assert (settings.errors, settings.max_concurrency, settings.timeout) == ("continue", 2, 3.0)
    assert settings.limits is not None
    limit = settings.limits["a"]
    assert isinstance(limit, Limit)
    assert (limit.slots, limit.per_second) == (1, None)
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{type: string}", FlowInput(str, MISSING, "string")),
        ("{}", FlowInput(Any, MISSING)),
        ("{default: [1]}", FlowInput(Any, [1])),
        ("{type: string, default: null}", None),
        ("{type: {enum: [a, b]}, default: a}", FlowInput(Literal["a", "b"], "a", {"enum": ["a", "b"]})),
        (
            "{type: {type: string, format: date}, default: 2020-01-02}",
            FlowInput(date, date(2020, 1, 2), {"type": "string", "format": "date"}),
        ),
        ("{type: number, default: 1}", FlowInput(float, 1.0, "number")),
        ("{type: {}}", FlowInput(Any, MISSING, {})),
    ],
)
def test_an_input_has_its_type_and_its_schema(text: str, expected: FlowInput | None) -> None:
    if expected is None:
        assert problems(f"dataflow: 1\ninputs:\n  a: {text}") == [
            "3:22 inputs.a.default: expected str, found None"
        ]
    else:
        assert load_yaml(f"inputs: {{a: {text}}}").inputs == {"a": expected}


@pytest.mark.parametrize(
    "id",
    [
        "ж",
        "节点",
        "a b",
        "a.b",
        "a/b[0]~$in%",
        "$",
        "🙂",
        "on",
        "1",
        "'quoted\"",
        "a\nb",
        "\u202e",
        "x" * 2000,
        " ",
    ],
    ids=ascii,
)
def test_a_node_may_have_any_name(id: str) -> None:
    document = {
        "dataflow": 1,
        "nodes": {id: {"type": "t", "after": [id]}},
        "outputs": {id: {"collect": {"value": 1}}},
    }
    wiring = load(json.dumps(document), "flow.json")
    assert list(wiring.block.nodes) == [id]
    assert wiring.block.nodes[id].after == [id]
    wiring.block.outputs["reads"] = Reference(id, id)
    again = load(json.dumps(dump(wiring)), "flow.json")
    assert again.block.outputs["reads"] == Reference(id, id)


# what is refused


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "[]",
            "flow.yaml:1:1: is no flow document: expected a mapping with `dataflow: 1`, found an empty list",
        ),
        (
            "\n\n- a",
            "flow.yaml:3:1: is no flow document: expected a mapping with `dataflow: 1`, found a list of 1",
        ),
        ("null", "flow.yaml:1:1: is no flow document: expected a mapping with `dataflow: 1`, found null"),
        (
            "name: x\ndataflow: 2\nelse: 3",
            "flow.yaml:2:1: is written in format 2; this release reads format 1",
        ),
        (
            "dataflow: 1\ndataflow: 1",
            "flow.yaml:2:1: key 'dataflow' stands here for the second time; the first is in line 1",
        ),
        (
            "nodes:\n  a: {type: t}\n  a: {type: t}",
            "flow.yaml:3:3: key 'a' stands here for the second time; the first is in line 2",
        ),
    ],
)
def test_what_is_no_document_of_this_format_is_refused(text: str, told: str) -> None:
    with pytest.raises(FormatError) as caught:
        load(text, "flow.yaml")
    assert str(caught.value) == told


CASES: Final[list[tuple[str, list[str]]]] = [
    ("name: x", ["1:1 dataflow: is missing"]),
    ("dataflow: true", ["1:1 dataflow: expected the number of the format, 1, found True"]),
    ("dataflow: 0", ["1:1 dataflow: expected 1, found 0"]),
    (
        "dataflow: 1\nnode: {}",
        ["2:1 node: is not known here; choices: nodes, edges, outputs, dataflow, name, uses, inputs, using, meta"],
    ),
    ("dataflow: 1\nnodes: {$in: {type: t}}", ["2:9 nodes.%24in: no node can be called '$in', which stands for the inputs of the flow"]),
    ('dataflow: 1\nnodes: {"": {type: t}}', ["2:9 nodes.: expected a text that is not empty, found \"''\""]),
    (
        "dataflow: 1\nnodes:\n  page: {type: 5}\n  b: []\n  c: {type: t, loop: {}}",
        [
            "3:10 nodes.page.type: expected text, found 5",
            "4:3 nodes.b: expected a node: a mapping with exactly one of type, flow, loop, map, found an empty list",
            "5:3 nodes.c: expected a node: a mapping with exactly one of type, flow, loop, map, found a mapping with type, loop",
        ],
    ),
    (
        "dataflow: 1\nnodes:\n  my node: {type: t, polcy: {}, policy: {limit: 1.5, retry: {retries: -1, ons: 1}, on_error: x}}",
        [
            "3:22 nodes.my%20node.polcy: is not known here; choices: type, config, inputs, values, policy, after, meta",
            "3:42 nodes.my%20node.policy.limit: expected text or a whole number, found 1.5",
            "3:62 nodes.my%20node.policy.retry.retries: expected a number of 0 or more, found -1",
            "3:75 nodes.my%20node.policy.retry.ons: is not known here; choices: retries, on, backoff, first, jitter",
            "3:84 nodes.my%20node.policy.on_error: expected 'fail', 'skip' or 'route', found 'x'",
        ],
    ),
    (
        "dataflow: 1\noutputs:\n  a: a.\n  b: {mrge: [a]}\n  c: {merge: []}\n  d: {each: [a, b]}\n  e: {each: a, ky: 1}\n"
        "  f: {fallback: [a]}\n  g: $x.y\n  h: {merge: [$in]}",
        [
            "3:3 outputs.a: 'a.' is no source: write `node.port`, `node` or `$in.name`",
            "4:3 outputs.b: expected a source: `node.port`, or a mapping with one of merge, gather, race, fallback, "
            "value, each, collect, all, merge_contexts, found a mapping with mrge",
            "5:7 outputs.c.merge: expected at least 1 entries, found an empty list",
            "6:7 outputs.d.each: `each` over several lists comes with a later release; a map block takes them in `over`",
            "7:16 outputs.e.ky: is not known here; choices: each, key, max_concurrency, on_error",
            "8:7 outputs.f.fallback: expected at least 2 entries, found a list of 1",
            "9:3 outputs.g: '$x.y' is no source: after `$` come only in, carry, item",
            "10:15 outputs.h.merge[0]: '$in' is no source: write `$in.name`",
        ],
    ),
    (
        "dataflow: 1\nedges:\n  - {source: a, target: b}\n  - 5\n  - {source: a, target: b, target_port: c, limit: 3}\n"
        "  - {source: a, target: b, target_port: c, to: d, leave: 1}",
        [
            "3:5 edges[0].target_port: is missing",
            "4:5 edges[1]: expected a mapping, found 5",
            "5:5 edges[2]: `limit` stands only beside `feedback: true`",
            "6:46 edges[3].to: is not known here; choices: source, source_port, target, target_port, feedback, limit, "
            "on_limit, each_round, leave, id, meta",
            "6:53 edges[3].leave: expected 'last' or 'all', found 1",
        ],
    ),
    (
        "dataflow: 1\nnodes:\n  a:\n    loop: {limit: 0, carry: {x: {first: a}}, until: {source: a, test: lambda x}, nodes: {b: {}}}\n"
        "  b: {loop: {until: a, while: b}}\n  c: {map: {over: {}}}\n  d: {map: {keys: 1}}",
        [
            "4:12 nodes.a.loop.limit: expected a number above 0, found 0",
            "4:30 nodes.a.loop.carry.x.next: is missing",
            "4:62 nodes.a.loop.until.test: a function is written module:qualname, found 'lambda x'",
            "4:86 nodes.a.loop.nodes.b: expected a node: a mapping with exactly one of type, flow, loop, map, found an empty mapping",
            "5:7 nodes.b.loop: a loop has one test: `until` or `while`",
            "6:13 nodes.c.map.over: expected at least 1 entries, found an empty mapping",
            "7:7 nodes.d.map.over: is missing",
            "7:13 nodes.d.map.keys: is not known here; choices: nodes, edges, outputs, over, key, max_concurrency, on_error",
        ],
    ),
    (
        "dataflow: 1\nusing: {limits: {a: {}, b: {slots: 0, per_second: .inf}}, errors: ignore}",
        [
            "2:18 using.limits.a: a limit has slots, per_second or both",
            "2:29 using.limits.b.slots: expected a number above 0, found 0",
            "2:39 using.limits.b.per_second: expected a finite number, found Infinity",
            "2:59 using.errors: expected 'fail_fast' or 'continue', found 'ignore'",
        ],
    ),
    (
        "dataflow: 1\ninputs:\n  a: {type: strng}\n  b: {typ: string}\n  c: string",
        [
            "3:7 inputs.a.type: expected 'string', 'number', 'integer', 'boolean', 'array', 'object' or 'null', found 'strng'",
            "4:7 inputs.b.typ: is not known here; choices: type, default",
            "5:3 inputs.c: expected a mapping, found 'string'",
        ],
    ),
    (
        "dataflow: 1\ninputs:\n  a: {type: {type: strng}}\n  b: {type: {type: array, items: 5}}\n  c: {type: integer, default: true}",
        [
            "3:7 inputs.a.type: there is no JSON type 'strng'; choices: string, number, integer, boolean, array, object, null",
            "4:7 inputs.b.type: expected a JSON Schema, found 5",
            "5:22 inputs.c.default: expected int, found bool True",
        ],
    ),
    (
        "dataflow: 1\nnodes:\n  a: {type: t, policy: {errors: fail}, inputs: {p: {merge: [a]}}, values: {p: 1}}",
        [
            "3:25 nodes.a.policy.errors: is for flow nodes only",
            "3:77 nodes.a.values.p: has a source in `inputs` already",
        ],
    ),
    (
        "dataflow: 1\nuses: {a: [1, 2, 3]}\nmeta: {}\nname: " + "'" + "x" * 100 + "'\nnodes: " + "'" + "y" * 100 + "'",
        [
            "2:8 uses.a: expected text, found a list of 3",
            f"5:1 nodes: expected a mapping, found '{'y' * 56}...",
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "told"), CASES, ids=range(len(CASES)))
def test_all_problems_are_told_at_once_with_their_places(text: str, told: list[str]) -> None:
    assert problems(text) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("edges: [{source: a, target: b, target_port: c, feedback: true, limit: 3}]",
         "2:48 edges[0].feedback: edge a.out -> b.c: `feedback` comes with a later release; a loop node can be used instead"),
        ("edges: [{source: a, target: b, target_port: c, each_round: true}]",
         "2:48 edges[0].each_round: edge a.out -> b.c: `each_round` comes with a later release; a loop node can be used instead"),
        ("edges: [{source: a, target: b, target_port: c, leave: all}]",
         "2:48 edges[0].leave: edge a.out -> b.c: `leave` comes with a later release; a loop node can be used instead"),
        ("nodes: {sub: {flow: ./other.yaml}}", "2:15 nodes.sub.flow: a flow as a node comes with a later release"),
        ("nodes: {sub: {flow: {dataflow: 1}}}", "2:15 nodes.sub.flow: a flow as a node comes with a later release"),
        ("nodes: {a: {type: t, inputs: {p: {race: [a, b]}}}}",
         "2:35 nodes.a.inputs.p.race: `race` comes with a later release"),
        ("nodes: {a: {loop: {outputs: {x: {all: b}}}}}",
         "2:34 nodes.a.loop.outputs.x.all: `all` comes with a later release"),
        ("outputs: {x: {merge: [a, {merge_contexts: [a], how: pick}]}}",
         "2:27 outputs.x.merge[1].merge_contexts: `merge_contexts` comes with a later release"),
        ("outputs: {x: {each: a, key: item.name}}",
         "2:24 outputs.x.key: a key that is no function `module:qualname` comes with a later release, found 'item.name'"),
        ("nodes: {a: {map: {over: {x: a}, key: x.name}}}",
         "2:33 nodes.a.map.key: a key that is no function `module:qualname` comes with a later release, found 'x.name'"),
        ("nodes: {a: {flow: {}}}", "2:13 nodes.a.flow.dataflow: is missing"),
    ],
)  # fmt: skip
def test_what_comes_later_is_refused_by_name(text: str, told: str) -> None:
    assert problems(f"dataflow: 1\n{text}") == [told]


def test_a_hundred_thousand_nodes_are_read() -> None:
    lines = [f"  n{number}: {{type: t, inputs: {{p: n{number + 1}}}}}" for number in range(100_000)]
    wiring = load_yaml("\n".join(["nodes:", *lines]))
    assert len(wiring.block.nodes) == len(wiring.block.edges) == 100_000


@pytest.mark.parametrize(
    "nested",
    [
        lambda inner: f"{{merge: [{inner}]}}",
        lambda inner: f"{{each: {inner}}}",
        lambda inner: f"{{value: [{inner}]}}",
    ],
)
def test_deep_sources_are_read_or_refused(nested: Callable[[str], str]) -> None:
    for levels in (30, 2000):
        text = "a"
        for _ in range(levels):
            text = nested(text)
        if levels == 30:
            assert source(text) is not None
        else:
            with pytest.raises(FormatError, match=r"nests deeper than 100 levels|nesting depth"):
                source(text)


def test_nan_in_a_constant_is_kept() -> None:
    constant = source("{value: .nan}")
    assert math.isnan(constant.value)
