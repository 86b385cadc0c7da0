"""Whatever stands in an expression or a value: it is computed, or refused by an ExpressionError (S16.1)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataflow.errors import ExpressionError
from dataflow.expressions.expression import Expression, Template

WORDS: Final = r"""
( ) [ ] { } ' " , . : + - * / // % ** ~ | = == != < <= > >= and or not in is if else true none ; value $value
$in $ $_ __class__ _x a len str int round lower 1 0 1.5 1e999 0x1f 1_0 \ \\ \N{DASH} {{ }} {% %} {# #} {%- -%}
for set elif endif endfor raw endraw macro include import block self loop é ﬁ º 𝟙 🙂 __import__ mro()
"""
FRAGMENTS: Final = [
    *WORDS.split(),
    *(" ", "\n", "\r", "\t", "\x00", "\x85", "\u2028", "\ud800", "'a'", '"}}"', "{{ a }}"),
]
pieces = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=3), max_size=12)
sources = pieces.map("".join) | pieces.map(" ".join) | st.text()


class Raising:
    """An object whose every method raises."""

    def _raise(self, *_: Any) -> Any:
        raise RuntimeError("hostile")

    __eq__ = __lt__ = __contains__ = __getitem__ = __len__ = __iter__ = __str__ = __repr__ = _raise
    __getattr__ = __bool__ = __add__ = __radd__ = __int__ = __float__ = __index__ = __hash__ = _raise
    __class__ = property(_raise)


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


class Equal:
    def __eq__(self, other: object) -> Any:
        return "yes"

    __hash__ = None  # type: ignore[assignment]  # as of any class with its own equality


@dataclass
class Broken:
    x: int = 0

    def __getattribute__(self, name: str) -> Any:
        if name == "x":
            raise Unprintable
        return super().__getattribute__(name)


def deep(innermost: Any, wrap: Callable[[Any], Any], levels: int) -> Any:
    for _ in range(levels):
        innermost = wrap(innermost)
    return innermost


def ring() -> list[Any]:
    """Make a list that has itself."""
    made: list[Any] = []
    made.append(made)
    return made


def laughs() -> Any:
    return deep(["ha"], lambda inner: [inner] * 10, 40)


ITSELF: Final[dict[str, Any]] = {}
ITSELF["a"] = ITSELF
VALUES: Final[dict[str, Any]] = {
    "value": {"a": [1, "x", {"b": None}], "n": 3, "t": "text"},
    "a": 1, "in": "x", "raising": Raising(), "equal": Equal(), "broken": Broken(), "itself": ITSELF,
    "round": ring(), "other": ring(), "deep": deep([], lambda inner: [inner], 100_000), "laughs": laughs(),
    "others": laughs(), "tuple": deep(("ha", "ha"), lambda inner: (inner, inner), 100), "huge": 1 << 100_000,
    "long": "x" * 900_000, "huge_text": "x" * 1_000_001, "half": "x" * 400_000, "many": [0] * 900_000,
}  # fmt: skip


def evaluated(source: str) -> Any:
    return Expression(source).evaluate(VALUES)


def filled(source: str) -> str:
    return Template(source).fill(VALUES)


def outcome(work: Callable[[], Any]) -> str:
    """Tell what the refusal says, or "computed"; any other exception fails the test."""
    refusal = "computed"
    try:
        work()
    except ExpressionError as error:
        refusal = str(error)
    assert len(refusal) < 5_000
    return refusal


@settings(max_examples=400)
@given(sources)
def test_any_text_is_an_expression_and_a_template_or_is_refused(source: str) -> None:
    outcome(partial(evaluated, source))
    outcome(partial(filled, source))


@given(st.text(st.characters(exclude_characters="{")))
def test_text_without_a_brace_stands_in_a_template_as_it_is(text: str) -> None:
    assert Template(text).fill({}) == text.replace("\r\n", "\n").replace("\r", "\n")


DEEPER: Final = 3_000


def test_what_is_nested_too_deep_is_refused() -> None:
    for source in (
        "(" * DEEPER + "1" + ")" * DEEPER, "[" * DEEPER + "]" * DEEPER, "{1:" * 2_000 + "1" + "}" * 2_000,
        "(" * DEEPER, ")" * DEEPER, "-" * DEEPER + "1", "- + " * 2_000 + "1", "not " * 2_000 + "true",
        "1 if true else " * 600 + "1", "a[" * DEEPER + "1" + "]" * DEEPER, "len(" * 1_500 + "1" + ")" * 1_500,
        "(-" * 15 + "(not " * 10 + "1" + ")" * 25,
    ):  # fmt: skip
        refusal = outcome(partial(Expression, source))
        assert any(code in refusal for code in ("DF0712", "DF0705", "DF0704")), source[:20]
    assert "DF0712" in outcome(lambda: Template("{% if a %}" * 900))


TRICKS: Final = [
    "''.__class__.__mro__", "value.__class__", "value['__class__']", "value[\"__\" ~ 'class__']",
    "value|attr('__class__')", "'{0.__class__}'.format(value)", "'%s' % value", "'%99999999d' % 1",
    "'a' * 10 ** 9", "10 ** 10 ** 10 ** 10 ** 10", "[0] * 10 ** 9", "10 ** 9 * 'a'", "value.keys()",
    "value.clear()", "value.pop('a')", "value.a.append(1)", "cycler.__init__.__globals__",
    "self.__init__",
    "namespace()", "joiner()", "lipsum()", "dict(a=1)", "range(10 ** 9)", "[x for x in value]",
    "lambda: 1",
    "(lambda: 1)()", "value := 1", "await value", "yield", "{# a #}1", "# for x in value", "%{x}", "1;2",
    "print(1)", "open('x')", "value.a[0:1, 2]", "value.a[1, 2]", "value is mapping",
    "long + long", "long ~ long", "str([long, long])", "many + many", "lower(long) + upper(long)",
    "huge + 1", "huge * huge", "str(huge)", "str([huge])", "float(huge)", "int(long)", "round(huge)",
    "round(1, -10 ** 9)", "2 ** huge", "huge % 3", "1.0 * huge", "str(itself)", "str(round)",
    "round == other",
    "round < other", "str(deep)", "str(laughs)", "raising == 1", "raising.x",
    "raising[0]", "raising + 1", "1 in raising", "len(raising)", "str(raising)", "raising and true",
    "int(raising)", "{raising: 1}", "equal == 1", "broken.x", "'\\N{DIGIT ONE}'", "'\\400'", "'\\x4'",
    "laughs == others", "laughs != others", "[laughs] == [others]", "laughs in [others]",
    "laughs < others", "{'a': laughs} == {'a': others}", "tuple in value", "{tuple: 1}", "value[tuple]",
    "huge_text",
    "len(half ~ half) + " * 15 + "0", "len(str(many)) + " * 15 + "0", "len(upper(half)) + " * 15 + "0",
]  # fmt: skip


def test_a_trick_is_refused(subtests: pytest.Subtests) -> None:
    before = json.dumps(VALUES["value"])
    for source in TRICKS:
        with subtests.test(source):
            assert outcome(partial(evaluated, source)) != "computed"
            assert json.dumps(VALUES["value"]) == before


# A small language of the same rules, evaluated by Python itself.

numbers = st.integers(-50, 50).map(lambda n: (f"({n})" if n < 0 else str(n), n))
texts = st.text("abé '", max_size=3).map(lambda t: (json.dumps(t, ensure_ascii=False), t))
booleans = st.booleans().map(lambda b: ("true" if b else "false", b))
named = st.sampled_from([("a", 1), ("$value.n", 3), ("value['n']", 3), ("value.a[0]", 1)])


def binary(inner: Any, signs: dict[str, Callable[[Any, Any], Any]]) -> Any:
    def made(sign: str, left: tuple[str, Any], right: tuple[str, Any]) -> tuple[str, Any]:
        return f"({left[0]} {sign} {right[0]})", signs[sign](left[1], right[1])

    return st.builds(made, st.sampled_from(sorted(signs)), inner, inner)


CALCULATE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y,
}  # fmt: skip
COMPARE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "==": lambda x, y: x == y, "!=": lambda x, y: x != y, "<": lambda x, y: x < y, ">=": lambda x, y: x >= y,
}  # fmt: skip
CONNECT: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "and": lambda x, y: x and y, "or": lambda x, y: x or y,
}  # fmt: skip


def chosen(test: tuple[str, Any], first: tuple[str, Any], second: tuple[str, Any]) -> tuple[str, Any]:
    return f"({first[0]} if {test[0]} else {second[0]})", first[1] if test[1] else second[1]


calculated = st.recursive(
    numbers | named,
    lambda inner: binary(inner, CALCULATE) | inner.map(lambda one: (f"(-{one[0]})", -one[1])),
    max_leaves=6,
)
written = st.recursive(texts, lambda inner: binary(inner, {"+": CALCULATE["+"]}), max_leaves=4)
measured = written.map(lambda one: (f"len({one[0]})", len(one[1])))
compared = binary(calculated | measured, COMPARE) | binary(written, COMPARE)
decided = st.recursive(
    booleans | compared,
    lambda inner: binary(inner, CONNECT) | inner.map(lambda one: (f"(not {one[0]})", not one[1])),
    max_leaves=5,
)
chosen_ones = st.builds(chosen, decided, calculated, calculated)
programs = calculated | written | measured | compared | decided | chosen_ones


@settings(max_examples=300)
@given(programs)
def test_an_expression_computes_what_python_does(program: tuple[str, Any]) -> None:
    source, expected = program
    found: list[Any] = []
    if outcome(lambda: found.append(Expression(source).evaluate(VALUES))) == "computed":
        assert (type(found[0]), found[0]) == (type(expected), expected)
    else:
        assert "DF0712" in outcome(lambda: Expression(source)), "the only refusal there may be"
