"""The models of a flow document, their JSON Schema, and constants in documents."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any, Final

import pytest
from pydantic import BaseModel, ValidationError

from dataflow.errors import ValueMismatch
from dataflow.formats.native.document import FlowDocument, LoopPart, MapPart, json_schema
from dataflow.formats.native.parts import Part
from dataflow.formats.native.values import as_json, constant_as_json
from dataflow.formats.reader import read
from tests.support.json_schemas import is_valid

SCHEMA: Final[dict[str, Any]] = json_schema()

#: Every field of the format, with a value that is not its default.
FULL: Final[dict[str, Any]] = read(
    """\
dataflow: 1
name: full
uses: {text: ./nodes.py}
inputs: {a: {type: string}, b: {type: {type: array}, default: []}, c: {}}
outputs: {x: page.text, y: {merge: [a, b]}}
using: {errors: continue, max_concurrency: 2, limits: {llm: {slots: 1, per_second: 0.5}}, timeout: 60}
edges:
  - {source: a, target: b, target_port: c}
  - {source: $in, source_port: a, target: b, target_port: c, feedback: true, limit: null, on_limit: fail,
     each_round: true, leave: all, id: e1, meta: {color: red}}
nodes:
  typed:
    type: m:f
    config: {x: [1]}
    inputs:
      one: a
      several: [a.b, {value: null}]
      error: a.$error
      gather: {gather: [a]}
      race: {race: [a, b]}
      fallback: {fallback: [a, {value: 1}]}
      each: {each: a, key: m:f, max_concurrency: 3, on_error: skip}
      collect: {collect: {each: a}}
      every: {every: [a, b]}
      contexts: {merge_contexts: [a, b], how: append}
    values: {limit: {deep: [1.5, x]}}
    policy:
      {retry: {retries: 0, on: [timeout], backoff: fixed, first: 2, jitter: true}, timeout: null,
       deadline: 10.5, memo: run, on_error: route, default: null, limit: llm,
       effect: true, enabled: false, errors: collect}
    after: [page]
    meta: {x: 1}
  flow: {flow: {dataflow: 1}, inputs: {a: b}, values: {c: 1}, policy: {}}
  path: {flow: ./other.yaml}
  loop:
    loop:
      limit: null
      on_limit: fail
      carry: {x: {first: {value: 1}, next: a}}
      until: {source: a, test: m:f}
      nodes: {inner: {type: x}}
      edges: []
      outputs: {x: {all: inner}}
    after: [typed]
    meta: {}
  loop_2: {loop: {while: $carry.x}}
  map: {map: {over: {x: a}, key: m:f, max_concurrency: 1, on_error: collect}, after: []}
meta: {position: [1, 2]}
""",
    "full.yaml",
)[0]


def parts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    yield path, value
    for key, item in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from parts(item, (*path, key))


def accepted(data: Any) -> bool:
    try:
        FlowDocument.model_validate(data)
    except ValidationError:
        return False
    return True


def models(kind: type[Part] = Part) -> Iterator[type[Part]]:
    for model in kind.__subclasses__():
        yield model
        yield from models(model)


def test_all_of_the_format_is_accepted() -> None:
    assert accepted(FULL)
    assert is_valid(FULL, SCHEMA, SCHEMA)
    written = {field for model in (FlowDocument, LoopPart, MapPart) for field in model.model_fields}
    assert written - {"while_"} <= {path[-1] for path, _ in parts(FULL) if path}


#: Fields that take any value.
FREE: Final = {"meta", "config", "values", "value", "default", "type"}


WRONG: Final[tuple[Any, ...]] = (
    None, True, 0, -1, 1.5, "", [], {}, {"unknown": 1}, [None], "a.", {"value": 1, "x": 2},
)  # fmt: skip


def test_the_schema_and_the_models_refuse_the_same() -> None:
    """Sources and names of functions aside, whose form JSON Schema does not describe."""
    for path, value in parts(FULL):
        if not path or FREE.intersection(map(str, path)):
            continue
        data = copy.deepcopy(FULL)
        holder: Any = data
        for step in path[:-1]:
            holder = holder[step]
        for wrong in WRONG:
            holder[path[-1]] = wrong
            if value != wrong and accepted(data) != is_valid(data, SCHEMA, SCHEMA):
                assert isinstance(wrong, str), path
                assert is_valid(data, SCHEMA, SCHEMA)


class Color(Enum):
    RED = "red"


class Word(StrEnum):
    YES = "yes"


class Size(BaseModel):
    width: int


@dataclass
class Point:
    x: int


def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def mismatch(value: object) -> str:
    """Return the place of the part that JSON does not have, what is expected there and what was found."""
    with pytest.raises(ValueMismatch) as caught:
        as_json(value)
    error = caught.value
    return f"{error.place} {error.expected}: {error.found}".lstrip()


def test_a_value_that_json_does_not_have_is_refused_with_its_place() -> None:
    cases: list[tuple[object, str]] = [
        ((1, 2), "a JSON value: tuple (1, 2)"),
        ({"a": [0, {1}]}, ".a[1] a JSON value: set {1}"),
        ({1: "a"}, "a string for a key: int 1"),
        ({"a": {"b c": b"x"}}, ".a['b c'] a JSON value: bytes b'x'"),
        (Word.YES, "a JSON value: Word <Word.YES: 'yes'>"),
        (object(), "a JSON value: object"),
        ("\ud800", "a string: half of a surrogate pair"),
        ({"\ud800": 1}, "a string: half of a surrogate pair"),
        (10**1000, "a number of at most 1000 digits: a longer one"),
        (cyclic(), "at most 100 levels of lists and mappings: more"),
    ]
    assert [mismatch(value) for value, _ in cases] == [found for _, found in cases]


def test_a_value_is_written_by_the_json_rules_of_its_port() -> None:
    cases: list[tuple[object, object, object]] = [
        ((1, 2), tuple[int, int], [1, 2]),
        ({3}, set[int], [3]),
        (date(2020, 1, 2), date, "2020-01-02"),
        (Path("a/b"), Path, "a/b"), (Color.RED, Color, "red"), (Word.YES, Word, "yes"),
        (Size(width=1), Size, {"width": 1}), (Point(1), Point, {"x": 1}),
        ([date(2020, 1, 2)], list[date], ["2020-01-02"]),
        (date(2020, 1, 2), date | None, "2020-01-02"),
        (1j, complex, "1j"),
        (1, Any, 1),
    ]  # fmt: skip
    found = [constant_as_json(value, kind) for value, kind, _ in cases]
    assert found == [written for *_, written in cases]


def test_a_value_that_would_not_be_read_back_equal_is_refused() -> None:
    cases: list[tuple[object, object]] = [
        ((1, 2), Any), (date(2020, 1, 2), Any), (date(2020, 1, 2), str), ({"a": (1,)}, dict[str, Any]),
        (object(), object), ((1,), "Unknown"), ((math.nan,), tuple[float, ...]),
    ]  # fmt: skip
    for value, kind in cases:
        with pytest.raises(ValueMismatch, match="DF0601"):
            constant_as_json(value, kind)
