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
    Row("an empty one", evaluated(''), "expression '': is empty"),
    Row("a long one", evaluated('a' * 10001), "expression 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa... 9,926 characters ...aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa': has 10,001 characters; at most 10,000"),
    Row("a comment", filled('{# a #}'), "template '{# a #}': comments are not allowed, found '{#' in column 1"),
    Row("a tag", filled('{% for a in b %}'), "template '{% for a in b %}': a template has no '{% for %}' in column 1; it has {{ }} and {% if %}, {% elif %}, {% else %}, {% endif %}"),
    Row("a bracket", evaluated('a['), "expression 'a[': '[' is never closed in column 2"),
    Row("an underscore", evaluated('a._b'), "expression 'a._b': a name begins with an underscore: '_b' in column 3"),
    Row("a dollar", evaluated('a $ b'), "expression 'a $ b': '$' stands only before a name, as in $value in column 3; $value and value are the same name"),
    Row("an escape", evaluated("'\\q'"), "expression \"'\\\\q'\": '\\q' means nothing in the text in column 1; a backslash is written '\\\\'"),
    Row("a character", evaluated('a ? b'), "expression 'a ? b': unexpected '?'"),
    Row("brackets", evaluated('(' * 21 + ')' * 21), "expression '((((((((((((((((((((()))))))))))))))))))))': brackets are nested too deep in column 21; at most 20"),
    Row("levels", evaluated('not ' * 30 + 'a'), "expression 'not not not not not not not not not not... 43 characters ...t not not not not not not not not not a': is nested too deep; at most 20 levels"),
    Row("two values", evaluated('a b'), "expression 'a b': unexpected 'b'"),
    Row("too early", evaluated('a +'), "expression 'a +': ends too early"),
    Row("an empty hole", filled('{{ }}'), "template '{{ }}': what stands in {{ }} ends too early"),
    Row("an empty condition", filled('{% if %}{% endif %}'), "template '{% if %}{% endif %}': what stands in {% %} ends too early"),
    Row("no end", filled('{% if a %}'), "template '{% if a %}': ends too early: {% endif %} is missing"),
    Row("an end of nothing", filled('{% endif %}'), "template '{% endif %}': '{% endif %}' belongs to no {% if %}"),
    Row("no name", evaluated('a.'), "expression 'a.': expected a name after '.'"),
    Row("no comma", evaluated('[a b]'), "expression '[a b]': expected ',', found 'b'"),
    Row("no syntax", evaluated('a + * b'), "expression 'a + * b': unexpected '*'"),
    Row("a filter", evaluated('a | upper'), "expression 'a | upper': a filter `|` is not allowed; there are literals, names, items, comparisons, and, or, not, in, arithmetic, `~`, `a if b else c` and the functions len, lower, upper, trim, round, int, float, str"),
    Row("a slice", evaluated('a[1:2]', a='x'), "expression 'a[1:2]': a slice `[:]` is not allowed; there are literals, names, items, comparisons, and, or, not, in, arithmetic, `~`, `a if b else c` and the functions len, lower, upper, trim, round, int, float, str"),
    Row("a keyword", evaluated('a in b is c'), "expression 'a in b is c': a test `is` is not allowed; there are literals, names, items, comparisons, and, or, not, in, arithmetic, `~`, `a if b else c` and the functions len, lower, upper, trim, round, int, float, str"),
    Row("a long literal", evaluated('1' * 5000), "expression '11111111111111111111111111111111111111... 4,924 characters ...11111111111111111111111111111111111111': an integer is too large: at most 4,096 bits"),
    Row("a large literal", evaluated('1' * 2000), "expression '11111111111111111111111111111111111111... 1,924 characters ...11111111111111111111111111111111111111': an integer is too large: at most 4,096 bits"),
    Row("an unknown name", evaluated('a', b=1), "expression 'a': unknown name 'a'; choices: b"),
    Row("no else", evaluated('1 if a', a=True), "expression '1 if a': `a if b` has no `else`"),
    Row("an unknown function", evaluated('f(1)'), "expression 'f(1)': a call of 'f' is not allowed; the functions are len, lower, upper, trim, round, int, float, str"),
    Row("a call of a value", evaluated('a.b(1)'), "expression 'a.b(1)': a call of a value is not allowed; the functions are len, lower, upper, trim, round, int, float, str"),
    Row("arguments", evaluated('len(1, 2)'), "expression 'len(1, 2)': len() takes 1 argument, without a name"),
    Row("arguments of round", evaluated('round(1, 2, 3)'), "expression 'round(1, 2, 3)': round() takes 1 to 2 arguments, without a name"),
    Row("no boolean", evaluated('not a', a=1), "expression 'not a': expected a boolean, found the number 1"),
    Row("no condition", lambda: Expression('a').holds({'a': 1}), "expression 'a': expected a boolean, found the number 1"),
    Row("no number", evaluated('-a', a='x'), "expression '-a': expected a number, found the text 'x'"),
    Row("two that are no numbers", evaluated('a - 1', a='x'), "expression 'a - 1': `-` takes two numbers, found the text 'x' and the number 1"),
    Row("unlike sums", evaluated('a + 1', a='x'), "expression 'a + 1': `+` takes two numbers, two texts or two lists, found the text 'x' and the number 1"),
    Row("a large power", evaluated('9 ** 9999'), "expression '9 ** 9999': `**` makes too large an integer: at most 4,096 bits"),
    Row("a large product", evaluated('a * a', a=2 ** 4000), "expression 'a * a': an integer is too large: at most 4,096 bits"),
    Row("a long text", evaluated('a ~ a', a='x' * 600000), "expression 'a ~ a': makes too much: a text or list has at most 1,000,000 characters or items"),
    Row("too many steps", evaluated('a == b', a=[['x'] * 1000] * 10000, b=[['x'] * 1000] * 10000), "expression 'a == b': takes too much: at most 10,000,000 characters and items are made and compared"),
    Row("no key", evaluated('a.b', a={'c': 1}), "expression 'a.b': no key 'b'; choices: c"),
    Row("no key of a kind", evaluated('a[b]', a={}, b=[]), "expression 'a[b]': a list is no key"),
    Row("no field", evaluated('a.b', a=Parts('x', [])), "expression 'a.b': a value of type Parts has no field 'b'; choices: title, chunks"),
    Row("no item", evaluated('a[0]', a=3), "expression 'a[0]': the number 3 has no item under the number 0"),
    Row("no such item", evaluated('a[3]', a=[1]), "expression 'a[3]': no item 3; there is 1"),
    Row("no item at all", evaluated('a[3]', a=[]), "expression 'a[3]': no item 3; there are none"),
    Row("unlike values", evaluated('a == b', a=1, b='x'), "expression 'a == b': cannot compare the number 1 with the text 'x'; say what is meant with int(), float() or str()"),
    Row("no order", evaluated('a < 1', a=[1]), "expression 'a < 1': `<` orders numbers, texts, dates and the like, found a list"),
    Row("in a text", evaluated("a in 'text'", a=1), "expression \"a in 'text'\": `in` looks for a text in a text, found the number 1"),
    Row("in a number", evaluated('1 in a', a=1), "expression '1 in a': `in` looks into a text, list, set or mapping, found the number 1"),
    Row("a comparison of another kind", evaluated('a == b', a=Odd(), b=Odd()), "expression 'a == b': a comparison answered with the text 'yes'; expected a boolean"),
    Row("a comparison that raises", evaluated('a == b', a=Raises(), b=Raises()), "expression 'a == b': raised KeyError: 'no'"),
    Row("no text", evaluated('upper(a)', a=1), "expression 'upper(a)': upper() takes a text, found the number 1"),
    Row("no length", evaluated('len(a)', a=1), "expression 'len(a)': len() takes a text, list or mapping, found the number 1"),
    Row("digits", evaluated('round(1.5, 999)'), "expression 'round(1.5, 999)': round() keeps at most 400 digits, found the number 999"),
    Row("no number in a text", evaluated('int(a)', a='x'), "expression 'int(a)': int() takes a number, or the text of one with at most 1,200 characters, found the text 'x'"),
    Row("no text of a value", filled('{{ a }}', a=object()), "template '{{ a }}': a value of type object cannot be written in a text; take a field of it"),
    Row("a text of itself", filled('{{ a }}', a=ITSELF), "template '{{ a }}': a value that holds itself cannot be written in a text"),
    Row("a text of a long integer", filled('{{ a }}', a=[10 ** 5000]), "template '{{ a }}': an integer cannot be written in a text: it has more than 4,300 digits"),
    Row("a full template", filled('{{ a }}{{ a }}', a='x' * 600000), "template '{{ a }}{{ a }}': fills to more than 1,000,000 characters"),
    Row("a result too long", lambda: Expression('a').evaluate({'a': 'x' * 1000001}), "expression 'a': gives a text of 1,000,001 characters; at most 1,000,000"),
    Row("a value nested too deep", evaluated("a == b", a=Recurses(), b=Recurses()), "expression 'a == b': meets a value that is nested too deep"),
]
# fmt: on
