"""A flow is checked whole when it is built: every problem at once, none of them at run time (S1.7, B57)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, FlowInvalid, FormatError, node
from dataflow.formats.native.writer import dump_yaml
from tests.behaviour.flow_parts import fetch, inc, join, length, pair, point, split, triple
from tests.support.codes import codes, located

USES: Final = "dataflow: 1\nuses: {n: tests.behaviour.flow_parts}\n"


def seven_faults(f: Flow) -> None:
    f.add(point)
    f.connect("point.x", "pair.p")
    f.add(pair)  # type: ignore[call-arg]  # q is required
    for name in ("u", "v", "w", "two"):
        f.add(node(inc).with_(name=name))  # type: ignore[call-arg]  # wired by name below
    f.connect("nobody", "u.x")
    f.connect("point.z", "v.x")
    f.connect("point.x", "w.x")
    f.connect("point.x", "w.zz")
    f.connect("point.x", "two.x")
    f.connect("point.y", "two.x")
    for name, other in (("c1", "c2"), ("c2", "c1")):
        f.add(node(inc).with_(name=name))  # type: ignore[call-arg]  # as above
        f.connect(other, f"{name}.x")
    f.add(node(point).with_(name="point"))


SIX: Final = ["DF0301 pair.q", "DF0302 v.x", "DF0302 w.zz", "DF0303 u.x", "DF0307 two.x", "DF0316 c1"]


async def test_seven_faults_are_reported_together_and_nothing_runs() -> None:
    """B57"""
    f = Flow("faulty")
    seven_faults(f)
    assert sorted(codes(f.check())) == ["DF0202 point", *SIX]
    with pytest.raises(FlowInvalid, match="flow 'faulty' has 7 problems:") as raised:
        await f.run()
    assert sorted(codes(raised.value)) == ["DF0202 point", *SIX]
    with pytest.raises(FlowInvalid), f:
        pass


def test_seven_faults_of_a_document_are_told_at_once(tmp_path: Path) -> None:
    """A node id twice in one block is a key twice (below); here an inner block has an outer one's id."""
    path = tmp_path / "faulty.yaml"
    path.write_text(
        USES
        + """
nodes:
  point: {type: n.point}
  pair: {type: n.pair, inputs: {p: point.x}}
  u: {type: n.inc, inputs: {x: nobody}}
  v: {type: n.inc, inputs: {x: point.z}}
  w: {type: n.inc, inputs: {x: point.x, zz: point.x}}
  two: {type: n.inc}
  c1: {type: n.inc, inputs: {x: c2}}
  c2: {type: n.inc, inputs: {x: c1}}
  again: {loop: {limit: 1, nodes: {point: {type: n.point}}}}
edges:
  - {source: point, source_port: x, target: two, target_port: x}
  - {source: point, source_port: y, target: two, target_port: x}
"""
    )
    with pytest.raises(FlowInvalid) as raised:
        Flow.load(path)
    assert sorted(codes(raised.value)) == sorted(["DF0313 point", *SIX])


def test_a_node_id_twice_in_a_document_is_told_with_both_places(tmp_path: Path) -> None:
    path = tmp_path / "twice.yaml"
    path.write_text(USES + "nodes:\n  a: {type: n.point}\n  a: {type: n.point}\n")
    with pytest.raises(FormatError) as raised:
        Flow.load(path)
    assert located(raised.value) == ["5:3 DF0112"]


def parallel() -> Flow:
    with Flow("parallel") as f:
        a = f.add(node(point).with_(name="a"))
        f.connect("a.x", "b.p", id="first")
        f.connect("a.x", "b.q", id="second", meta={"color": "red"})
        f.connect("a.y", "b.r")
        f.add(node(triple).with_(name="b"))  # type: ignore[call-arg]  # wired by name
        f.output("o", f.add(node(split).with_(name="c"), doc="x").out.title)
        f.output("b", a.out)
    return f


def edges_of(f: Flow) -> list[tuple[str, str, str | None, dict[str, Any]]]:
    return [
        (str(edge.source), f"{edge.target}.{edge.target_port}", edge.id, dict(edge.meta))
        for edge in f.wiring.block.edges
    ]


EDGES: Final = [
    ("a.x", "b.p", "first", {}),
    ("a.x", "b.q", "second", {"color": "red"}),
    ("a.y", "b.r", None, {}),
]


async def test_parallel_edges_are_kept_and_survive_documents(tmp_path: Path) -> None:
    """B57"""
    f = parallel()
    assert edges_of(f) == EDGES
    port: Any = "b.out"
    assert (await f.run()).get(port) == [1, 1, 2]
    path = tmp_path / "parallel.yaml"
    path.write_text(
        USES
        + """
nodes: {a: {type: n.point}, b: {type: n.triple}}
edges:
  - {source: a, source_port: x, target: b, target_port: p, id: first}
  - {source: a, source_port: x, target: b, target_port: q, id: second, meta: {color: red}}
  - {source: a, source_port: y, target: b, target_port: r}
outputs: {o: b}
"""
    )
    loaded = Flow.load(path)
    for name, text in (("a.json", json.dumps(loaded.to_dict())), ("a.yaml", dump_yaml(loaded.wiring))):
        saved = tmp_path / name
        saved.write_text(text)
        again = Flow.load(saved)
        assert edges_of(loaded) == edges_of(again) == EDGES
        assert (await again.run())["o"] == [1, 1, 2]
        assert again.to_dict()["edges"] == loaded.to_dict()["edges"]


def test_problems_behind_a_cycle_are_reported_with_it() -> None:
    f = Flow()
    for name, other in (("a", "b"), ("b", "a")):
        f.add(node(fetch).with_(name=name))  # type: ignore[call-arg]  # wired by name
        f.connect(other, f"{name}.url")
    f.add(join)  # type: ignore[call-arg]  # as above
    f.connect("a", "join.parts")
    f.add(length, text=f.add(length, text="x").out)  # type: ignore[arg-type]  # int into text
    assert sorted(codes(f.check())) == ["DF0308 join.parts", "DF0308 length_2.text", "DF0316 a"]
