"""The types of the control pack that give a value (S16), and those that choose where it goes."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dataflow import Expression, Flow, Result, Template
from dataflow.core.functions import import_function
from dataflow.formats.native.reader import load
from dataflow.packs.registry import find_type
from dataflow_control import Compute, Fill, expression, template
from tests.formats.nesting import nest
from tests.nodes.control.values import json_values, typed
from tests.nodes.playing import played

names = st.sampled_from(["a", "name", "value", "rest", "item", "context", "inputs"])
plain = st.text(st.characters(exclude_characters="{}\r", exclude_categories=["Cs"]))


@given(st.dictionaries(names, plain, max_size=4))
async def test_a_template_has_an_input_for_each_of_its_names(values: dict[str, str]) -> None:
    config = Fill(template=Template("".join(f"[{{{{ {name} }}}}]" for name in values)))
    assert list(template.type.configured(config).inputs) == sorted(values)
    assert await played(template, config, **values) == "".join(f"[{text}]" for text in values.values())


@given(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9))
async def test_an_expression_computes_over_its_inputs(a: int, b: int) -> None:
    config = Compute(expression=Expression("[a + b, a < b, a]"))
    assert await played(expression, config, a=a, b=b) == [a + b, a < b, a]


numbers = st.integers(-5, 5)


async def play(nodes: dict[str, Any], outputs: dict[str, str]) -> Result:
    """Run a document of these nodes."""
    document = {"dataflow": 1, "nodes": nodes, "outputs": outputs}
    flow = Flow.from_wiring(load(json.dumps(document), "f.json", nest), find_type, import_function)
    return await flow.run()


@given(json_values, st.sampled_from(["yes", "no"]))
async def test_an_if_passes_any_value_to_the_exit_that_its_condition_says(value: object, taken: str) -> None:
    config = {"condition": str(taken == "yes").lower()}
    nodes = {"it": {"type": "control.if", "config": config, "values": {"value": value}}}
    found = (await play(nodes, {"yes": "it.yes", "no": "it.no"})).outputs
    assert list(found) == [taken]
    assert typed(found[taken]) == typed(value)


@given(numbers, st.lists(numbers, min_size=1, max_size=5), st.booleans())
async def test_a_switch_takes_the_first_case_that_holds_else_the_default(
    value: int, bounds: list[int], has_default: bool
) -> None:
    cases = {f"case{place}": f"value == {bound}" for place, bound in enumerate(bounds)}
    if has_default:
        cases["default"] = "true"
    nodes = {"it": {"type": "control.switch", "config": {"cases": cases}, "values": {"value": value}}}
    taken = next((f"case{place}" for place, bound in enumerate(bounds) if bound == value), None)
    if taken is None and has_default:
        taken = "default"
    result = await play(nodes, {case: f"it.{case}" for case in cases})
    assert result.outputs == ({} if taken is None else {taken: value})
