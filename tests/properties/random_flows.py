"""Random flows as native documents: each node reads what stands above it in its block or around it."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from hypothesis import strategies as st

from tests.properties import block_constructs, plain_constructs
from tests.properties.drawing import CONSTANTS, Construct, Drawing, Seen
from tests.properties.effort import Below, drawn, pick

#: What is drawn, and how often. A construct is one function.
ENABLED: Final[dict[str, int]] = {
    "apply": 5, "branch": 2, "switch": 1, "either": 1, "parts": 1, "items": 1, "total": 1, "flag": 1,
    "told": 1, "taken": 1, "race": 1, "lazy": 1, "loop": 2, "map": 2, "each": 1, "every": 1,
    "flow": 1,
}  # fmt: skip
#: The same with asks, which pause a run.
ASKING: Final[dict[str, int]] = {**ENABLED, "ask": 3}
_CONSTRUCTS: Final[dict[str, Construct]] = {
    **{name: getattr(plain_constructs, name) for name in plain_constructs.__all__},
    **{name.strip("_"): getattr(block_constructs, name) for name in block_constructs.__all__},
}
#: What inputs change to: few values, so that they come to earlier ones, and to equal ones.
_VALUES: Final[dict[str, tuple[Any, ...]]] = {
    "x": (0, 1, 2, 3, "", None),
    "y": (0, None, "", False, [], 5),
    "xs": ([], [0], [1, 0], [0, 1], [4, "", 1], [1, 4, 0, ""]),
}


@dataclass(frozen=True)
class Program:
    """A document as plain data, and what a run of it is given."""

    document: dict[str, Any]
    inputs: dict[str, Any]

    def __str__(self) -> str:
        return f"inputs: {json.dumps(self.inputs)}\ndocument: {json.dumps(self.document)}"


def changed_inputs(below: Below) -> dict[str, Any]:
    """Draw other values for some inputs."""
    return {name: pick(below, values) for name, values in _VALUES.items() if below(5) > 2}


def _program(below: Below, most: int, breaking: bool | None, weights: Mapping[str, int]) -> Program:
    """Draw the whole document, and the inputs of its run."""
    make = Drawing(below, _CONSTRUCTS, weights, most, breaking)
    inputs: dict[str, Any] = {"x": {}, "y": {"default": make.pick(CONSTANTS)}, "xs": {"type": "array"}}
    seen = Seen(["$in.y", "$in.x"], lists=["$in.xs"])
    block = make.block(seen, 10)
    outputs = [make.recent(seen.values[2:] or seen.values) for _ in range(3 + make.below(3))]
    outputs += [*seen.values[2:3], *seen.lists[1:][-2:]]
    named = {f"o{number}": source for number, source in enumerate(dict.fromkeys(outputs))}
    using: dict[str, Any] = {"errors": "continue"} if make.breaking and make.chance(2) else {}
    if make.chance(3):
        using["max_concurrency"] = 1 + make.below(4)
    document = {"dataflow": 1, "name": "random", "uses": {"t": "tests.properties.node_functions"},
                "inputs": inputs, **block, "outputs": named, "using": using}  # fmt: skip
    given = {
        "x": make.pick((0, 1, 2, 3, "", None)),
        "xs": [make.pick((0, 1, "", 4)) for _ in range(make.below(4))],
    }
    return Program(document, given)


def programs(
    most: int = 40, breaking: bool | None = None, weights: Mapping[str, int] = ENABLED
) -> st.SearchStrategy[Program]:
    """Draw a flow of up to so many nodes; `breaking` lets nodes and tests fail."""
    return drawn(partial(_program, most=most, breaking=breaking, weights=weights))


def sample(
    seed: int, most: int = 40, breaking: bool | None = None, weights: Mapping[str, int] = ENABLED
) -> Program:
    """Make the flow of a seed, by the same grammar; it cannot be made smaller, but is made fast."""
    return _program(random.Random(seed).randrange, most, breaking, weights)
