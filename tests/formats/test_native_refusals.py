"""Invalid native documents: all problems are reported, each with its location and place."""

from __future__ import annotations

from typing import Final

import pytest

from dataflow import FlowInvalid, FormatError
from dataflow.formats.native.reader import load
from tests.formats.nesting import nest
from tests.support.codes import located

NO_DOCUMENTS: Final = {
    "[]": "1:1 DF0118",
    "\n\n- a": "3:1 DF0118",
    "null": "1:1 DF0118",
    "name: x\ndataflow: 2\nelse: 3": "2:1 DF0119",
    "dataflow: 1\ndataflow: 1": "2:1 DF0112",
    "nodes:\n  a: {type: t}\n  a: {type: t}": "3:3 DF0112",
}
#: Places of `all`, which is only an output of a loop.
ALL: Final = {
    "nodes: {a: {type: t, inputs: {p: {all: b}}}}": "2:35 DF0128 nodes.a.inputs.p.all",
    "nodes: {a: {map: {over: {x: b}, outputs: {y: {all: b}}}}}": "2:47 DF0128 nodes.a.map.outputs.y.all",
    "nodes: {a: {loop: {outputs: {y: {merge: [{all: b}]}}}}}": (
        "2:43 DF0128 nodes.a.loop.outputs.y.merge[0].all"
    ),
    "nodes: {a: {loop: {until: {all: b}}}}": "2:28 DF0128 nodes.a.loop.until.all",
}
#: Documents, and below the rule the problems of each.
CASES: Final = [
    """\
name: x
---
1:1 DF0120 dataflow
""",
    """\
dataflow: true
---
1:1 DF0122 dataflow
""",
    """\
dataflow: 0
---
1:1 DF0122 dataflow
""",
    """\
dataflow: 1
node: {}
---
2:1 DF0121 node
""",
    """\
dataflow: 1
nodes: {$in: {type: t}}
---
2:9 DF0127 nodes.$in
""",
    """\
dataflow: 1
nodes: {"": {type: t}}
---
2:9 DF0122 nodes.
""",
    """\
dataflow: 1
nodes:
  page: {type: 5}
  b: []
  c: {type: t, loop: {}}
---
3:10 DF0122 nodes.page.type
4:3 DF0124 nodes.b
5:3 DF0124 nodes.c
""",
    """\
dataflow: 1
nodes:
  my node: {type: t, polcy: {}, policy: {limit: 1.5, retry: {retries: -1, ons: 1}, on_error: x}}
---
3:22 DF0121 nodes.my%20node.polcy
3:42 DF0122 nodes.my%20node.policy.limit
3:62 DF0122 nodes.my%20node.policy.retry.retries
3:75 DF0121 nodes.my%20node.policy.retry.ons
3:84 DF0122 nodes.my%20node.policy.on_error
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
3:3 DF0123 outputs.a
4:3 DF0125 outputs.b
5:7 DF0122 outputs.c.merge
6:7 DF0126 outputs.d.each
7:16 DF0121 outputs.e.ky
8:7 DF0122 outputs.f.fallback
9:3 DF0123 outputs.g
10:15 DF0123 outputs.h.merge[0]
""",
    """\
dataflow: 1
edges:
  - {source: a, target: b}
  - 5
  - {source: a, target: b, target_port: c, limit: 3}
  - {source: a, target: b, target_port: c, to: d, leave: 1}
---
3:5 DF0120 edges[0].target_port
4:5 DF0122 edges[1]
5:5 DF0128 edges[2].limit
6:44 DF0121 edges[3].to
6:51 DF0122 edges[3].leave
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
4:12 DF0122 nodes.a.loop.limit
4:30 DF0120 nodes.a.loop.carry.x.next
4:65 DF0122 nodes.a.loop.until.test
4:86 DF0124 nodes.a.loop.nodes.b
5:7 DF0130 nodes.b.loop
6:13 DF0122 nodes.c.map.over
7:7 DF0120 nodes.d.map.over
7:13 DF0121 nodes.d.map.keys
""",
    """\
dataflow: 1
using: {limits: {a: {}, b: {slots: 0, per_second: .inf}}, errors: ignore}
---
2:18 DF0129 using.limits.a
2:29 DF0122 using.limits.b.slots
2:39 DF0122 using.limits.b.per_second
2:59 DF0122 using.errors
""",
    """\
dataflow: 1
inputs:
  a: {type: strng}
  b: {typ: string}
  c: string
  d: {type: secret}
---
3:7 DF0122 inputs.a.type
4:7 DF0121 inputs.b.typ
5:3 DF0122 inputs.c
6:7 DF0132 inputs.d.type
""",
    """\
dataflow: 1
inputs:
  a: {type: {type: strng}}
  b: {type: {type: array, items: 5}}
  c: {type: integer, default: true}
---
3:7 DF0123 inputs.a.type
4:7 DF0123 inputs.b.type
5:22 DF0601 inputs.c.default
""",
    """\
dataflow: 1
nodes:
  a: {type: t, policy: {errors: fail}, inputs: {p: {merge: [a]}}, values: {p: 1}}
---
3:25 DF0128 nodes.a.policy.errors
3:76 DF0131 nodes.a.values.p
""",
    """\
dataflow: 1
inputs:
  a: {type: string, default: null}
---
3:21 DF0601 inputs.a.default
""",
    """\
dataflow: 1
uses: {a: [1, 2, 3]}
meta: {}
name: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'
nodes: 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy'
---
2:8 DF0122 uses.a
5:1 DF0122 nodes
""",
]


def refusal(text: str) -> FlowInvalid:
    with pytest.raises(FlowInvalid) as caught:
        load(text, "flow.yaml", nest)
    files = {problem.location.file for problem in caught.value.diagnostics}
    assert files == {caught.value.flow} == {"flow.yaml"}
    return caught.value


def problems(text: str) -> list[str]:
    return located(refusal(text))


def test_a_file_that_is_not_a_document_of_this_format_is_refused() -> None:
    for text, problem in NO_DOCUMENTS.items():
        with pytest.raises(FormatError) as caught:
            load(text, "flow.yaml", nest)
        assert located(caught.value) == [problem]


def test_all_problems_are_reported_with_their_locations() -> None:
    for case in CASES:
        text, _, found = case.partition("\n---\n")
        assert "\n".join(problems(text)) + "\n" == found
    assert problems("dataflow: 1\nnodes: {a: {flow: {}}}") == ["2:13 DF0120 nodes.a.flow.dataflow"]
    for text, found in ALL.items():
        assert problems(f"dataflow: 1\n{text}") == [found]


def test_an_unknown_key_is_reported_with_those_of_its_part() -> None:
    found = refusal(
        """\
dataflow: 1
outputs: {e: {each: a, ky: 1}}
edges: [{source: a, target: b, target_port: c, to: d}]
nodes:
  a: {type: t, polcy: {}, policy: {retry: {ons: 1}}}
  b: {map: {over: {x: a}, keys: 1}}
"""
    ).diagnostics
    assert {problem.place: problem.available for problem in found} == {
        "outputs.e.ky": ("key", "each", "max_concurrency", "on_error"),
        "edges[0].to": (
            *("each_round", "feedback", "id", "leave", "limit", "meta", "on_limit", "source", "source_port"),
            *("target", "target_port"),
        ),
        "nodes.a.polcy": ("policy", "after", "config", "inputs", "meta", "type", "values"),
        "nodes.a.policy.retry.ons": ("on", "backoff", "first", "jitter", "retries"),
        "nodes.b.map.keys": ("key", "edges", "max_concurrency", "nodes", "on_error", "outputs", "over"),
    }
