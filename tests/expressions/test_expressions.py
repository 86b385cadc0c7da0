"""Expressions and templates: what they compute, and what they refuse (S16)."""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import pytest
from pydantic import BaseModel, ConfigDict

from dataflow.core.functions import NamedFunction
from dataflow.errors import ExpressionError
from dataflow.expressions.expression import Expression, ExpressionOf, Template, written_function


class Point(NamedTuple):
    x: int
    y: int


@dataclass
class Score:
    value: float
    _hidden: int = 1

    @property
    def double(self) -> float:
        return self.value * 2


class Model(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: str


class Colour(enum.Enum):
    RED = "red"


class Plain:
    attribute = 1


VALUES: Final[Mapping[str, Any]] = {
    "n": 7,
    "text": "Ab",
    "row": {"items": 3, "a b": 4, "__class__": 5, "deep": [{"x": 1}]},
    "point": Point(1, 2),
    "score": Score(0.5),
    "model": Model.model_validate({"name": "m", "more": 2}),
    "plain": Plain(),
    "colour": Colour.RED,
    "day": date(2026, 1, 2),
    "price": Decimal("1.50"),
    "made": {"done", "failed"},
    "in": "word",
    "é": "unicode",
}


def evaluated(source: str) -> Any:
    return Expression(source).evaluate(VALUES)


def refused(source: str) -> str:
    with pytest.raises(ExpressionError) as caught:
        evaluated(source)
    assert caught.value.source == source
    return caught.value.what


def filled(source: str) -> str:
    return Template(source).fill(VALUES)


def not_filled(source: str) -> str:
    with pytest.raises(ExpressionError) as caught:
        filled(source)
    assert (caught.value.source, caught.value.kind) == (source, "template")
    return caught.value.what


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("1", 1), ("1.5", 1.5), ("'a\\n'", "a\n"), ('"a" "b"', "ab"), ("true", True), ("False", False),
        ("none", None), ("[1, [2]]", [1, [2]]), ("{'a': n, 1: []}", {"a": 7, 1: []}), ("[]", []),
        ("n", 7), ("$n + n", 14), ("é", "unicode"), ("$in", "word"), ("$é", "unicode"),
        ("row.items", 3), ("row['a b']", 4), ("row['__class__']", 5), ("row.deep[0].x", 1),
        ("row.deep.0.x", 1), ("row.deep[-1].x", 1), ("text[1]", "b"), ("[1, 2][n - 6]", 2),
        ("point.x", 1), ("point['y']", 2), ("point[1]", 2), ("score.value", 0.5), ("model.name", "m"),
        ("model.more", 2),
        ("1 + 2 - 4", -1), ("2 * 3 + 4", 10), ("2 * (3 + 4)", 14), ("7 / 2", 3.5), ("7 // 2", 3),
        ("7 % 4", 3),
        ("2 ** 3 ** 2", 64), ("-2 ** 2", 4), ("2 ** -1", 0.5), ("- n", -7), ("+ n", 7),
        ("text + 'c'", "Abc"), ("[1] + [2]", [1, 2]), ("[1] + point", [1, 1, 2]),
        ("text ~ n ~ [true, none, 'é']", 'Ab7[true, null, "é"]'),
        ("1 < 2 < 3", True), ("1 < 3 < 2", False), ("n == 7.0", True), ("n != 8", True), ("'a' <= 'b'", True),
        ("none == 0", False), ("day > day", False), ("price > 1", True), ("[1] == [1]", True),
        ("[1, {'a': [none]}] == [1.0, {'a': [none]}]", True), ("[1] == ['1']", False),
        ("[1] == [1, 2]", False),
        ("{'a': 1} == {'b': 1}", False), ("{'a': 1} == {'a': 2}", False), ("[1] == {'a': 1}", False),
        ("[1, 2] == point", False), ("[[1], [2]] != [[1], [3]]", True), ("row == row", True),
        ("[1] == 1", False), ("[[1]] == [[1], 2]", False), ("[[1]] == {'a': [1]}", False),
        ("{'a': [1]} == {'a': [1]}", True), ("{'a': [1]} == {'b': [1]}", False), ("[[1]] == [[2]]", False),
        ("[1] in [[2], [1]]", True), ("[3] not in [[2], [1]]", True), ("none in [1, none]", True),
        ("1 in [1]", True), ("'items' in row", True), ("'b' in text", True), ("'x' not in made", True),
        ("true and false or true", True), ("not n > 8", True), ("true or missing", True),
        ("false and missing", False), ("1 if n > 3 else 2", 1), ("1 if n > 8 else 2 if n > 9 else 3", 3),
        ("len(text)", 2), ("len(row)", 4), ("lower(text)", "ab"), ("upper('ß')", "SS"),
        ("trim(' a ')", "a"), ("round(2.6)", 3), ("round(2.567, 1)", 2.6), ("int('12')", 12), ("int(2.9)", 2),
        ("float('1.5')", 1.5), ("float(1)", 1.0), ("str(n)", "7"), ("str(text)", "Ab"), ("str(true)", "True"),
        ("str({'a': point})", '{"a": [1, 2]}'), ("str(day)", "2026-01-02"), ("str([price])", '["1.50"]'),
    ],
)  # fmt: skip
def test_an_expression_computes(source: str, value: object) -> None:
    found = evaluated(source)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("", "is empty"),
        ("n +", "ends too early"),
        ("1 +", "ends too early"),
        ("not", "ends too early"),
        ("n.", "expected a name after '.'"),
        ("[n n]", "expected ',', found 'n'"),
        ("n\n+\n|", "unexpected '|' in line 3"),
        ("n n", "unexpected 'n'"),
        ("n }} {{ 1", "unexpected '}' in column 3"),
        ("(n", "'(' is never closed in column 1"),
        ("n.$x", "'$' stands only before a name, as in $value in column 3; $value and value are the"),
        ("n$x", "'$' stands only before a name, as in $value in column 2; $value and value are the"),
        ("$", "'$' stands only before a name, as in $value in column 1; $value and value are the same name"),
        ("$1", "'$' stands only before a name, as in $value in column 1; $value and value are the same name"),
        ("n +\n  __import__", "a name begins with an underscore: '__import__' in line 2, column 3"),
        ("'\\d'", "'\\d' means nothing in the text in column 1; a backslash is written '\\\\'"),
        ("9" * 4400, "an integer is too large: at most 4,096 bits"),
        ("9" * 2000, "an integer is too large: at most 4,096 bits"),
        ("n" * 10_001, "has 10,001 characters; at most 10,000"),
        ("n if true", "`a if b` has no `else`"),
        ("range(3)", "a call of 'range' is not allowed; the functions are len, lower, upper, trim, round,"),
        ("text.upper()", "a call of a value is not allowed"),
        ("len()", "len() takes 1 argument, without a name"),
        ("len(n, n)", "len() takes 1 argument, without a name"),
        ("len(n, x=n)", "len() takes 1 argument, without a name"),
        ("len(n, *n)", "len() takes 1 argument, without a name"),
        ("len(n, **n)", "len() takes 1 argument, without a name"),
        ("round(1, 2, 3)", "round() takes 1 to 2 arguments, without a name"),
        ("n|upper", "a filter `|` is not allowed; there are literals, names, items"),
        ("n is defined", "a test `is` is not allowed"),
        ("text[0:1]", "a slice `[:]` is not allowed"),
        ("(1, 2)", "a comma (a list is written [a, b]) is not allowed"),
    ],
)  # fmt: skip
def test_what_is_no_expression_is_told(source: str, what: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        Expression(source)
    assert what in caught.value.what


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("missing > 90", "unknown name 'missing'; choices: n, text, row"),
        ("row.missing > 90", "no key 'missing'; choices: items, a b, __class__, deep"),
        ("row[1]", "no key the number 1; choices: items"),
        ("point.z", "a value of type Point has no field 'z'; choices: x, y"),
        ("point.count", "a value of type Point has no field 'count'; choices: x, y"),
        ("score.double", "a value of type Score has no field 'double'; choices: value"),
        ("score['_hidden']", "has no field '_hidden'; choices: value"),
        ("model.model_dump", "has no field 'model_dump'; choices: name, more"),
        ("plain.attribute", "a value of type Plain has no field 'attribute'; there are none"),
        ("text.upper", "the text 'Ab' has no field 'upper'; there are none"),
        ("n.real", "the number 7 has no field 'real'; there are none"),
        ("text[2]", "no item 2; there are 2"),
        ("text[-3]", "no item -3; there are 2"),
        ("text[true]", "the text 'Ab' has no item under true"),
        ("'10' > 9", "cannot compare the text '10' with the number 9; say what is meant with int(), float()"),
        ("n == '7'", "cannot compare the number 7 with the text '7'"),
        ("true == 1", "cannot compare true with the number 1"),
        ("true > false", "`>` orders numbers, texts, dates and the like, found true"),
        ("none > 1", "raised TypeError: '>' not supported between instances of 'NoneType' and 'int'"),
        ("'false' and true", "expected a boolean, found the text 'false'"),
        ("not n", "expected a boolean, found the number 7"),
        ("1 if none else 2", "expected a boolean, found none"),
        ("text * 3", "`*` takes two numbers, found the text 'Ab' and the number 3"),
        ("3 * [1]", "`*` takes two numbers, found the number 3 and a list"),
        ("text % 3", "`%` takes two numbers"),
        ("text ** 3", "`**` takes two numbers"),
        ("true + 1", "`+` takes two numbers, two texts or two lists, found true and the number 1"),
        ("text + 1", "`+` takes two numbers, two texts or two lists"),
        ("- text", "expected a number, found the text 'Ab'"),
        ("1 / 0", "raised ZeroDivisionError"),
        ("10 ** (10 ** 10)", "`**` makes too large an integer: at most 4,096 bits"),
        ("(-8) ** 0.5", "expected a number, found a value of type complex"),
        ("1e300 ** 2", "raised OverflowError"),
        ("1 in text", "`in` looks for a text in a text, found the number 1"),
        ("1 in n", "`in` looks into a text, list, set or mapping, found the number 7"),
        ("[] in row", "a list is no key"),
        ("{[]: 1}", "a list is no key"),
        ("row[[]]", "a list is no key"),
        ("[1] < [2]", "`<` orders numbers, texts, dates and the like, found a list"),
        ("row < row", "raised TypeError"),
        ("len(n)", "len() takes a text, list or mapping, found the number 7"),
        ("lower(n)", "lower() takes a text, found the number 7"),
        ("round(text)", "expected a number, found the text 'Ab'"),
        ("round(n, 1000)", "round() keeps at most 400 digits, found the number 1000"),
        ("round(n, 1.0)", "round() keeps at most 400 digits, found the number 1.0"),
        ("int('x')", "int() takes a number, or the text of one"),
        ("int(true)", "int() takes a number, or the text of one with at most 1,200 characters, found true"),
        (f"float('{'0' * 1_201}')", "float() takes a number, or the text of one with at most 1,200"),
        ("int(1e999)", "raised OverflowError"),
        ("str(plain)", "a value of type Plain cannot be written in a text; take a field of it"),
        ("str([colour])", "a value of type Colour cannot be written in a text; take a field of it"),
        ("str(made)", "a value of type set cannot be written in a text"),
    ],
)  # fmt: skip
def test_what_cannot_be_computed_is_told(source: str, what: str) -> None:
    assert what in refused(source)


@pytest.mark.parametrize(
    ("before", "inner", "after", "told"),
    [
        ("(", "true", ")", "brackets are nested too deep in column 21; at most 20"),
        ("not ", "true", "", "is nested too deep; at most 20 levels"),
        ("- ", "1", "", "is nested too deep; at most 20 levels"),
        ("1 if true else ", "1", "", "is nested too deep; at most 20 levels"),
    ],
)
def test_twenty_levels_are_allowed(before: str, inner: str, after: str, told: str) -> None:
    assert evaluated(before * 20 + inner + after * 20) is not None
    assert refused(before * 21 + inner + after * 21) == told


def test_twenty_levels_of_blocks_are_allowed() -> None:
    begin, end = "{% if true %}", "{% endif %}"
    assert filled(f"{begin * 20}a{end * 20}") == "a"
    assert not_filled(f"{begin * 21}a{end * 21}") == "is nested too deep; at most 20 levels"


def test_an_error_names_the_expression_and_keeps_its_parts() -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluated("missing > 90")
    assert str(caught.value).startswith("expression 'missing > 90': unknown name 'missing'; choices: n, text")
    assert (caught.value.source, caught.value.kind) == ("missing > 90", "expression")


def test_a_condition_yields_a_boolean() -> None:
    assert Expression("n > 3").holds({"n": 4}) is True
    with pytest.raises(ExpressionError, match="found the text 'false'"):
        Expression("n").holds({"n": "false"})


def test_an_expression_knows_its_names() -> None:
    assert Expression("$in.x > y.z[w] and len(v) in [$if]").names == {"in", "y", "w", "v", "if"}
    assert Template("{{ a }}{% if b %}{{ c }}{% elif d %}{% else %}{{ e }}{% endif %}").names == set("abcde")


def test_what_is_missing_in_a_defaultdict_stays_missing() -> None:
    rows: defaultdict[str, int] = defaultdict(int)
    with pytest.raises(ExpressionError, match="no key 'x'"):
        Expression("rows.x").evaluate({"rows": rows})
    assert not rows


def test_an_iterator_is_not_used_up() -> None:
    numbers: Iterator[int] = iter([1, 2])
    for source in ("1 in numbers", "numbers[0]", "len(numbers)", "str(numbers)", "numbers + [1]"):
        with pytest.raises(ExpressionError):
            Expression(source).evaluate({"numbers": numbers})
    assert list(numbers) == [1, 2]


def test_a_mapping_of_any_class_is_read_by_its_keys() -> None:
    names = {"row": MappingProxyType({"x": 1})}
    assert Expression("row.x").evaluate(names) == 1
    assert Expression("str(row)").evaluate(names) == '{"x": 1}'


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("", ""), ("plain { text } }} %} $n # {\n", "plain { text } }} %} $n # {\n"),
        ("{{ n }} and {{ $n + 1 }}", "7 and 8"), ("{{ {'a': {'b': 1}} }}", '{"a": {"b": 1}}'),
        ("{{ '}}' }}{{ \"%}\" }}{{ '{#' }}", "}}%}{#"),
        ("{{ none }} {{ true }} {{ 1.5 }} {{ day }}", "None True 1.5 2026-01-02"),
        ("{% if n > 8 %}a{% elif n > 3 %}b{% else %}c{% endif %}", "b"),
        ("{% if n > 8 %}a{% elif n > 9 %}b{% else %}c{% endif %}", "c"),
        ("{% if n > 8 %}a{% endif %}", ""), ("{% if n > 3 %}{% if n < 9 %}a{% endif %}b{% endif %}", "ab"),
        ("a {%- if true -%} b {%- endif -%} c", "abc"), ("{{ 1 if n > 3 else 2 }}", "1"),
    ],
)  # fmt: skip
def test_a_template_is_filled(source: str, text: str) -> None:
    assert filled(source) == text


def test_text_from_a_value_is_never_read_as_a_template() -> None:
    hostile = "{{ n }}{% if true %}{# #}$n"
    assert Template("<{{ text }}>{{ [text] }}").fill({"text": hostile}) == f'<{hostile}>["{hostile}"]'


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("{{ missing }}", "unknown name 'missing'; choices: n, text"),
        ("a\n{{ n", "'{{' is never closed in line 2, column 1"),
        ("{{ n }", "unexpected '}' in column 6"),
        ("{{ }}", "what stands in {{ }} ends too early"),
        ("{{ n + }}", "what stands in {{ }} ends too early"),
        ("{% if %}{% endif %}", "what stands in {% %} ends too early"),
        ("{{ n, n }}", "a comma (a list is written [a, b]) is not allowed"),
        ("{# note #}", "comments are not allowed, found '{#' in column 1"),
        ("{% for x in row %}{% endfor %}", "a template has no '{% for %}' in column 1; it has {{ }} and {%"),
        ("{% set x = 1 %}", "a template has no '{% set %}'"),
        ("{% include 'a' %}", "a template has no '{% include %}'"),
        ("{% macro a() %}{% endmacro %}", "a template has no '{% macro %}'"),
        ("{%- raw %}{{ n }}{% endraw %}", "a template has no '{% raw %}'"),
        ("{%%}", "a template has no '{%  %}'"),
        ("{% if n > 3 %}", "ends too early: {% endif %} is missing"),
        ("{% if n > 3 %}{% endif n %}", "unexpected 'n'"),
        ("{% endif %}", "'{% endif %}' belongs to no {% if %}"),
        ("{% if 'false' %}a{% endif %}", "expected a boolean, found the text 'false'"),
        ("{{ plain }}", "a value of type Plain cannot be written in a text"),
        ("{{ n|upper }}", "a filter `|` is not allowed"),
        ("{% if n.$x %}{% endif %}", "'$' stands only before a name"),
        ("x" * 10_001, "has 10,001 characters; at most 10,000"),
        ("{% if n > 1 %}" * 25 + "{% endif %}" * 25, "is nested too deep; at most 20 levels"),
    ],
)  # fmt: skip
def test_what_cannot_be_filled_is_told(source: str, what: str) -> None:
    assert what in not_filled(source)


def test_a_function_in_a_document_is_a_name_or_an_expression() -> None:
    assert written_function("m:f.g", "value") == NamedFunction("m:f.g")
    assert written_function("m.f", "value", is_condition=True) == ExpressionOf("value", "m.f", True)


def test_an_expression_over_one_value_knows_no_other_name() -> None:
    assert ExpressionOf("item", "item.x + $item.x").compiled()({"x": 2}) == 4
    with pytest.raises(ExpressionError, match="unknown names 'a', 'b'; choices: item"):
        ExpressionOf("item", "a > b or item").compiled()


def test_a_condition_over_one_value_yields_a_boolean() -> None:
    with pytest.raises(ExpressionError, match="expected a boolean, found the text"):
        ExpressionOf("value", "value.x", is_condition=True).compiled()({"x": "false"})
