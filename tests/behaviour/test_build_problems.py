"""A flow is checked whole when it is built: every problem at once, none of them at run time (S1.7, B57)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from dataflow import Flow, FlowInvalid, node
from tests.behaviour.flow_parts import inc, pair, point
from tests.support.codes import codes

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
