"""Documents and files that are refused, with all their problems and where each of these is (S1.7)."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

import pytest

from dataflow import DataflowError, Diagnostic, Flow, FlowInvalid, FormatError
from dataflow.formats.native.reader import load
from dataflow.formats.reader import MOST_BYTES
from dataflow.inspection.drawing import dot, mermaid, outline
from dataflow.loading import read_document
from tests.formats.nesting import nest
from tests.support.codes import located

NO_DOCUMENTS: Final = {
    "[]": "1:1 DF0118", "\n\n- a": "3:1 DF0118", "null": "1:1 DF0118",
    "name: x\ndataflow: 2\nelse: 3": "2:1 DF0119", "dataflow: 1\ndataflow: 1": "2:1 DF0112",
    "nodes:\n  a: {type: t}\n  a: {type: t}": "3:3 DF0112",
}  # fmt: skip
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


NODES: Final = """
from dataflow import ExecutionContext

async def text(x: int) -> str: ...
async def number(x: int = 0) -> int: ...
async def rows() -> list[int]: ...
async def total(xs: list[int]) -> int: ...
async def chat(context: ExecutionContext) -> ExecutionContext: ...
async def pair(x: int, y: int) -> int: ...
"""


HEAD: Final = "dataflow: 1\nuses: {own: ./own.py}\n"


def check(folder: Path, text: str) -> list[Diagnostic]:
    (folder / "own.py").write_text(NODES, encoding="utf-8")
    file = folder / "f.yaml"
    file.write_text(HEAD + text, encoding="utf-8")
    return Flow.from_wiring(*read_document(file, Flow.from_wiring)).check()


def position(problem: Diagnostic) -> tuple[int, int]:
    found = re.search(r"(?:^|:)(\d+):(\d+)[: ]", str(problem))
    assert found is not None, problem
    return int(found[1]), int(found[2])


def at(text: str, problem: Diagnostic) -> str:
    line, column = position(problem)
    return (HEAD + text).splitlines()[line - 1][column - 1 :]


#: Documents, and what is at the location of the problem that each has.
CASES: Final = {
    "nodes: {a: {type: own.nothing}}": "type: own.nothing",
    "nodes: {a: {type: own.text, inputs: {x: b}}}": "x: b}",
    "nodes: {a: {type: own.text, inputs: {x: in.b}}}": "x: in.b",
    "nodes: {a.b: {type: own.rows}, c: {type: own.text, inputs: {x: a.b}}}": "x: a.b",
    "nodes: {a: {type: own.text, inputs: {x: $in.b}}}": "x: $in.b",
    "nodes: {a: {type: own.number, inputs: {y: a}}}": "y: a}",
    "nodes: {a: {type: own.number, values: {y: 1}}}": "y: 1}",
    "nodes: {a: {type: own.number, inputs: {y: {value: 1}}}}": "y: {value",
    "nodes: {a: {type: own.number, inputs: {x: {value: t}}}}": "x: {value",
    "nodes: {a: {type: own.number, values: {x: t}}}": "x: t}",
    "nodes: {a: {type: own.number}, b: {type: own.text}}": "b: {type",
    "nodes: {a: {type: own.number, after: [b]}}": "after: [b]",
    "nodes: {a: {type: own.number, policy: {on_error: skip, default: t}}}": "default: t",
    "nodes: {a: {type: own.rows, policy: {default: 1}}}": "default: 1",
    "nodes: {a: {type: own.number, config: {b: 1}}}": "config: {b",
    "nodes: {a: {type: control.if, values: {value: 1}, config: {condition: 1}}}": "condition: 1",
    "nodes: {a: {type: control.if, values: {value: 1}, config: {condition: x}}}": "condition: x",
    "nodes: {a: {type: control.if, values: {value: 1}, config: {predicate: 'no_such:f'}}}": (
        "predicate: 'no"
    ),
    "nodes: {a: {type: control.switch, values: {value: 1}, config: {cases: {one: value >}}}}": (
        "one: value >"
    ),
    "nodes: {a: {type: own.rows}, b: {type: own.text, inputs: {x: a}}}": "x: a}",
    "nodes: {a: {type: own.rows}, b: {type: own.number}}\n"
    "edges:\n"
    "  - {source: a, source_port: out, target: b, target_port: x}": "{source: a",
    "nodes: {b: {type: own.number}}\n"
    "edges:\n"
    "  - {source: b, source_port: out, target: c, target_port: x}": "{source: b",
    "nodes: {a: {type: own.number}, b: {type: own.number, inputs: {x: {each: a}}}}": "x: {each",
    "nodes: {a: {type: own.rows}, b: {type: own.number, inputs: {x: {each: a, key: no}}}}": "key: no}",
    "nodes: {a: {type: own.rows}, b: {type: own.number, inputs: {x: {each: a}}},\n"
    "  c: {type: own.number, inputs: {x: b}}}\n"
    "outputs: {o: c}": "o: c}",
    "nodes: {a: {type: own.rows}, b: {type: own.total, inputs: {xs: {collect: a}}}}": "xs: {collect",
    "nodes: {a: {type: own.rows}, b: {type: own.rows},\n"
    "  c: {type: own.pair, inputs: {x: {each: a}, y: {each: b}}}}": "c: {type",
    "nodes: {a: {type: own.number, inputs: {x: b}}, b: {type: own.number, inputs: {x: a}}}": "a: {t",
    "nodes: {a: {map: {over: {r: b}, nodes: {}}}}": "r: b}",
    "nodes: {a: {map: {over: {r: {value: [1]}}, key: no, nodes: {}}}}": "key: no",
    "nodes: {a: {map: {over: {r: {value: [1]}}, nodes: {b: {type: own.text, values: {x: t}}}}}}": "x: t}",
    "nodes: {a: {map: {over: {r: {value: [1]}}, nodes: {}, outputs: {o: b}}}}": "o: b}",
    "nodes: {a: {loop: {limit: null, nodes: {}}}}": "limit: null",
    "nodes: {a: {loop: {carry: {c: {first: b, next: $carry.c}}, nodes: {}}}}": "first: b",
    "nodes: {a: {loop: {carry: {c: {first: {value: 1}, next: b}}, nodes: {}}}}": "next: b",
    "nodes: {a: {loop: {carry: {c: {first: {value: 1}, next: b}}, nodes: {b: {type: own.rows}}}}}": (
        "next: b}"
    ),
    "nodes: {a: {loop: {until: b, nodes: {}}}}": "until: b",
    "nodes: {a: {loop: {until: b, nodes: {b: {type: own.number}}}}}": "until: b",
    "nodes: {a: {loop: {while: b, nodes: {b: {type: own.number}}}}}": "while: b",
    "nodes: {a: {loop: {until: {source: b, test: no}, nodes: {b: {type: own.number}}}}}": "until: {s",
    "nodes: {a: {loop: {limit: 3, nodes: {}, outputs: {o: b}}}}": "o: b}",
    "nodes: {a: {loop: {limit: 3, nodes: {b: {map: {over: {r: {value: [1]}}, nodes: {\n"
    "  c: {type: own.nothing}}}}}}}}": "type: own.nothing",
    "nodes: {a: {flow: {dataflow: 1, inputs: {q: {type: integer}}, nodes: {}}}}": "a: {flow",
    "nodes: {a: {flow: {dataflow: 1, nodes: {b: {type: control.read_text, values: {path: 1}}}}}}": (
        "path: 1"
    ),
    "nodes: {a: {flow: {dataflow: 1, nodes: {}, outputs: {o: b}}}}": "o: b}",
    "nodes: {a: {type: own.number}}\noutputs: {o: a.x}": "o: a.x",
    "nodes: {}\noutputs: {o: {merge: [a]}}": "o: {merge",
    "nodes: {a: {type: control.context}, b: {type: control.context},\n"
    "  c: {type: own.chat, inputs: {context: [a, b]}}}": "context: [a",
    "nodes: {a: {type: own.number}}\noutputs: {o: {merge_contexts: [a], how: pick}}": "o: {merge_contexts",
}


def test_a_problem_has_the_location_of_its_part(tmp_path: Path) -> None:
    for text, place in CASES.items():
        found = check(tmp_path, text)
        assert any(at(text, problem).startswith(place) for problem in found), (text, found)


def test_a_config_that_names_no_ports_is_the_only_problem_of_its_node(tmp_path: Path) -> None:
    for config in (
        "{template: '{{ x '}", "{template: '{{ x }}', more: 1}", "{}", "{template: '{{ config }}'}"
    ):  # fmt: skip
        node = f"{{type: control.template, config: {config}, values: {{x: 1, z: 2}}}}"
        assert len(check(tmp_path, f"nodes: {{a: {node}}}\noutputs: {{o: a}}")) == 1
