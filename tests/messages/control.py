# mypy: disable-error-code="arg-type"
"""Problems of the node types of the control pack."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import anyio

from dataflow import Expression, Template
from dataflow_control import (
    Approval,
    Compute,
    Log,
    Sort,
    join_text,
    numbers,
    parse_json,
    sort_list,
    split_text,
    unique_list,
    write_json,
)
from dataflow_control.limits import MOST_WORK, Work
from tests.messages.telling import Row, Stimulus, configuring

ITSELF: Final[list[Any]] = []
ITSELF.append(ITSELF)


def calling(function: Any, **inputs: Any) -> Stimulus:
    return lambda: anyio.run(partial(function, **inputs))


ROWS: Final = [
    Row("a default answer without an end", configuring(Approval, default="reject")),
    Row("a reserved name", configuring(Compute, expression=Expression("config + 1"))),
    Row("an unknown name", configuring(Log, message=Template("{{ x }}"))),
    Row("an item that cannot be compared", calling(unique_list, items=[{}])),
    Row(
        "a key that cannot be compared",
        calling(sort_list, items=[{"a": []}], config=Sort(key=Expression("item.a"))),
    ),
    Row("items of different kinds", calling(sort_list, items=[1, "a"])),
    Row("a long list", calling(numbers, stop=1_000_001)),
    Row("a long string", calling(join_text, texts=["a" * 10_000_001])),
    Row("too much work", lambda: Work().spend(MOST_WORK + 1)),
    Row("an empty separator", calling(split_text, text="a", separator="")),
    Row("no step", calling(numbers, stop=3, step=0)),
    Row("JSON that is nested too deep", calling(parse_json, text="[" * 1_000_000)),
    Row("a constant that JSON does not have", calling(parse_json, text="NaN")),
    Row("an integer with too many digits", calling(parse_json, text="1" * 10_000)),
    Row("a number beyond floats", calling(parse_json, text="1e999")),
    Row("a value inside itself", calling(write_json, value=ITSELF)),
    Row("a value with nan", calling(write_json, value=float("nan"))),
]
