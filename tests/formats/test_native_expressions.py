"""Expressions in documents are checked with the flow, and written as they were (S16)."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import pytest

from dataflow import Diagnostic, Flow, FlowInvalid
from dataflow.core.functions import import_function
from dataflow.core.wiring import Each, LoopBlock, MapBlock
from dataflow.expressions.expression import ExpressionOf
from dataflow.formats.native.reader import load
from dataflow.formats.native.writer import dump
from dataflow.packs.registry import find_type
from tests.formats.nesting import nest

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
