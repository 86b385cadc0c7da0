"""Subflows of documents: in place, by file, and those of Python (S1.1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataflow import Flow, FlowInvalid
from tests.support.codes import located

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


def test_problems_of_a_subflow_have_their_locations(folder: Path) -> None:
    (folder / "bad.yaml").write_text("dataflow: 1\nnodez: {}", "utf-8")
    (folder / "other.yaml").write_text("dataflow: 1\nnodes: {m: {flow: ./main.yaml}}", "utf-8")
    for text, file, problem in (
        ("flow: ./main.yaml", "main", "3:13 DF0133 nodes.a.flow: DIR/main.yaml"),
        ("flow: ./other.yaml", "other", "2:13 DF0133 nodes.a.flow: nodes.m.flow: DIR/main.yaml"),
        ("flow: ./nowhere.yaml", "main", "3:13 DF0101 nodes.a.flow: DIR/nowhere.yaml"),
        ('flow: "./a.yaml\\0"', "main", "3:13 DF0101 nodes.a.flow: DIR/a.yaml\0"),
        ("flow: ./bad.yaml", "bad", "2:1 DF0121 nodes.a.flow: nodez"),
        (
            "flow: {dataflow: 1, nodes: {b: {type: t, policy: {errors: fail}}}}",
            "main",
            "3:63 DF0128 nodes.a.flow.nodes.b.policy.errors",
        ),
        (
            "flow: ./sub.yaml, values: {x: 1}, policy: {limit: web}",
            "main",
            "3:56 DF0128 nodes.a.policy.limit",
        ),
    ):
        with pytest.raises(FlowInvalid) as raised:
            load(folder, f"nodes: {{a: {{{text}}}}}")
        assert [one.replace(str(folder), "DIR") for one in located(raised.value)] == [problem]
        assert raised.value.diagnostics[0].location.file == str(folder / f"{file}.yaml")


def test_a_file_is_read_once(folder: Path) -> None:
    """Each of forty files names the next one twice."""
    for number in range(40):
        inner = f"./f{number + 1}.yaml" if number < 39 else "./sub.yaml"
        values = "" if number < 39 else ", values: {x: 1}"
        text = f"nodes: {{a: {{flow: {inner}{values}}}, b: {{flow: {inner}{values}}}}}"
        (folder / f"f{number}.yaml").write_text("dataflow: 1\n" + text, "utf-8")
    assert load(folder, "nodes: {a: {flow: ./f0.yaml}}").check() == []
