"""Documents and files that are refused, with all their problems and where these are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from dataflow import DataflowError, Flow, FlowInvalid, FormatError
from dataflow.formats.native.reader import load
from dataflow.formats.reader import MOST_BYTES
from dataflow.inspection.drawing import dot, mermaid, outline
from dataflow.loading import read_document
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
3:7 DF0423 inputs.a.type: type
4:7 DF0421 inputs.b.type: items
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


USES = "dataflow: 1\nuses: {own: ./own.py}\nnodes: {a: {type: own.f}}\n"


def file_refusal(path: Path) -> DataflowError:
    with pytest.raises(DataflowError) as raised:
        Flow.load(path)
    return raised.value


def test_invalid_files_are_refused_at_their_position(tmp_path: Path) -> None:
    file = tmp_path / "flow.yaml"
    for data, problem in {
        b"\xff\xfed\x00": "1:1 DF0102",
        "dataflow: 1\nname: é\n".encode("latin-1"): "2:7 DF0102",
        b"\xef\xbb\xbfa\r\n\xc3\xa9\xff": "2:2 DF0102",
        b"": "1:1 DF0104",
        b"\x00": "1:1 DF0107",
        b"[" * 900: "1:101 DF0116",
        b"- " * 1_000: "1:201 DF0116",
        b"a\n" * (MOST_BYTES // 2) + b"b": f"{MOST_BYTES // 2 + 1}:1 DF0103",
    }.items():
        file.write_bytes(data)
        error = file_refusal(file)
        assert located(error) == [problem]
        assert error.diagnostics[0].location.file == str(file)


def test_a_pipe_without_a_writer_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "flow.yaml").write_text("dataflow: 1\nnodes: {a: {flow: pipe}}\n")
    assert located(file_refusal(tmp_path / "pipe")) == ["DF0101"]
    assert located(file_refusal(tmp_path / "flow.yaml")) == [f"2:13 DF0101 nodes.a.flow: {tmp_path / 'pipe'}"]


def test_any_error_of_a_used_file_is_a_problem(tmp_path: Path) -> None:
    long = "ValueError: one two \\x1b[2J" + 227 * "x" + "... 34 characters ..." + 239 * "x"
    for number, (python, problem) in enumerate(
        {
            "raise GeneratorExit": "imported: GeneratorExit",
            "import asyncio\nraise asyncio.CancelledError('no')": "imported: CancelledError: no",
            "class E(Exception):\n    def __str__(self): raise ValueError\nraise E": (
                "imported: E: (its text cannot be made: ValueError)"
            ),
            "raise ValueError('one\\n two \\x1b[2J' + 500 * 'x')": f"imported: {long}",
            "def f(): f()\nf()": "imported: RecursionError: maximum recursion depth exceeded",
        }.items()
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "own.py").write_text(python)
        (folder / "flow.yaml").write_text(USES)
        error = file_refusal(folder / "flow.yaml")
        assert isinstance(error, FlowInvalid)
        assert len(error.problems) == 1
        assert problem in str(error), python


def test_invisible_characters_in_names_are_escaped(tmp_path: Path) -> None:
    (tmp_path / "flow.json").write_text(
        r'{"dataflow": 1, "nodes": {"a\n\u001b[2J\u202e\u2028": {"type": "t", "inputs": {"x": "b"}}}}'
    )
    flow = Flow.from_wiring(*read_document(tmp_path / "flow.json", Flow.from_wiring, imports=False))
    name = r"a\n\x1b[2J\u202e\u2028"
    choice = r"a%0A\x1b%5B2J\u202e%E2%80%A8"  # as references write names
    [unknown] = [text for text in map(str, flow.check()) if choice in text]
    assert f"{name}.x" in unknown
    assert "1:80" in unknown
    for draw in (outline, mermaid, dot):
        assert r"a \x1b[2J\u202e\u2028" in draw(flow.wiring).replace("\\\\", "\\")


def test_a_file_with_a_name_too_long_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "flow.yaml").write_text(USES.replace("./own.py", f"./{'x' * 300}.py"))
    assert "DF0142" in str(file_refusal(tmp_path / "flow.yaml"))
