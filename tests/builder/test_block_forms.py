"""Loops and maps in block form, and what shares or keeps its edges (S1.5, S7.1)."""

from __future__ import annotations

from dataflow import Flow
from dataflow.core.functions import import_function
from dataflow.formats.native.reader import load
from dataflow.packs.registry import find_type
from tests.formats.nesting import nest


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
