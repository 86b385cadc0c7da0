"""Each problem of a document has the location of the part that it is about (S1.7)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from dataflow import Diagnostic, Flow
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


HEAD: Final = "dataflow: 1\nuses: {own: ./own.py}\n"


def check(folder: Path, text: str) -> list[Diagnostic]:
    (folder / "own.py").write_text(NODES, encoding="utf-8")
    file = folder / "f.yaml"
    file.write_text(HEAD + text, encoding="utf-8")
    return Flow.from_wiring(*read_document(file, Flow.from_wiring)).check()


def position(problem: Diagnostic) -> tuple[int, int]:
    """Return the line and column of a problem."""
    found = re.search(r"(?:^|:)(\d+):(\d+)[: ]", str(problem))
    assert found is not None, problem
    return int(found[1]), int(found[2])


def at(text: str, problem: Diagnostic) -> str:
    """Return what the document has at the location of a problem, to the end of the line."""
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
