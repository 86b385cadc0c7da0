"""The models of a flow document and their JSON Schema."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Final

from pydantic import ValidationError

from dataflow.formats.native.document import FlowDocument, LoopPart, MapPart, json_schema
from dataflow.formats.native.parts import Part
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
    None,
    True,
    0,
    -1,
    1.5,
    "",
    [],
    {},
    {"unknown": 1},
    [None],
    "a.",
    {"value": 1, "x": 2},
)


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
