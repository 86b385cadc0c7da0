# ruff: noqa: E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type, call-arg, call-overload, attr-defined, misc, return-value, index, operator, assignment"
"""What is said of expressions and templates (S16)."""

from __future__ import annotations

from typing import Any, Final

from dataflow.expressions.expression import Expression, Template
from tests.behaviour.flow_parts import Parts
from tests.messages.telling import Row

__all__ = ["ROWS"]


def evaluated(source: str, **names: Any) -> Any:
    return lambda: Expression(source).evaluate(names)


def filled(source: str, **names: Any) -> Any:
    return lambda: Template(source).fill(names)


class Raises:
    def __eq__(self, other: object) -> bool:
        raise KeyError("no")

    __hash__ = None


class Odd:
    def __eq__(self, other: object) -> Any:
        return "yes"

    __hash__ = None


class Recurses:
    def __eq__(self, other: object) -> bool:
        raise RecursionError

    __hash__ = None


ITSELF: Final[list[Any]] = []
ITSELF.append(ITSELF)

# fmt: off
ROWS: Final = [
    Row("an empty one", evaluated('')),
    Row("a long one", evaluated('a' * 10001)),
    Row("a comment", filled('{# a #}')),
    Row("a bracket", evaluated('a[')),
    Row("an underscore", evaluated('a._b')),
    Row("a dollar", evaluated('a $ b')),
    Row("an escape", evaluated("'\\q'")),
    Row("a character", evaluated('a ? b')),
    Row("brackets", evaluated('(' * 21 + ')' * 21)),
    Row("levels", evaluated('not ' * 30 + 'a')),
    Row("no end", filled('{% if a %}')),
    Row("an end of nothing", filled('{% endif %}')),
    Row("no name", evaluated('a.')),
    Row("no comma", evaluated('[a b]')),
    Row("a filter", evaluated('a | upper')),
    Row("a slice", evaluated('a[1:2]', a='x')),
    Row("a keyword", evaluated('a in b is c')),
    Row("a long literal", evaluated('1' * 5000)),
    Row("a large literal", evaluated('1' * 2000)),
    Row("an unknown name", evaluated('a', b=1)),
    Row("no else", evaluated('1 if a', a=True)),
    Row("an unknown function", evaluated('f(1)')),
    Row("a call of a value", evaluated('a.b(1)')),
    Row("arguments", evaluated('len(1, 2)')),
    Row("arguments of round", evaluated('round(1, 2, 3)')),
    Row("no boolean", evaluated('not a', a=1)),
    Row("no condition", lambda: Expression('a').holds({'a': 1})),
    Row("no number", evaluated('-a', a='x')),
    Row("two that are no numbers", evaluated('a - 1', a='x')),
    Row("unlike sums", evaluated('a + 1', a='x')),
    Row("a large power", evaluated('9 ** 9999')),
    Row("a long text", evaluated('a ~ a', a='x' * 600000)),
    Row("too many steps", evaluated('a == b', a=[['x'] * 1000] * 10000, b=[['x'] * 1000] * 10000)),
    Row("no key of a kind", evaluated('a[b]', a={}, b=[])),
    Row("no field", evaluated('a.b', a=Parts('x', []))),
    Row("no item", evaluated('a[0]', a=3)),
    Row("no such item", evaluated('a[3]', a=[1])),
    Row("unlike values", evaluated('a == b', a=1, b='x')),
    Row("no order", evaluated('a < 1', a=[1])),
    Row("in a text", evaluated("a in 'text'", a=1)),
    Row("in a number", evaluated('1 in a', a=1)),
    Row("a comparison of another kind", evaluated('a == b', a=Odd(), b=Odd())),
    Row("a comparison that raises", evaluated('a == b', a=Raises(), b=Raises())),
    Row("no text", evaluated('upper(a)', a=1)),
    Row("no length", evaluated('len(a)', a=1)),
    Row("digits", evaluated('round(1.5, 999)')),
    Row("no number in a text", evaluated('int(a)', a='x')),
    Row("no text of a value", filled('{{ a }}', a=object())),
    Row("a text of itself", filled('{{ a }}', a=ITSELF)),
    Row("a text of a long integer", filled('{{ a }}', a=[10 ** 5000])),
    Row("a full template", filled('{{ a }}{{ a }}', a='x' * 600000)),
    Row("a result too long", lambda: Expression('a').evaluate({'a': 'x' * 1000001})),
    Row("a value nested too deep", evaluated("a == b", a=Recurses(), b=Recurses())),
]
# fmt: on
