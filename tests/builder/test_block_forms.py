"""Loops and maps in block form, and what shares or keeps its edges (S1.5, S7.1)."""

from __future__ import annotations

from dataflow import Flow, fallback, gather, merge, node
from dataflow.core.functions import import_function
from dataflow.formats.native.reader import load
from dataflow.packs.registry import find_type
from tests.behaviour.flow_parts import inc
from tests.formats.nesting import nest


async def sums(*numbers: int) -> int:
    return sum(numbers)


def loaded(text: str) -> Flow:
    """Read a document; `!name` is a function of the flows of tests."""
    wiring = load("dataflow: 1" + text.replace("!", "tests.behaviour.flow_parts:"), "flow.yaml", nest)
    flow = Flow.from_wiring(wiring, find_type, import_function)
    assert flow.check() == []
    return flow


async def test_a_map_in_block_form_goes_over_zipped_lists() -> None:
    flow = loaded("""
nodes:
  base: {type: "!inc", values: {x: 1}}
  m:
    map:
      over: {x: {value: [1, 2]}, y: {value: [10, 20]}}
      nodes:
        both: {type: "!pair", inputs: {p: $item.x, q: $item.y}}
        more: {type: "!inc", inputs: {x: $item.y}}
      outputs: {both: both, more: more, x: $item.x, outside: base, constant: {value: 1}}
outputs: {both: m.both, more: m.more, xs: m.x, outside: m.outside, constant: m.constant}
""")
    result = await flow.run()
    assert dict(result.outputs) == {
        "both": [[1, 10], [2, 20]], "more": [11, 21], "xs": [1, 2], "outside": [2, 2], "constant": [1, 1]
    }  # fmt: skip
    assert list(result.states) == ["base", "m", "m[0]/both", "m[0]/more", "m[1]/both", "m[1]/more"]


async def test_a_loop_in_block_form_reads_its_loop_variables() -> None:
    flow = loaded("""
nodes:
  l:
    loop:
      limit: 3
      carry: {x: {first: {value: 1}, next: a}}
      until: {value: false}
      nodes: {a: {type: "!inc", inputs: {x: $carry.x}}}
      outputs: {final: $carry.x, last: a}
outputs: {final: l.final, last: l.last}
""")
    assert dict((await flow.run()).outputs) == {"final": 3, "last": 4}


async def test_names_are_looked_up_outwards() -> None:
    flow = loaded("""
nodes:
  outer:
    map:
      over: {x: {value: [10, 20]}}
      nodes:
        inner:
          map:
            over: {y: {value: [1, 2]}}
            nodes: {b: {type: "!pair", inputs: {p: $item.y, q: $item.x}}}
            outputs: {z: b}
      outputs: {z: inner.z}
outputs: {z: outer.z}
""")
    assert (await flow.run())["z"] == [[[1, 10], [2, 10]], [[1, 20], [2, 20]]]


async def test_a_many_port_takes_sources_of_every_kind() -> None:
    with Flow() as flow:
        step = flow.add(inc, x=1)
        total = flow.add(sums, step.out, 10, merge(step.out, 5), fallback(step.out, 0))
        flow.output("total", total.out)
        flow.output("list", gather(step.out, 10))
    assert dict((await flow.run()).outputs) == {"total": 16, "list": [2, 10]}


async def test_parallel_edges_are_kept_in_their_order() -> None:
    async def listed(*numbers: int) -> list[int]:
        return [*numbers]

    with Flow() as flow:
        for number in (1, 2, 3):
            flow.add(node(inc).with_(name=f"n{number}"), x=number)
        joined = flow.add(listed)
        for number in (3, 1, 1, 2):
            flow.connect(f"n{number}", "listed.numbers")
        flow.output("numbers", joined.out)
    assert (await flow.run())["numbers"] == [4, 2, 2, 3]
