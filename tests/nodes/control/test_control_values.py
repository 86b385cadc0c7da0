"""The types of the control pack that give a value (S16), and those that choose where it goes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from dataflow import Expression, ExpressionError, Flow, Result, Template
from dataflow.core.functions import import_function
from dataflow.formats.native.reader import load
from dataflow.packs.registry import find_type
from dataflow_control import Compute, Fill, Given, expression, template, value
from tests.formats.nesting import nest
from tests.nodes.control.values import FALSY, json_values, typed
from tests.nodes.playing import played, through_flow

names = st.sampled_from(["a", "name", "value", "rest", "item", "context", "inputs"])
plain = st.text(st.characters(exclude_characters="{}\r", exclude_categories=["Cs"]))


@given(json_values)
async def test_a_value_is_given_as_it_was_written(given_value: Any) -> None:
    assert typed(await played(value, Given(value=given_value))) == typed(given_value)


@given(json_values)
def test_a_value_is_read_from_a_document_as_it_stands_there(given_value: Any) -> None:
    config = Given.model_validate_json(json.dumps({"value": given_value}), strict=True)
    assert typed(config.value) == typed(given_value)


async def test_a_reader_that_changes_a_value_changes_it_for_nobody_else() -> None:
    async def spoil(numbers: list[int]) -> list[int]:
        numbers.append(2)
        return numbers

    with Flow() as flow:
        with flow.loop(limit=3) as rounds:  # in a round the only reader is given the value itself (S3.4)
            count = rounds.carry(0)
            given_value = flow.add(value, config=Given(value=[1]))
            spoilt = flow.add(spoil, numbers=given_value.out)
            count.next(count.out)
        flow.output("spoilt", rounds.all(spoilt.out))
    assert (await flow.run())["spoilt"] == [[1, 2]] * 3


def test_a_value_that_json_cannot_carry_is_refused() -> None:
    with pytest.raises(ValidationError, match="valid JSON"):
        Given(value={1, 2})  # type: ignore[arg-type]  # the mistake under test


@given(st.dictionaries(names, plain, max_size=4))
async def test_a_template_has_an_input_for_each_of_its_names(values: dict[str, str]) -> None:
    config = Fill(template=Template("".join(f"[{{{{ {name} }}}}]" for name in values)))
    assert list(template.type.configured(config).inputs) == sorted(values)
    assert await played(template, config, **values) == "".join(f"[{text}]" for text in values.values())


async def test_a_template_writes_what_is_false_like_any_value() -> None:
    config = Fill(template=Template("[{{ x }}]"))
    found = [await played(template, config, x=one) for one in FALSY]
    assert found == ["[0]", "[0.0]", "[False]", "[]", "[[]]", "[{}]", "[None]"]


async def test_any_name_can_be_a_port_of_a_node_that_is_called() -> None:
    assert await played(template, Fill(template=Template("{{ self }}")), self=1) == "1"


@given(plain)
async def test_what_comes_from_a_value_is_no_template(text: str) -> None:
    hostile = f"{{{{ secret }}}}{text}{{% if %}}"
    assert await played(template, Fill(template=Template("{{ x }}")), x=hostile) == hostile


@given(plain)
async def test_a_template_without_names_fires_once(text: str) -> None:
    expected = text.replace("\r\n", "\n").replace("\r", "\n")
    assert await played(template, Fill(template=Template(text))) == expected


@given(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9))
async def test_an_expression_computes_over_its_inputs(a: int, b: int) -> None:
    config = Compute(expression=Expression("[a + b, a < b, a]"))
    assert await played(expression, config, a=a, b=b) == [a + b, a < b, a]


@given(json_values)
async def test_an_expression_of_one_name_gives_its_value(x: Any) -> None:
    assert typed(await through_flow(expression, {"x": x}, Compute(expression=Expression("x")))) == typed(x)


async def test_what_cannot_be_computed_is_an_error() -> None:
    for source, x in (("x > 9", "10"), ("x.missing > 90", {}), ("not x", "false")):
        error = await played(expression, Compute(expression=Expression(source)), x=x)
        assert isinstance(error, ExpressionError)


numbers = st.integers(-5, 5)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


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


@given(st.lists(texts | st.none(), min_size=1, max_size=4), texts)
async def test_each_context_is_a_conversation_of_its_own(systems: list[str | None], model: str) -> None:
    nodes = {
        f"c{place}": {"type": "control.context", "config": {"system": system, "model": model}}
        for place, system in enumerate(systems)
    }
    found = (await play(nodes, {name: name for name in nodes})).outputs
    contexts = [found[name] for name in nodes]
    assert len({context.context_id for context in contexts}) == len(contexts)
    assert [(context.system_instructions, context.model) for context in contexts] == [
        (system, model) for system in systems
    ]
    assert not any(context.message_history for context in contexts)
