"""Expressions and templates as fields of a config: written as text, compiled when it is read (S1.7, S16)."""

from __future__ import annotations

import copy
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


def test_a_field_is_given_as_text_or_compiled() -> None:
    written = Rule.model_validate({"holds": "a < b", "text": "{{ a }}"})
    assert written == Rule(holds=Expression("a < b"), text=Template("{{ a }}"))
    assert (written.holds.names, written.holds.source) == (frozenset("ab"), "a < b")


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


async def test_the_ports_of_a_node_can_follow_from_the_names() -> None:
    with Flow() as flow:
        flow.output("holds", flow.add(check, rule=Rule(holds=Expression("a < b")), a=1, b=2).out)
    assert (await flow.run())["holds"] is True


def test_a_config_with_an_expression_has_a_document_form() -> None:
    with Flow() as flow:
        flow.add(check, rule=Rule(holds=Expression("a < b")), a=1, b=2)
    assert flow.to_dict()["nodes"]["check"]["config"]["holds"] == "a < b"


def test_two_of_one_source_are_equal_and_interchangeable() -> None:
    for kind in (Expression, Template):
        assert {kind("a"), kind("a"), copy.deepcopy(kind("a"))} == {kind("a")}
        assert kind("a") != kind("b")
        assert repr(kind("a")) == f"{kind.__name__}(source='a')"


def test_an_expression_does_not_equal_a_template() -> None:
    of_one_source: set[object] = {Expression("a"), Template("a")}
    assert len(of_one_source) == 2
