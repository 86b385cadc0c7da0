"""Flows nested in documents: in place, by file, and those of Python (S1.1)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dataflow import Flow, FlowInvalid
from dataflow.formats.native.writer import dump_yaml

NODES = """
from dataflow import flow

async def inc(x: int) -> int:
    return x + 1

async def told(value: object) -> str:
    return getattr(value, "message", str(value))

async def odd(x: int) -> int:
    if x % 2 == 0:
        raise ValueError(f"{x} is even")
    return x

@flow
def twice(f, x: int) -> int:
    return f.add(inc, f.add(inc, x).out).out
"""
SUB = """
dataflow: 1
uses: {t: ./nodes.py}
inputs: {x: {type: integer}}
nodes: {odd: {type: t.odd, inputs: {x: $in.x}}}
outputs: {y: odd}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nodes.py").write_text(NODES, "utf-8")
    (tmp_path / "sub.yaml").write_text(SUB, "utf-8")
    return tmp_path


def load(folder: Path, text: str) -> Flow:
    path = folder / "main.yaml"
    path.write_text("dataflow: 1\nuses: {t: ./nodes.py}\n" + text, "utf-8")
    return Flow.load(path)


async def test_a_document_nests_a_file_and_a_document(folder: Path) -> None:
    loaded = load(
        folder,
        """
nodes:
  by_file: {flow: ./sub.yaml, values: {x: 3}}
  in_place:
    flow:
      dataflow: 1
      uses: {t: ./nodes.py}
      inputs: {x: {type: integer}, y: {type: integer, default: 5}}
      nodes: {inc: {type: t.inc, inputs: {x: $in.x}}}
      outputs: {out: inc, y: $in.y}
    inputs: {x: by_file.y}
outputs: {o: in_place, y: in_place.y}
""",
    )
    result = await loaded.run()
    assert result.outputs == {"o": 4, "y": 5}
    assert list(result.states) == ["by_file", "in_place", "by_file/odd", "in_place/inc"]


async def test_a_flow_of_python_is_a_type_of_a_document(folder: Path) -> None:
    loaded = load(folder, "nodes: {a: {type: t.twice, values: {x: 1}}}\noutputs: {o: a}")
    assert (await loaded.run()).outputs == {"o": 3}


async def test_settings_of_the_node_count(folder: Path) -> None:
    loaded = load(
        folder,
        """
nodes:
  sub: {flow: ./sub.yaml, values: {x: 2}, policy: {errors: collect}}
  told: {type: t.told, inputs: {value: sub.y}}
outputs: {o: told}
""",
    )
    assert (await loaded.run()).outputs == {"o": "2 is even"}


async def test_what_was_loaded_is_written_and_read_again_the_same(folder: Path) -> None:
    loaded = load(
        folder,
        """
nodes:
  by_file: {flow: ./sub.yaml, values: {x: 3}, policy: {on_error: skip, errors: collect}, meta: {a: 1}}
  in_place: {flow: {dataflow: 1, name: inner, using: {errors: continue}}, after: [by_file]}
outputs: {o: by_file.y}
""",
    )
    written = loaded.to_dict()
    assert written["nodes"] == {
        "by_file": {
            "flow": "./sub.yaml",
            "values": {"x": 3},
            "policy": {"on_error": "skip", "errors": "collect"},
            "meta": {"a": 1},
        },
        "in_place": {
            "flow": {"dataflow": 1, "name": "inner", "using": {"errors": "continue"}},
            "after": ["by_file"],
        },
    }
    (folder / "again.yaml").write_text(dump_yaml(loaded.wiring), "utf-8")
    assert json.dumps(Flow.load(folder / "again.yaml").to_dict()) == json.dumps(written)


def test_a_flow_of_the_builder_is_written_in_place() -> None:
    with Flow("inner") as inner:
        inner.output("x", inner.input("x", int, 3))
    with Flow("outer") as outer:
        outer.output("o", outer.add(inner.with_(name="here")).out.x)
    assert outer.to_dict() == {
        "dataflow": 1,
        "name": "outer",
        "nodes": {
            "here": {
                "flow": {
                    "dataflow": 1,
                    "name": "inner",
                    "inputs": {"x": {"type": "integer", "default": 3}},
                    "outputs": {"x": "$in.x"},
                }
            }
        },
        "outputs": {"o": "here.x"},
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nodes: {a: {flow: ./main.yaml}}", "is part of itself: main.yaml -> main.yaml"),
        ("nodes: {a: {flow: ./nowhere.yaml}}", "nowhere.yaml: cannot be read: No such file or directory"),
        (
            "nodes: {a: {flow: ./bad.yaml}}",
            "3:13 nodes.a.flow: ./bad.yaml:2:1: nodez: is not known here",
        ),
        (
            "nodes: {a: {flow: {dataflow: 1, nodes: {b: {type: t, policy: {errors: fail}}}}}}",
            "3:63 nodes.a.flow.nodes.b.policy.errors: is for flow nodes only",
        ),
        (
            "nodes: {a: {flow: ./sub.yaml, values: {x: 1}, policy: {limit: web}}}",
            "nodes.a.policy.limit: is for nodes of a type; a flow node holds no slot",
        ),
        (
            "nodes: {a: {flow: ./sub.yaml, values: {x: 1}, policy: {default: 1}}}",
            "default of node 'a' is for its port 'out', which it does not have; choices: y",
        ),
        ("nodes: {a: {flow: ./sub.yaml}}", "port 'a.x' is required and has neither an edge nor a constant"),
        (
            "nodes: {a: {flow: {dataflow: 1, nodes: {b: {type: t.inc}}}}}",
            "3:45 node 'a', flow 'a': node 'b': t.inc: no installed pack is called 't'",
        ),
    ],
)
def test_what_is_wrong_with_a_nested_flow_is_told_with_its_place(folder: Path, text: str, told: str) -> None:
    (folder / "bad.yaml").write_text("dataflow: 1\nnodez: {}", "utf-8")
    with pytest.raises(FlowInvalid) as raised:
        load(folder, text)
    assert told in str(raised.value)


def test_files_that_nest_one_another_are_refused(folder: Path) -> None:
    (folder / "other.yaml").write_text("dataflow: 1\nnodes: {m: {flow: ./main.yaml}}", "utf-8")
    with pytest.raises(FlowInvalid, match="DF0133"):
        load(folder, "nodes: {o: {flow: ./other.yaml}}")


def test_a_file_that_no_system_can_name_is_a_problem_of_the_document(folder: Path) -> None:
    with pytest.raises(FlowInvalid, match="DF0101"):
        load(folder, 'nodes: {a: {flow: "./a.yaml\\0"}}')


def test_a_file_is_read_once_wherever_it_stands(folder: Path) -> None:
    """Each of forty files names the next one twice."""
    for number in range(40):
        inner = f"./f{number + 1}.yaml" if number < 39 else "./sub.yaml"
        values = "" if number < 39 else ", values: {x: 1}"
        text = f"nodes: {{a: {{flow: {inner}{values}}}, b: {{flow: {inner}{values}}}}}"
        (folder / f"f{number}.yaml").write_text("dataflow: 1\n" + text, "utf-8")
    assert load(folder, "nodes: {a: {flow: ./f0.yaml}}").check() == []
