"""Loops and maps of documents behave like those of the builder (S6, S7)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dataflow import Failure, Flow

NODES = """
async def inc(x: int) -> int:
    return x + 1

def is_large(x: int) -> bool:
    return x > 9

async def even(x: int) -> int:
    if x % 2:
        raise ValueError(f"odd {x}")
    return x
"""

MAP = """
dataflow: 1
uses: {n: ./nodes.py}
inputs: {xs: {type: {type: array, items: {type: integer}}}}
nodes:
  m:
    map:
      over: {x: $in.xs}
      OPTIONS
      nodes: {even: {type: n.even, inputs: {x: $item.x}}}
      outputs: {even: even}
  each: {type: n.even, inputs: {x: {each: $in.xs, OPTION}}}
outputs: {block: m.even, each: {collect: each}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nodes.py").write_text(NODES)
    return tmp_path


def load(folder: Path, text: str) -> Flow:
    file = folder / "flow.yaml"
    file.write_text(text)
    return Flow.load(file)


def messages(items: list[Any]) -> list[Any]:
    return [item.message if isinstance(item, Failure) else item for item in items]


async def test_the_item_errors_of_a_map(folder: Path) -> None:
    for on_error, expected in (("collect", ["odd 1", 2, "odd 3"]), ("skip", [2])):
        options = f"on_error: {on_error}\n      max_concurrency: 1"
        text = MAP.replace("OPTIONS", options).replace("OPTION", f"on_error: {on_error}, max_concurrency: 2")
        result = await load(folder, text).run(xs=[1, 2, 3])
        assert messages(result["block"]) == messages(result["each"]) == expected
        assert result.warnings == ()


LOOP = """
dataflow: 1
uses: {n: ./nodes.py}
nodes:
  up:
    loop:
      limit: 3
      carry: {v: {first: {value: 0}, next: inc}}
      nodes: {inc: {type: n.inc, inputs: {x: $carry.v}}}
      outputs:
        incs: {all: inc}
        begun: {all: $carry.v}
        last: inc
        final: $carry.v
        merged: {all: {merge: [inc]}}
outputs: {incs: up.incs, begun: up.begun, last: up.last, final: up.final, merged: up.merged}
"""


async def test_what_leaves_a_loop(folder: Path) -> None:
    flow = load(folder, LOOP)
    assert dict((await flow.run()).outputs) == {
        "incs": [1, 2, 3], "begun": [0, 1, 2], "last": 3, "final": 3, "merged": [1, 2, 3]
    }  # fmt: skip
    loop = flow.to_dict()["nodes"]["up"]["loop"]
    assert loop["outputs"]["incs"] == {"all": "inc"}
    assert loop["outputs"]["merged"] == {"all": {"merge": ["inc"]}}


BRANCH = """
dataflow: 1
uses: {n: ./nodes.py}
nodes:
  size: {type: control.if, config: {predicate: "n:is_large"}, values: {value: 10}, policy: {enabled: false}}
  yes: {type: n.inc, inputs: {x: size.yes}}
  no: {type: n.inc, inputs: {x: size.no}}
outputs: {either: {merge: [yes, no]}, instead: {fallback: [yes, {value: 0}]}, done: "size.$done"}
"""


async def test_a_disabled_branch_takes_no_exit(folder: Path) -> None:
    async with load(folder, BRANCH).start() as run:
        told = [event.kind.value async for event in run.events()]
        result = await run
    assert dict(result.outputs) == {"instead": 0}
    assert {path: state.value for path, state in result.states.items()} == dict.fromkeys(
        ("size", "yes", "no"), "skipped"
    )
    assert result.why("no") == "no is skipped\n  because no: port 'x' has no value\n  because size: disabled"
    assert "branch_evaluated" not in told
