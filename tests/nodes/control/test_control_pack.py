# mypy: disable-error-code="arg-type"
"""The control pack as a whole: configs, types and imports of its nodes, and a whole flow."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, RunFailed
from dataflow_control import delay, expression, fail, filter_list, log, pack, sort_list, template, value
from tests.nodes.playing import problems_of
from tests.support.processes import modules_after

GREETING: Final = Path(__file__).parents[3] / "docs" / "examples" / "greeting.yaml"


def test_a_flow_without_expressions_and_templates_imports_no_jinja2() -> None:
    found = modules_after("""
import dataflow
from dataflow_control import Delay, Log, delay, log, pack
for name in pack.nodes:
    pack.find(name)
with dataflow.Flow() as flow:
    late = flow.add(delay, value=1, config=Delay(seconds=0))
    flow.output("out", flow.add(log, value=late.out, config=Log()).out)
assert flow.run_sync()["out"] == 1
""")
    assert not [name for name in found if name.partition(".")[0] == "jinja2"]
    assert {name.partition(":")[0] for name in pack.nodes.values()} <= {*found}


async def test_the_example_greets_each_guest_and_needs_no_python_file() -> None:
    flow = Flow.load(GREETING)
    result = await flow.run(guests="Grace, , ada", hour=14)
    assert result["text"] == "Good afternoon, ada!\nGood afternoon, Grace!"
    with pytest.raises(RunFailed, match="nobody: FailedOnPurpose: DF0506 there is nobody to greet"):
        await flow.run(guests=" ,")
    assert "uses" not in GREETING.read_text(encoding="utf-8")


#: What is written of each node type, with its ports, and what the problem names.
MISTAKES: Final[list[tuple[Any, dict[str, Any], dict[str, Any], str]]] = [
    (log, {"level": "loud"}, {"value": 1}, "level"),
    (log, {"message": "{{ name }}"}, {"value": 1}, "message: the name 'name' is unknown"),
    (fail, {"message": "{{ name }}"}, {}, "message: the name 'name' is unknown"),
    *((delay, {"seconds": odd}, {"value": 1}, "seconds") for odd in (-1, 1e999, float("nan"), "1", True)),
    (filter_list, {}, {"items": [1]}, "condition"),
    (filter_list, {"condition": "items > 1"}, {"items": [1]}, "condition: the node itself uses"),
    (filter_list, {"condition": "item > least"}, {"items": [1]}, "least"),
    (sort_list, {"descending": 1}, {"items": [1]}, "descending"),
    (value, {}, {}, "value"),
    (template, {"template": "{{"}, {}, "template"),
    (template, {"template": "{{ config }}"}, {}, "template: the node itself uses"),
    (template, {"template": "Hello {{ name }}"}, {}, "name"),
    (template, {"template": "Hello {{ name }}"}, {"name": "Ada", "nmae": "Ada"}, "nmae"),
    *((expression, {"expression": odd}, {}, "expression") for odd in ("a b", "a | length", "")),
]  # fmt: skip


def test_configs_that_cannot_be() -> None:
    for function, config, ports, place in MISTAKES:
        (found,) = problems_of(function, config, **ports)
        assert place in str(found)
