"""Expressions and templates: what they compute and refuse, their steps, and fields of configs (S1.7, S16)."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from dataflow import Config, Diagnostic, Flow, Ports, node
from dataflow.core.functions import NamedFunction
from dataflow.errors import ExpressionError
from dataflow.expressions.expression import Expression, ExpressionOf, Template, written_function
from tests.support.codes import codes


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
    "plain": Plain(), "colour": Colour.RED, "day": date(2026, 1, 2), "price": Decimal("1.50"),
    "made": {"done", "failed"}, "in": "word", "é": "unicode",
}  # fmt: skip


# fmt: off
COMPUTED: Final[Mapping[str, Any]] = {
    "1": 1, "1.5": 1.5, "'a\\n'": "a\n", '"a" "b"': "ab", "true": True, "False": False, "none": None,
    "[1, [2]]": [1, [2]], "{'a': n, 1: []}": {"a": 7, 1: []}, "[]": [], "n": 7, "$n + n": 14, "é": "unicode",
    "$in": "word", "$é": "unicode", "row.items": 3, "row['a b']": 4, "row['__class__']": 5,
    "row.deep[0].x": 1, "row.deep.0.x": 1, "row.deep[-1].x": 1, "text[1]": "b", "[1, 2][n - 6]": 2,
    "point.x": 1, "point['y']": 2, "point[1]": 2, "score.value": 0.5, "model.name": "m", "model.more": 2,
    "1 + 2 - 4": -1, "2 * 3 + 4": 10, "2 * (3 + 4)": 14, "7 / 2": 3.5, "7 // 2": 3, "7 % 4": 3,
    "2 ** 3 ** 2": 64, "-2 ** 2": 4, "2 ** -1": 0.5, "- n": -7, "+ n": 7, "text + 'c'": "Abc",
    "[1] + [2]": [1, 2], "[1] + point": [1, 1, 2], "text ~ n ~ [true, none, 'é']": 'Ab7[true, null, "é"]',
    "1 < 2 < 3": True, "1 < 3 < 2": False, "n == 7.0": True, "n != 8": True, "'a' <= 'b'": True,
    "none == 0": False, "day > day": False, "price > 1": True, "[1] == [1]": True,
    "[1, {'a': [none]}] == [1.0, {'a': [none]}]": True, "[1] == ['1']": False, "[1] == [1, 2]": False,
    "{'a': 1} == {'b': 1}": False, "{'a': 1} == {'a': 2}": False, "[1] == {'a': 1}": False,
    "[1, 2] == point": False, "[[1], [2]] != [[1], [3]]": True, "row == row": True, "[1] == 1": False,
    "[[1]] == [[1], 2]": False, "[[1]] == {'a': [1]}": False, "{'a': [1]} == {'a': [1]}": True,
    "{'a': [1]} == {'b': [1]}": False, "[[1]] == [[2]]": False, "[1] in [[2], [1]]": True,
    "[3] not in [[2], [1]]": True, "none in [1, none]": True, "1 in [1]": True, "'items' in row": True,
    "'b' in text": True, "'x' not in made": True, "true and false or true": True, "not n > 8": True,
    "true or missing": True, "false and missing": False, "1 if n > 3 else 2": 1,
    "1 if n > 8 else 2 if n > 9 else 3": 3, "len(text)": 2, "len(row)": 4, "lower(text)": "ab",
    "upper('ß')": "SS", "trim(' a ')": "a", "round(2.6)": 3, "round(2.567, 1)": 2.6, "int('12')": 12,
    "int(2.9)": 2, "float('1.5')": 1.5, "float(1)": 1.0, "str(n)": "7", "str(text)": "Ab",
    "str(true)": "True", "str({'a': point})": '{"a": [1, 2]}', "str(day)": "2026-01-02",
    "str([price])": '["1.50"]',
    "any([n > 8, n > 3])": True, "any([])": False, "all([true, n > 8])": False, "all([])": True,
    "min([3, n, 2.5])": 2.5, "min(n, 3)": 3, "max('b', text)": "b", "max([day])": date(2026, 1, 2),
    "sum([1, n, 0.5])": 8.5, "sum([])": 0, "sum(point)": 3, "contains(text, 'b')": True,
    "contains(row, 'items')": True, "contains([1], 2)": False, "startswith(text, 'A')": True,
    "endswith(text, 'A')": False, "split('a b  c')": ["a", "b", "c"], "split('a,,b', ',')": ["a", "", "b"],
    "join([n, 'a', none])": "7aNone", "join([n, 'a'], ', ')": "7, a", "join([], ',')": "",
    "default(missing, 1)": 1, "default(row.missing.deep, 1)": 1, "default(none, 1)": 1,
    "default(n, 1 / 0)": 7,
    "default(split(text)[3], 'x')": "x", "default(row.deep[0].x, 2)": 1, "default(0, 1)": 0,
    "row.items is defined": True, "row.missing is defined": False, "missing is not defined": True,
    "text.upper is defined": False, "row.deep[1:][0] is defined": False, "text[:1]": "A", "text[::-1]": "bA",
    "[1, 2, 3][-2:]": [2, 3], "point[n - 6:]": [2], "row.deep[:9][0].x": 1, "text[5:]": "",
}
FILLED: Final = {
    "": "", "plain { text } }} %} $n # {\n": "plain { text } }} %} $n # {\n",
    "{{ n }} and {{ $n + 1 }}": "7 and 8", "{{ {'a': {'b': 1}} }}": '{"a": {"b": 1}}',
    "{{ '}}' }}{{ \"%}\" }}{{ '{#' }}": "}}%}{#",
    "{{ none }} {{ true }} {{ 1.5 }} {{ day }}": "None True 1.5 2026-01-02",
    "{% if n > 8 %}a{% elif n > 3 %}b{% else %}c{% endif %}": "b",
    "{% if n > 8 %}a{% elif n > 9 %}b{% else %}c{% endif %}": "c", "{% if n > 8 %}a{% endif %}": "",
    "{% if n > 3 %}{% if n < 9 %}a{% endif %}b{% endif %}": "ab",
    "a {%- if true -%} b {%- endif -%} c": "abc", "{{ 1 if n > 3 else 2 }}": "1",
}
#: Expressions in addition to those of tests/messages, by the code and place of their problem.
REFUSED: Final = {
    "DF0702": [" "], "DF0704 column 3": ["n }} {{ 1"], "DF0704 line 3": ["n\n+\n|"], "DF0706": ["1 +", "not"],
    "DF0709 line 2, column 3": ["n +\n  __import__"],
    "DF0710 column 1": ["$", "$1"],
    "DF0710 column 2": ["n$x"],
    "DF0710 column 3": ["n.$x"],
    "DF0712": ["not " * 21 + "true", "- " * 21 + "1", "1 if true else " * 21 + "1"],
    "DF0712 column 21": ["(" * 21 + "true" + ")" * 21],
    "DF0713": ["(1, 2)", "n is divisibleby 2", "(n + 1) is defined", "n | upper", "text[1:, 2]"],
    "DF0715": ["split()", "default(n)", "contains(text)", "join([], ',', 1)",
        "len()", "len(n, x=n)", "len(n, *n)", "len(n, **n)"],
    "DF0718": ["'false' and true", "not n", "1 if none else 2", "- text", "(-8) ** 0.5", "[] in row",
        "{[]: 1}", "row[[]]", "round(text)", "all([1])", "sum(['a'])"],
    "DF0718 `*`": ["text * 3", "3 * [1]"], "DF0718 `%`": ["text % 3"], "DF0718 `**`": ["text ** 3"],
    "DF0718 `+`": ["true + 1", "text + 1"],
    "DF0718 `<`": ["[1] < [2]", "min([true])", "min([[1]])"],
    "DF0718 `>`": ["true > false"], "DF0718 `in`": ["1 in text", "1 in n"], "DF0718 len()": ["len(n)"],
    "DF0718 lower()": ["lower(n)"], "DF0718 any()": ["any(n)", "any(text)"],
    "DF0718 min()": ["min([])", "min(n)"], "DF0718 sum()": ["sum(row)"],
    "DF0718 contains()": ["contains(n, 1)", "contains(text, 1)"],
    "DF0718 startswith()": ["startswith(n, 'a')"],
    "DF0718 split()": ["split(n)", "split(text, '')"],
    "DF0718 join()": ["join(text)", "join([1], 2)"],
    "DF0718 `[:]`": ["n[1:]", "row[1:]", "text['a':]", "text[true:]", "text[::0]"],
    "DF0718 round()": ["round(n, 1000)", "round(n, 1.0)"],
    "DF0718 int()": ["int('x')", "int(true)"],
    "DF0718 float()": [f"float('{'0' * 1_201}')"],
    "DF0719": ["10 ** (10 ** 10)"],
    "DF0722": [
        "row.missing > 90", "row[1]", "point.z", "point.count", "score.double", "score['_hidden']",
        "model.model_dump", "plain.attribute", "text.upper", "n.real", "text[2]", "text[-3]", "text[true]",
    ],
    "DF0723": ["max(['a', 1])", "'10' > 9", "n == '7'", "true == 1"],
    "DF0725": ["none > 1", "1 / 0", "1e300 ** 2", "row < row", "int(1e999)"],
    "DF0727": ["str(plain)", "str([colour])", "str(made)"],
}
NOT_FILLED: Final = {
    "DF0704": ["{% if n > 3 %}{% endif n %}"], "DF0704 column 6": ["{{ n }"],
    "DF0705 line 2, column 1": ["a\n{{ n"], "DF0706 {{ }}": ["{{ n + }}"],
    "DF0707 column 1": [
        "{% set x = 1 %}", "{% include 'a' %}",
        "{% macro a() %}{% endmacro %}", "{%- raw %}{{ n }}{% endraw %}", "{%%}",
    ],
    "DF0710 column 9": ["{% if n.$x %}{% endif %}"],
    "DF0712": ["{% if true %}" * 21 + "{% endif %}" * 21],
    "DF0713": ["{{ n, n }}", "{{ n|upper }}"], "DF0717": ["{{ missing }}"],
    "DF0718": ["{% if 'false' %}a{% endif %}"], "DF0727": ["{{ plain }}"],
}  # fmt: skip
#: What was found by an operator or function, and how values are described.
FOUND: Final = {
    "not n": "the number 7", "1 if none else 2": "none", "true + 1": "true and the number 1",
    "text + [1]": "the string 'Ab' and a list", "- row": "a mapping", "- plain": "a value of type Plain",
    "upper(2 ** 64)": "a long number", "'x' and true": "the string 'x'",
}
# fmt: on


def problem_of(function: Callable[[str], object], source: str, kind: str = "expression") -> Diagnostic:
    with pytest.raises(ExpressionError) as caught:
        function(source)
    error = caught.value
    assert (error.source, error.kind, error.code) == (source, kind, error.diagnostics[0].code)
    assert isinstance(error.problem, Diagnostic)
    return error.problem


def evaluated(source: str) -> Any:
    return Expression(source).evaluate(VALUES)


def filled(source: str) -> str:
    return Template(source).fill(VALUES)


def test_an_expression_computes() -> None:
    found = {source: evaluated(source) for source in COMPUTED}
    assert found == COMPUTED
    assert {source: type(value) for source, value in found.items()} == {
        source: type(value) for source, value in COMPUTED.items()
    }


def test_a_template_is_filled() -> None:
    assert {source: filled(source) for source in FILLED} == FILLED


def test_invalid_expressions_and_templates_are_refused() -> None:
    """What cannot be parsed is refused when it is made, the rest when it is evaluated."""
    for table, make, use, kind in (
        (REFUSED, Expression, evaluated, "expression"),
        (NOT_FILLED, Template, filled, "template"),
    ):
        wanted = {source: code for code, sources in table.items() for source in sources}
        assert wanted == {
            source: codes([problem_of(make if code < "DF0717" else use, source, kind)])[0]
            for source, code in wanted.items()
        }


def test_problems_name_what_was_found_and_what_exists() -> None:
    assert {source: problem_of(evaluated, source).found for source in FOUND} == FOUND
    available = {
        "row.missing": ("items", "a b", "__class__", "deep"),
        "point.z": ("x", "y"), "model.model_dump": ("name", "more"), "n.real": (), "text[2]": None,
        "other": (*list(VALUES)[:11], "in"),
    }  # fmt: skip
    found = {source: problem_of(evaluated, source).available for source in available}
    assert found == available
    assert problem_of(evaluated, "[n n]").expected == "','"
    assert problem_of(filled, "{% if n > 3 %}", "template").expected == "{% endif %}"


def test_a_condition_yields_a_boolean() -> None:
    assert Expression("n > 3").holds({"n": 4}) is True
    with pytest.raises(ExpressionError, match="DF0718"):
        Expression("n").holds({"n": "false"})
    with pytest.raises(ExpressionError, match="DF0718"):
        ExpressionOf("value", "value.x", is_condition=True).compiled()({"x": "false"})


def test_an_expression_knows_its_names() -> None:
    assert Expression("$in.x > y.z[w] and len(v) in [$if]").names == {"in", "y", "w", "v", "if"}
    assert Template("{{ a }}{% if b %}{{ c }}{% elif d %}{% else %}{{ e }}{% endif %}").names == set("abcde")


def test_a_mapping_of_any_class_is_read_by_its_keys() -> None:
    names = {"row": MappingProxyType({"x": 1})}
    assert Expression("row.x").evaluate(names) == 1
    assert Expression("str(row)").evaluate(names) == '{"x": 1}'


def test_a_function_in_a_document_is_a_name_or_an_expression() -> None:
    assert written_function("m:f.g", "value") == NamedFunction("m:f.g")
    assert written_function("m.f", "value", is_condition=True) == ExpressionOf("value", "m.f", True)


def test_an_expression_over_one_value_knows_no_other_name() -> None:
    assert ExpressionOf("item", "item.x + $item.x").compiled()({"x": 2}) == 4
    with pytest.raises(ExpressionError, match="DF0717") as caught:
        ExpressionOf("item", "a > b or item").compiled()
    assert caught.value.diagnostics[0].available == ("item",)


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


class LyingText(str):
    __slots__ = ()

    def __len__(self) -> int:
        return 1

    def __str__(self) -> str:
        return "lie"

    def lower(self) -> str:
        return "lie"


class LyingList(list[Any]):
    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[Any]:
        return iter(["lie"])


def alike(items: int) -> tuple[list[Any], list[Any]]:
    return [0] * items + [[1]], [0] * items + [[1]]


MANY: Final = 100_000
ONE, OTHER = alike(MANY)


def steps_of(source: str, **names: Any) -> int:
    taken: list[int] = []
    Expression(source).evaluate(names, taken.append)
    return sum(taken)


def test_all_work_is_counted() -> None:
    cases: list[tuple[str, dict[str, Any], int]] = [
        ("1 + 1", {}, len("1 + 1")),
        ("a == b", {"a": [[0]] * MANY, "b": [[0.0]] * MANY}, 10 * MANY),
        ("a == b", {"a": ONE, "b": OTHER}, MANY),
        ("a == b", {"a": "a" * MANY, "b": "a" * MANY}, MANY // 10),
        ("a < b", {"a": "a" * MANY, "b": "a" * MANY}, MANY // 10),
        ("'b' in a", {"a": "a" * MANY}, MANY // 10),
        ("a == b", {"a": 1 << 8 * MANY, "b": 1 << 8 * MANY}, MANY // 10),
        ("a == b", {"a": b"a" * MANY, "b": b"a" * MANY}, MANY // 10),
        ("a == b", {"a": ["a" * MANY] * 9, "b": ["a" * MANY] * 9}, 9 * MANY // 10),
        ("a == b", {"a": {"a" * MANY: 1}, "b": {"a" * MANY: 1}}, MANY // 10),
        ("a in b", {"a": "a" * MANY, "b": ["a" * MANY] * 9}, 9 * MANY // 10),
        ("1 in a", {"a": [0] * MANY}, MANY),
        ("'b' in a", {"a": LyingText("a" * MANY)}, MANY // 10),
        ("str(a)", {"a": Decimal(f"1{'0' * MANY}")}, MANY),
        ("lower(a)", {"a": LyingText("A" * MANY)}, MANY),
    ]
    counted = [steps_of(source, **names) for source, names, _ in cases]
    least = [steps for *_, steps in cases]
    assert [max(pair) for pair in zip(counted, least, strict=True)] == counted


def test_comparing_lists_of_the_same_items_many_times_is_too_much() -> None:
    with pytest.raises(ExpressionError, match="DF0721"):
        Expression("a == b").evaluate({"a": [ONE] * 1_000, "b": [OTHER] * 1_000})


def test_overridden_methods_cannot_exceed_a_limit() -> None:
    for source, value in {
        "a": LyingText("a" * 1_000_001),
        "a ~ ''": LyingText("a" * 1_000_001),
        "upper(a)": LyingText("a" * 1_000_001),
        "a + a": LyingList([0] * 500_001),
    }.items():
        with pytest.raises(ExpressionError, match="DF0720"):
            Expression(source).evaluate({"a": value})
