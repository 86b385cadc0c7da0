# ruff: noqa: E501 - messages are compared whole
"""What is no native document of this release, and what is said of it."""

from __future__ import annotations

from typing import Final

import pytest

from dataflow import FlowInvalid, FormatError
from dataflow.formats.native.reader import load
from tests.formats.nesting import nest


def problems(text: str) -> list[str]:
    with pytest.raises(FlowInvalid) as caught:
        load(text, "flow.yaml", nest)
    assert caught.value.flow == "flow.yaml"
    return list(caught.value.problems)


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
        load(text, "flow.yaml", nest)
    assert str(caught.value) == told


# Each: a document, and below the rule what is told of it.
CASES: Final = [
    """\
name: x
---
1:1 dataflow: is missing
""",
    """\
dataflow: true
---
1:1 dataflow: expected the number of the format, 1, found True
""",
    """\
dataflow: 0
---
1:1 dataflow: expected 1, found 0
""",
    """\
dataflow: 1
node: {}
---
2:1 node: is not known here; choices: nodes, edges, outputs, dataflow, name, uses, inputs, using, meta
""",
    """\
dataflow: 1
nodes: {$in: {type: t}}
---
2:9 nodes.$in: no node can be called '$in', which stands for the inputs of the flow
""",
    """\
dataflow: 1
nodes: {"": {type: t}}
---
2:9 nodes.: expected a text that is not empty, found ''
""",
    """\
dataflow: 1
nodes:
  page: {type: 5}
  b: []
  c: {type: t, loop: {}}
---
3:10 nodes.page.type: expected text, found 5
4:3 nodes.b: expected a node: a mapping with exactly one of type, flow, loop, map, found an empty list
5:3 nodes.c: expected a node: a mapping with exactly one of type, flow, loop, map, found a mapping with type, loop
""",
    """\
dataflow: 1
nodes:
  my node: {type: t, polcy: {}, policy: {limit: 1.5, retry: {retries: -1, ons: 1}, on_error: x}}
---
3:22 nodes.my%20node.polcy: is not known here; choices: type, config, inputs, values, policy, after, meta
3:42 nodes.my%20node.policy.limit: expected text or a whole number, found 1.5
3:62 nodes.my%20node.policy.retry.retries: expected a number of 0 or more, found -1
3:75 nodes.my%20node.policy.retry.ons: is not known here; choices: retries, on, backoff, first, jitter
3:84 nodes.my%20node.policy.on_error: expected 'fail', 'skip' or 'route', found 'x'
""",
    """\
dataflow: 1
outputs:
  a: a.
  b: {mrge: [a]}
  c: {merge: []}
  d: {each: [a, b]}
  e: {each: a, ky: 1}
  f: {fallback: [a]}
  g: $x.y
  h: {merge: [$in]}
---
3:3 outputs.a: 'a.' is no source: write `node.port`, `node` or `$in.name`
4:3 outputs.b: expected a source: `node.port`, or a mapping with one of merge, gather, race, fallback, value, each, every, collect, all, merge_contexts, found a mapping with mrge
5:7 outputs.c.merge: expected 1 or more entries, found an empty list
6:7 outputs.d.each: `each` over several lists comes with a later release; a map block takes them in `over`
7:16 outputs.e.ky: is not known here; choices: each, key, max_concurrency, on_error
8:7 outputs.f.fallback: expected 2 or more entries, found a list of 1
9:3 outputs.g: '$x.y' is no source: there is no '$x'; choices: $in, $carry, $item
10:15 outputs.h.merge[0]: '$in' is no source: write `$in.name`
""",
    """\
dataflow: 1
edges:
  - {source: a, target: b}
  - 5
  - {source: a, target: b, target_port: c, limit: 3}
  - {source: a, target: b, target_port: c, to: d, leave: 1}
---
3:5 edges[0].target_port: is missing
4:5 edges[1]: expected a mapping, found 5
5:5 edges[2]: `limit` stands only beside `feedback: true`
6:44 edges[3].to: is not known here; choices: source, source_port, target, target_port, feedback, limit, on_limit, each_round, leave, id, meta
6:51 edges[3].leave: expected 'last' or 'all', found 1
""",
    """\
dataflow: 1
nodes:
  a:
    loop: {limit: 0, carry: {x: {first: a}}, until: {source: a, test: 3.25}, nodes: {b: {}}}
  b: {loop: {until: a, while: b}}
  c: {map: {over: {}}}
  d: {map: {keys: 1}}
---
4:12 nodes.a.loop.limit: expected a number above 0, found 0
4:30 nodes.a.loop.carry.x.next: is missing
4:65 nodes.a.loop.until.test: expected text, found 3.25
4:86 nodes.a.loop.nodes.b: expected a node: a mapping with exactly one of type, flow, loop, map, found an empty mapping
5:7 nodes.b.loop: a loop has one test: `until` or `while`
6:13 nodes.c.map.over: expected 1 or more entries, found an empty mapping
7:7 nodes.d.map.over: is missing
7:13 nodes.d.map.keys: is not known here; choices: nodes, edges, outputs, over, key, max_concurrency, on_error
""",
    """\
dataflow: 1
using: {limits: {a: {}, b: {slots: 0, per_second: .inf}}, errors: ignore}
---
2:18 using.limits.a: a limit has slots, per_second or both
2:29 using.limits.b.slots: expected a number above 0, found 0
2:39 using.limits.b.per_second: expected a finite number, found Infinity
2:59 using.errors: expected 'fail_fast' or 'continue', found 'ignore'
""",
    """\
dataflow: 1
inputs:
  a: {type: strng}
  b: {typ: string}
  c: string
  d: {type: secret}
---
3:7 inputs.a.type: expected 'string', 'number', 'integer', 'boolean', 'array', 'object' or 'null', found 'strng'
4:7 inputs.b.typ: is not known here; choices: type, default
5:3 inputs.c: expected a mapping, found 'string'
6:7 inputs.d.type: expected 'string', 'number', 'integer', 'boolean', 'array', 'object' or 'null', found 'secret'; \
for a secret write {type: string, format: secret}
""",
    """\
dataflow: 1
inputs:
  a: {type: {type: strng}}
  b: {type: {type: array, items: 5}}
  c: {type: integer, default: true}
---
3:7 inputs.a.type: there is no JSON type 'strng'; choices: string, number, integer, boolean, array, object, null
4:7 inputs.b.type: expected a JSON Schema, found 5
5:22 inputs.c.default: expected int, found bool True
""",
    """\
dataflow: 1
nodes:
  a: {type: t, policy: {errors: fail}, inputs: {p: {merge: [a]}}, values: {p: 1}}
---
3:25 nodes.a.policy.errors: is for flow nodes only
3:76 nodes.a.values.p: has a source in `inputs` already
""",
    """\
dataflow: 1
inputs:
  a: {type: string, default: null}
---
3:21 inputs.a.default: expected str, found None
""",
    """\
dataflow: 1
uses: {a: [1, 2, 3]}
meta: {}
name: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'
nodes: 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy'
---
2:8 uses.a: expected text, found a list of 3
5:1 nodes: expected a mapping, found 'yyyyyyyyyyyyyyyyyy... 64 characters ...yyyyyyyyyyyyyyyyyy'
""",
]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_all_problems_are_told_at_once_with_their_places(case: str) -> None:
    text, _, told = case.partition("\n---\n")
    assert "\n".join(problems(text)) + "\n" == told


def test_a_nested_flow_is_a_document_too() -> None:
    told = "2:13 nodes.a.flow.dataflow: is missing"
    assert problems("dataflow: 1\nnodes: {a: {flow: {}}}") == [told]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("outputs: {x: {all: b}}", "2:15 outputs.x.all"),
        ("nodes: {a: {type: t, inputs: {p: {all: b}}}}", "2:35 nodes.a.inputs.p.all"),
        ("nodes: {a: {map: {over: {x: b}, outputs: {y: {all: b}}}}}", "2:47 nodes.a.map.outputs.y.all"),
        (
            "nodes: {a: {loop: {outputs: {y: {merge: [{all: b}]}}}}}",
            "2:43 nodes.a.loop.outputs.y.merge[0].all",
        ),
        ("nodes: {a: {loop: {until: {all: b}}}}", "2:28 nodes.a.loop.until.all"),
    ],
)
def test_all_stands_only_in_the_outputs_of_a_loop(text: str, where: str) -> None:
    assert problems(f"dataflow: 1\n{text}") == [f"{where}: `all` is an output of a loop, and nothing else"]
