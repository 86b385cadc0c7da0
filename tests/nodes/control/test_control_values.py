"""The types of the control pack that give a value (S16)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from dataflow import Expression, ExpressionError, Flow, Template
from dataflow_control import Compute, Fill, Given, expression, template, value
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
