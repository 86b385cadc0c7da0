"""Expressions and templates as fields of a config: written as text, compiled when it is read (S1.7, S16)."""

from __future__ import annotations

from typing import Literal

import pytest
from pydantic import ValidationError

from dataflow import Config, Expression, Flow, Ports, Template, node
from tests.support.codes import codes


class Rule(Config):
    holds: Expression
    text: Template | None = None


def operands(rule: Rule) -> Ports:
    return Ports(inputs=dict.fromkeys(sorted(rule.holds.names), int))


@node(ports=operands)
async def check(rule: Rule, **values: int) -> bool:
    return rule.holds.holds(values)


def test_a_field_is_written_as_it_was_read() -> None:
    config = Rule(holds=Expression("a  <  b"))
    written = config.model_dump_json()
    assert written == '{"holds":"a  <  b","text":null}'
    assert Rule.model_validate_json(written, strict=True) == config


def test_a_field_is_a_string_in_the_json_schema() -> None:
    modes: tuple[Literal["validation", "serialization"], ...] = ("validation", "serialization")
    for mode in modes:
        schema = Rule.model_json_schema(mode=mode)["properties"]
        assert schema["holds"]["type"] == "string"
        assert schema["text"]["anyOf"] == [{"type": "string"}, {"type": "null"}]


def test_an_invalid_expression_is_an_error_of_the_field() -> None:
    for given, code in (
        ({"holds": "a <"}, "DF0706 expression 'a <': "),
        ({"holds": 3}, "DF0701 an expression or template is written as a string; found int"),
        ({"holds": Template("a")}, "found Template"),
        ({"holds": "a", "text": "{{ a"}, "DF0705 template '{{ a': "),
    ):
        with pytest.raises(ValidationError) as caught:
            Rule.model_validate(given)
        assert code in caught.value.errors()[0]["msg"]


def test_an_invalid_expression_is_a_problem_of_the_flow() -> None:
    flow = Flow()
    flow.add(check, rule={"holds": "a <"})  # type: ignore[arg-type]  # as a document gives it
    assert [code[:6] for code in codes(flow.check())] == ["DF0706"]
