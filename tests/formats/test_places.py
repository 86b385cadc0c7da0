"""Each problem of a document is told with the place of what it is about (S1.7)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from dataflow import Flow, FlowInvalid
from dataflow.base.wording import read_place
from dataflow.loading import read_document

NODES: Final = """
from dataflow import ExecutionContext

async def text(x: int) -> str: ...
async def number(x: int = 0) -> int: ...
async def rows() -> list[int]: ...
async def total(xs: list[int]) -> int: ...
async def chat(context: ExecutionContext) -> ExecutionContext: ...
async def pair(x: int, y: int) -> int: ...
"""


def check(folder: Path, text: str) -> list[str]:
    (folder / "own.py").write_text(NODES, encoding="utf-8")
    file = folder / "f.yaml"
    file.write_text(f"dataflow: 1\nuses: {{own: ./own.py}}\n{text}", encoding="utf-8")
    return Flow.from_wiring(*read_document(file, Flow.from_wiring)).check()


def at(text: str, problem: str) -> str:
    """Return what stands in the document where a problem is said to be, to the end of the line."""
    _, line, column = read_place(problem)
    assert line is not None, problem
    assert column is not None, problem
    return f"dataflow: 1\nuses: {{own: ./own.py}}\n{text}".splitlines()[line - 1][column - 1 :]


# Each: a document, what stands at the place of its one problem, and a part of what is told.
CASES: Final = [
    ("nodes: {a: {type: own.nothing}}", "type: own.nothing", "uses has no such function"),
    ("nodes: {a: {type: own.text, inputs: {x: b}}}", "x: b}", "no node 'b'"),
    ("nodes: {a: {type: own.text, inputs: {x: in.b}}}", "x: in.b", "a $ in front, $in.b, it is no node"),
    ("nodes: {a.b: {type: own.rows}, c: {type: own.text, inputs: {x: a.b}}}", "x: a.b", "choices: a%2Eb, c"),
    ("nodes: {a: {type: own.text, inputs: {x: $in.b}}}", "x: $in.b", "does not exist here"),
    ("nodes: {a: {type: own.number, inputs: {y: a}}}", "y: a}", "has no input port 'y'"),
    ("nodes: {a: {type: own.number, values: {y: 1}}}", "y: 1}", "has no input port 'y'"),
    ("nodes: {a: {type: own.number, inputs: {y: {value: 1}}}}", "y: {value", "has no input port 'y'"),
    ("nodes: {a: {type: own.number, inputs: {x: {value: t}}}}", "x: {value", "found str 't'"),
    ("nodes: {a: {type: own.number, values: {x: t}}}", "x: t}", "expected int, found str 't'"),
    ("nodes: {a: {type: own.number}, b: {type: own.text}}", "b: {type", "is required and has neither"),
    ("nodes: {a: {type: own.number, after: [b]}}", "after: [b]", "no node 'b'"),
    (
        "nodes: {a: {type: own.number, policy: {on_error: skip, default: t}}}",
        "default: t",
        "default of node 'a': expected int",
    ),
    ("nodes: {a: {type: own.rows, policy: {default: 1}}}", "default: 1", "default of node 'a'"),
    ("nodes: {a: {type: own.number, config: {b: 1}}}", "config: {b", "takes no config"),
    ("nodes: {a: {type: control.if, values: {value: 1}, config: {condition: 1}}}", "condition: 1", "string"),
    (
        "nodes: {a: {type: control.if, values: {value: 1}, config: {condition: x}}}",
        "condition: x",
        "unknown name 'x'",
    ),
    (
        "nodes: {a: {type: control.if, values: {value: 1}, config: {predicate: 'no_such:f'}}}",
        "predicate: 'no",
        "No module named 'no_such'",
    ),
    (
        "nodes: {a: {type: control.switch, values: {value: 1}, config: {cases: {one: value >}}}}",
        "one: value >",
        "ends too early",
    ),
    ("nodes: {a: {type: own.rows}, b: {type: own.text, inputs: {x: a}}}", "x: a}", "wire each(...)"),
    (
        (
            "nodes: {a: {type: own.rows}, b: {type: own.number}}\n"
            "edges:\n  - {source: a, source_port: out, target: b, target_port: x}"
        ),
        "{source: a",
        "expects int",
    ),
    (
        (
            "nodes: {b: {type: own.number}}\nedges:\n"
            "  - {source: b, source_port: out, target: c, target_port: x}"
        ),
        "{source: b",
        "no node 'c' in this block",
    ),
    (
        "nodes: {a: {type: own.number}, b: {type: own.number, inputs: {x: {each: a}}}}",
        "x: {each",
        "expected a list",
    ),
    (
        "nodes: {a: {type: own.rows}, b: {type: own.number, inputs: {x: {each: a, key: no}}}}",
        "key: no}",
        "unknown name 'no'",
    ),
    (
        (
            "nodes: {a: {type: own.rows}, b: {type: own.number, inputs: {x: {each: a}}},\n"
            "  c: {type: own.number, inputs: {x: b}}}\noutputs: {o: c}"
        ),
        "o: c}",
        "collect it first",
    ),
    (
        "nodes: {a: {type: own.rows}, b: {type: own.total, inputs: {xs: {collect: a}}}}",
        "xs: {collect",
        "not inside a map",
    ),
    (
        (
            "nodes: {a: {type: own.rows}, b: {type: own.rows},\n"
            "  c: {type: own.pair, inputs: {x: {each: a}, y: {each: b}}}}"
        ),
        "c: {type",
        "reads two maps",
    ),
    (
        "nodes: {a: {type: own.number, inputs: {x: b}}, b: {type: own.number, inputs: {x: a}}}",
        "a: {t",
        "cycle",
    ),
    ("nodes: {a: {map: {over: {r: b}, nodes: {}}}}", "r: b}", "no node 'b'"),
    (
        "nodes: {a: {map: {over: {r: {value: [1]}}, key: no, nodes: {}}}}",
        "key: no",
        "unknown name 'no'",
    ),
    (
        "nodes: {a: {map: {over: {r: {value: [1]}}, nodes: {b: {type: own.text, values: {x: t}}}}}}",
        "x: t}",
        "expected int",
    ),
    ("nodes: {a: {map: {over: {r: {value: [1]}}, nodes: {}, outputs: {o: b}}}}", "o: b}", "no node 'b'"),
    ("nodes: {a: {loop: {limit: null, nodes: {}}}}", "limit: null", "would never end"),
    ("nodes: {a: {loop: {carry: {c: {first: b, next: $carry.c}}, nodes: {}}}}", "first: b", "no node 'b'"),
    (
        "nodes: {a: {loop: {carry: {c: {first: {value: 1}, next: b}}, nodes: {}}}}",
        "next: b",
        "no node 'b'",
    ),
    (
        "nodes: {a: {loop: {carry: {c: {first: {value: 1}, next: b}}, nodes: {b: {type: own.rows}}}}}",
        "next: b}",
        "the port began as int",
    ),
    ("nodes: {a: {loop: {until: b, nodes: {}}}}", "until: b", "no node 'b'"),
    ("nodes: {a: {loop: {until: b, nodes: {b: {type: own.number}}}}}", "until: b", "expected bool"),
    (
        "nodes: {a: {loop: {while: b, nodes: {b: {type: own.number}}}}}",
        "while: b",
        "expected bool",
    ),
    (
        "nodes: {a: {loop: {until: {source: b, test: no}, nodes: {b: {type: own.number}}}}}",
        "until: {s",
        "'no'",
    ),
    ("nodes: {a: {loop: {limit: 3, nodes: {}, outputs: {o: b}}}}", "o: b}", "no node 'b'"),
    (
        (
            "nodes: {a: {loop: {limit: 3, nodes: {b: {map: {over: {r: {value: [1]}}, nodes: {\n"
            "  c: {type: own.nothing}}}}}}}}"
        ),
        "type: own.nothing",
        "no such function",
    ),
    (
        "nodes: {a: {flow: {dataflow: 1, inputs: {q: {type: integer}}, nodes: {}}}}",
        "a: {flow",
        "'a.q' is required",
    ),
    (
        "nodes: {a: {flow: {dataflow: 1, nodes: {b: {type: control.read_text, values: {path: 1}}}}}}",
        "path: 1",
        "expected str, found int 1",
    ),
    ("nodes: {a: {flow: {dataflow: 1, nodes: {}, outputs: {o: b}}}}", "o: b}", "no node 'b'"),
    ("nodes: {a: {type: own.number}}\noutputs: {o: a.x}", "o: a.x", "has no output port 'x'"),
    ("nodes: {}\noutputs: {o: {merge: [a]}}", "o: {merge", "no node 'a'"),
    (
        (
            "nodes: {a: {type: control.context}, b: {type: control.context},\n"
            "  c: {type: own.chat, inputs: {context: [a, b]}}}"
        ),
        "context: [a",
        "two conversations",
    ),
    (
        "nodes: {a: {type: own.number}}\noutputs: {o: {merge_contexts: [a], how: pick}}",
        "o: {merge_contexts",
        "expected ExecutionContext",
    ),
]


@pytest.mark.parametrize(("text", "place", "told"), CASES, ids=[told for _, _, told in CASES])
def test_a_problem_is_told_with_its_place(tmp_path: Path, text: str, place: str, told: str) -> None:
    found = [problem for problem in check(tmp_path, text) if told in problem]
    assert found, check(tmp_path, text)
    assert at(text, found[0]).startswith(place), found[0]


def test_what_is_wired_to_a_port_that_is_not_there_is_told_too(tmp_path: Path) -> None:
    told = check(tmp_path, "nodes: {a: {type: own.number, inputs: {y: $in.b}}}")
    assert told == [
        "3:40 node 'a' (own.number) has no input port 'y'; choices: x",
        "3:40 port 'a.y' reads '$in.b', which does not exist here; there are none",
    ]


@pytest.mark.parametrize(
    "config", ["{template: '{{ x '}", "{template: '{{ x }}', more: 1}", "{}", "{template: '{{ config }}'}"]
)
def test_a_config_that_names_no_ports_is_the_only_problem_of_its_node(tmp_path: Path, config: str) -> None:
    node = f"{{type: control.template, config: {config}, values: {{x: 1, z: 2}}}}"
    text = f"nodes: {{a: {node}}}\noutputs: {{o: a}}"
    assert len(check(tmp_path, text)) == 1


def test_the_problems_stand_in_the_order_of_the_text(tmp_path: Path) -> None:
    text = "outputs: {o: a.x, p: b}\nnodes:\n  a: {type: own.text}\n  c: {type: own.no}\n"
    places = [read_place(problem)[1:] for problem in check(tmp_path, text)]
    assert places == sorted(places)
    assert len(places) == 4


def test_the_problem_of_a_nested_file_has_its_place_there(tmp_path: Path) -> None:
    (tmp_path / "inner.yaml").write_text(
        "dataflow: 1\nnodes:\n  r: {type: control.read_text}\n", encoding="utf-8"
    )
    assert check(tmp_path, "nodes:\n  a:\n    flow: ./inner.yaml\n") == [
        (
            "5:5 node 'a', flow 'inner': ./inner.yaml:3:3: "
            "port 'r.path' is required and has neither an edge nor a constant"
        )
    ]


def test_a_flow_that_is_loaded_is_told_with_places(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_text("dataflow: 1\nnodes: {a: {type: control.read_text}}\n", encoding="utf-8")
    with pytest.raises(FlowInvalid) as caught:
        Flow.load(file)
    assert [read_place(problem)[1:] for problem in caught.value.problems] == [(2, 9)]


def test_a_flow_that_was_wired_in_python_has_no_places() -> None:
    flow = Flow("f")
    flow.connect("a", "b.c")
    assert [read_place(problem)[1:] for problem in flow.check()] == [(None, None)]
