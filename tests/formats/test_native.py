"""Reading native documents, and the flows and expressions in them (S1.1, S16)."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Diagnostic, Flow, FlowInvalid, Memo, Retry
from dataflow.core.config import type_of_schema
from dataflow.core.functions import NamedFunction, import_function
from dataflow.core.policy import EachOptions, Policy
from dataflow.core.ports import MISSING
from dataflow.core.wiring import (
    Collect,
    Each,
    Every,
    Fallback,
    FlowInput,
    Gather,
    LoopBlock,
    MapBlock,
    Merge,
    MergeContexts,
    PlacedNode,
    Reference,
    Source,
    Wiring,
)
from dataflow.expressions.expression import ExpressionOf
from dataflow.formats.native.reader import load
from dataflow.formats.native.writer import dump
from dataflow.packs.registry import find_type
from tests.formats.nesting import nest
from tests.support.codes import codes, located


def load_yaml(text: str) -> Wiring:
    return load(f"dataflow: 1\n{text}", "flow.yaml", nest)


def placed(text: str) -> PlacedNode:
    node = load_yaml(f"nodes:\n  node: {text}").block.nodes["node"]
    assert isinstance(node, PlacedNode)
    return node


def source(text: str) -> Any:
    return load_yaml(f"outputs:\n  out: {text}").block.outputs["out"]


SOURCES: Final[dict[str, Source]] = {
    "a": Reference("a"),
    "a.b": Reference("a", "b"),
    "a.b.c": Reference("a", "b.c"),
    "a.$error": Reference("a", "$error"),
    "$in.x": Reference("$in", "x"),
    '"my%20node%2Ea.50%25"': Reference("my node.a", "50%"),
    "{merge: [a, b.c]}": Merge((Reference("a"), Reference("b", "c"))),
    "{gather: [a]}": Gather((Reference("a"),)),
    "{merge_contexts: [a], how: append}": MergeContexts((Reference("a"),), "append"),
    "{merge_contexts: [a, b], how: 'm:f'}": MergeContexts(
        (Reference("a"), Reference("b")), NamedFunction("m:f")
    ),
    "{fallback: [a, {merge: [b]}]}": Fallback(Reference("a"), Merge((Reference("b"),))),
    "{fallback: [a, b, c]}": Fallback(Reference("a"), Fallback(Reference("b"), Reference("c"))),
    "{collect: {each: a, share: s}}": Collect(Each(Reference("a"), call="s")),
    "{every: [a, b.c, {collect: {every: [a]}}]}": Every(
        (Reference("a"), Reference("b", "c"), Collect(Every((Reference("a"),))))
    ),
    "{each: a, key: 'm:f.g', max_concurrency: 3, on_error: skip, share: s}": Each(
        Reference("a"), EachOptions(NamedFunction("m:f.g"), 3, "skip"), "s"
    ),
}


def test_a_source_is_read() -> None:
    assert {text: source(text) for text in SOURCES} == SOURCES


def test_a_policy_has_what_is_given_and_no_more() -> None:
    policy = placed(
        """{type: t, policy: {retry: {retries: 2, on: [timeout], backoff: fixed, first: 2, jitter: true},
        timeout: 1.5, deadline: null, memo: run, on_error: route, default: null,
        limit: llm, effect: true, enabled: false}}"""
    ).policy
    assert policy == Policy(
        retry=Retry(2, on=("timeout",), backoff="fixed", first=2.0, jitter=True),
        timeout=1.5, deadline=None, memo="run", on_error="route", default=None, limit="llm", effect=True,
        enabled=False,
    )  # fmt: skip
    asking = placed("{type: t, policy: {limit: 2, retry: {}, effect: ask}}").policy
    assert asking == Policy(limit=2, retry=Retry(), effect="ask")
    memo = placed("{type: t, policy: {memo: {reach: store, ttl: 60, environment: [LANG, TZ]}}}").policy.memo
    assert memo == Memo("store", ttl=60, environment=["LANG", "TZ"])
    assert placed("{type: t, policy: {memo: {reach: run}}}").policy.memo == Memo("run")


def test_an_invalid_memo_is_refused() -> None:
    for memo, problem in {
        "ever": "DF0122 nodes.node.policy.memo",
        "{reach: off}": "DF0122 nodes.node.policy.memo.reach",
        "{ttl: 1}": "DF0120 nodes.node.policy.memo.reach",
        "{reach: run, ttl: 0}": "DF0122 nodes.node.policy.memo.ttl",
        "{reach: run, until: 1}": "DF0121 nodes.node.policy.memo.until",
        "[run]": "DF0122 nodes.node.policy.memo",
    }.items():
        with pytest.raises(FlowInvalid) as caught:
            placed(f"{{type: t, policy: {{memo: {memo}}}}}")
        assert codes(caught.value) == [problem]


INPUTS: Final[dict[str, FlowInput]] = {
    "{type: string}": FlowInput(str, MISSING, "string"),
    "{}": FlowInput(Any, MISSING),
    "{default: [1]}": FlowInput(Any, [1]),
    "{type: {enum: [a, b]}, default: a}": FlowInput(
        type_of_schema({"enum": ["a", "b"]}), "a", {"enum": ["a", "b"]}
    ),
    "{type: {type: string, format: date}, default: 2020-01-02}": FlowInput(
        type_of_schema({"type": "string", "format": "date"}),
        date(2020, 1, 2),
        {"type": "string", "format": "date"},
    ),
    "{type: number, default: 1}": FlowInput(float, 1.0, "number"),
    "{type: {}}": FlowInput(Any, MISSING, {}),
}


def test_an_input_has_its_type_and_its_schema() -> None:
    assert {text: load_yaml(f"inputs: {{a: {text}}}").inputs["a"] for text in INPUTS} == INPUTS


NAMES: Final = [
    "ж", "节点", "a b", "a.b", "a/b[0]~$in%", "$", "🙂", "on", "1", "'quoted\"", "a\nb", "\u202e",
    "x" * 2000, " ",
]  # fmt: skip


def test_a_node_may_have_any_name() -> None:
    document = {
        "dataflow": 1,
        "nodes": {id: {"type": "t", "after": [id]} for id in NAMES},
        "outputs": {id: {"collect": {"value": 1}} for id in NAMES},
    }
    wiring = load(json.dumps(document), "flow.json", nest)
    assert {id: node.after for id, node in wiring.block.nodes.items()} == {id: [id] for id in NAMES}
    assert list(wiring.block.outputs) == NAMES
    reads: dict[str, Source] = {id: Reference(id, id) for id in NAMES}
    wiring.block.outputs = reads
    assert load(json.dumps(dump(wiring)), "flow.json", nest).block.outputs == reads


NODES: Final = "tests.behaviour.nodes"
DOCUMENT: Final = f"""
dataflow: 1
inputs: {{rows: {{}}}}
nodes:
  if: {{type: control.if, config: {{condition: len(value) > 3}}, inputs: {{value: $in.rows}}}}
  switch:
    type: control.switch
    config: {{cases: {{many: len(value) > 3, some: len(value) > 1, default: "true"}}}}
    inputs: {{value: $in.rows}}
  ident: {{type: "{NODES}:ident", inputs: {{x: {{each: $in.rows, key: item.name}}}}}}
  loop:
    loop:
      carry: {{x: {{first: {{value: 0}}, next: inc}}}}
      until: {{source: inc, test: value >= 3}}
      nodes: {{inc: {{type: "{NODES}:inc", inputs: {{x: $carry.x}}}}}}
  map:
    map:
      over: {{row: $in.rows}}
      key: $item.name ~ 1
      nodes: {{ident_2: {{type: "{NODES}:ident", inputs: {{x: $item.row}}}}}}
"""


def flow_of(text: str) -> Flow:
    return Flow.from_wiring(load(text, "f.yaml", nest), find_type, import_function)


def check(nodes: str) -> list[Diagnostic]:
    return flow_of(f"dataflow: 1\nnodes: {nodes}").check()


def test_what_is_not_a_function_name_is_read_as_an_expression() -> None:
    nodes = load(DOCUMENT, "f.yaml", nest).block.nodes
    ident: Any = nodes["ident"]
    loop, block = nodes["loop"], nodes["map"]
    assert isinstance(loop, LoopBlock)
    assert isinstance(block, MapBlock)
    assert loop.test is not None
    assert loop.test.function == ExpressionOf("value", "value >= 3", is_condition=True)
    assert block.options.key == ExpressionOf("item", "$item.name ~ 1")
    source = ident.inputs["x"]
    assert isinstance(source, Each)
    assert source.options.key == ExpressionOf("item", "item.name")


def test_expressions_are_written_as_they_were() -> None:
    flow = flow_of(DOCUMENT)
    assert flow.check() == []
    written = flow.to_dict()
    nodes: Any = written["nodes"]
    assert nodes["if"]["config"] == {"condition": "len(value) > 3"}
    assert nodes["switch"]["config"]["cases"] == {
        "many": "len(value) > 3", "some": "len(value) > 1", "default": "true",
    }  # fmt: skip
    assert nodes["ident"]["inputs"]["x"]["key"] == "item.name"
    assert nodes["loop"]["loop"]["until"] == {"source": "inc", "test": "value >= 3"}
    assert nodes["map"]["map"]["key"] == "$item.name ~ 1"
    assert dump(load(json.dumps(written), "f.json", nest)) == written


def test_the_problems_of_all_expressions_are_reported() -> None:
    text = (
        DOCUMENT.replace("condition: len(value) > 3", "condition: missing > 90")
        .replace("many: len(value) > 3", "many: value|length > 3")
        .replace("some: len(value) > 1", "some: value >")
        .replace("key: item.name", "key: name")
        .replace("test: value >= 3", "test: tests.is_three")
        .replace("key: $item.name ~ 1", "key: row.name")
    )
    flow = flow_of(text)
    assert [re.findall(r"DF07\d\d", str(problem)) for problem in flow.check()] == [
        ["DF0717"], ["DF0713"], ["DF0706"], ["DF0717"], ["DF0717"], ["DF0717"],
    ]  # fmt: skip
    with pytest.raises(FlowInvalid):
        flow.compile()


def test_a_branch_of_no_kind_or_of_two_is_a_problem() -> None:
    for node in (
        "{type: control.if, config: {}}",
        "{type: control.if, config: {condition: value, predicate: 'm:f'}}",
        "{type: control.if, config: {condition: 3}}",
        "{type: control.if, config: {condition: ''}}",
        "{type: control.switch, config: {cases: [a]}}",
        "{type: control.switch, config: {pick: 'm:f', cases: {a: value}}}",
        "{type: control.switch, config: {cases: {a: 3}}}",
        "{type: control.switch, config: {cases: [3]}}",
    ):
        found = [str(problem) for problem in check(f"{{a: {node}}}")]
        assert [problem for problem in found if "config" in problem], node


SOURCE = """
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
    (tmp_path / "nodes.py").write_text(SOURCE, "utf-8")
    (tmp_path / "sub.yaml").write_text(SUB, "utf-8")
    return tmp_path


def load_in(folder: Path, text: str) -> Flow:
    path = folder / "main.yaml"
    path.write_text("dataflow: 1\nuses: {t: ./nodes.py}\n" + text, "utf-8")
    return Flow.load(path)


async def test_a_document_nests_a_file_and_a_document(folder: Path) -> None:
    loaded = load_in(
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
            load_in(folder, f"nodes: {{a: {{{text}}}}}")
        assert [one.replace(str(folder), "DIR") for one in located(raised.value)] == [problem]
        assert raised.value.diagnostics[0].location.file == str(folder / f"{file}.yaml")


def test_a_file_is_read_once(folder: Path) -> None:
    """Each of eighteen files names the next one twice."""
    for number in range(18):
        inner = f"./f{number + 1}.yaml" if number < 17 else "./sub.yaml"
        values = "" if number < 17 else ", values: {x: 1}"
        text = f"nodes: {{a: {{flow: {inner}{values}}}, b: {{flow: {inner}{values}}}}}"
        (folder / f"f{number}.yaml").write_text("dataflow: 1\n" + text, "utf-8")
    assert load_in(folder, "nodes: {a: {flow: ./f0.yaml}}").check() == []
