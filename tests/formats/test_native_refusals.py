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
#: Documents with one problem, with its location, code and place.
ONE_PROBLEM: Final = {
    "name: x": "1:1 DF0120 dataflow",
    "dataflow: true": "1:1 DF0122 dataflow",
    "dataflow: 0": "1:1 DF0122 dataflow",
    "dataflow: 1\nnodes: {$in: {type: t}}": "2:9 DF0127 nodes.$in",
    'dataflow: 1\nnodes: {"": {type: t}}': "2:9 DF0122 nodes.",
    "dataflow: 1\nnodes: yyy": "2:1 DF0122 nodes",
    "dataflow: 1\nnodes: {a: {flow: {}}}": "2:13 DF0120 nodes.a.flow.dataflow",
}
#: A document with problems of its form, and below the rule the problems.
FORM: Final = """\
dataflow: 1
node: {}
uses: {a: [1, 2, 3]}
using: {limits: {a: {}, b: {slots: 0, per_second: .inf}}, errors: ignore}
inputs:
  a: {type: strng}
  b: {typ: string}
  c: string
  d: {type: secret}
outputs:
  a: a.
  b: {mrge: [a]}
  c: {merge: []}
  d: {each: [a, b]}
  e: {each: a, ky: 1}
  f: {fallback: [a]}
  g: $x.y
  h: {merge: [$in]}
edges:
  - {source: a, target: b}
  - 5
  - {source: a, target: b, target_port: c, limit: 3}
  - {source: a, target: b, target_port: c, to: d, leave: 1}
nodes:
  page: {type: 5}
  b: []
  c: {type: t, loop: {}}
  my node: {type: t, polcy: {}, policy: {limit: 1.5, retry: {retries: -1, ons: 1}, on_error: x}}
  loop: {loop: {limit: 0, carry: {x: {first: a}}, until: {source: a, test: 3.25}, nodes: {b: {}}}}
  tests: {loop: {until: a, while: b}}
  over: {map: {over: {}}}
  keys: {map: {keys: 1}}
---
2:1 DF0121 node
3:8 DF0122 uses.a
4:18 DF0129 using.limits.a
4:29 DF0122 using.limits.b.slots
4:39 DF0122 using.limits.b.per_second
4:59 DF0122 using.errors
6:7 DF0122 inputs.a.type
7:7 DF0121 inputs.b.typ
8:3 DF0122 inputs.c
9:7 DF0132 inputs.d.type
11:3 DF0212 outputs.a
12:3 DF0125 outputs.b
13:7 DF0122 outputs.c.merge
14:7 DF0126 outputs.d.each
15:16 DF0121 outputs.e.ky
16:7 DF0122 outputs.f.fallback
17:3 DF0212 outputs.g
18:15 DF0212 outputs.h.merge[0]
20:5 DF0120 edges[0].target_port
21:5 DF0122 edges[1]
22:5 DF0128 edges[2].limit
23:44 DF0121 edges[3].to
23:51 DF0122 edges[3].leave
25:10 DF0122 nodes.page.type
26:3 DF0124 nodes.b
27:3 DF0124 nodes.c
28:22 DF0121 nodes.my%20node.polcy
28:42 DF0122 nodes.my%20node.policy.limit
28:62 DF0122 nodes.my%20node.policy.retry.retries
28:75 DF0121 nodes.my%20node.policy.retry.ons
28:84 DF0122 nodes.my%20node.policy.on_error
29:17 DF0122 nodes.loop.loop.limit
29:35 DF0120 nodes.loop.loop.carry.x.next
29:70 DF0122 nodes.loop.loop.until.test
29:91 DF0124 nodes.loop.loop.nodes.b
30:11 DF0130 nodes.tests.loop
31:16 DF0122 nodes.over.map.over
32:10 DF0120 nodes.keys.map.over
32:16 DF0121 nodes.keys.map.keys
"""
#: A document of the right form, with problems of what it says.
MEANING: Final = """\
dataflow: 1
inputs:
  a: {type: {type: strng}}
  b: {type: {type: array, items: 5}}
  c: {type: integer, default: true}
  d: {type: string, default: null}
nodes:
  a: {type: t, policy: {errors: fail}, inputs: {p: {merge: [a]}}, values: {p: 1}}
  b: {type: t, inputs: {p: {all: b}}}
  c: {map: {over: {x: b}, outputs: {y: {all: b}}}}
  d: {loop: {outputs: {y: {merge: [{all: b}]}}}}
  e: {loop: {until: {all: b}}}
outputs: {x: {all: b}}
---
3:7 DF0423 inputs.a.type
4:7 DF0421 inputs.b.type
5:22 DF0601 inputs.c.default
6:21 DF0601 inputs.d.default
8:25 DF0128 nodes.a.policy.errors
8:76 DF0131 nodes.a.values.p
9:29 DF0128 nodes.b.inputs.p.all
10:41 DF0128 nodes.c.map.outputs.y.all
11:37 DF0128 nodes.d.loop.outputs.y.merge[0].all
12:22 DF0128 nodes.e.loop.until.all
13:15 DF0128 outputs.x.all
"""


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
    assert {text: problems(text) for text in ONE_PROBLEM} == {
        text: [found] for text, found in ONE_PROBLEM.items()
    }
    for case in (FORM, MEANING):
        text, _, found = case.partition("---\n")
        assert "\n".join(problems(text)) + "\n" == found
