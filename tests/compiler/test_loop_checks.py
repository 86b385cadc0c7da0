# mypy: disable-error-code="arg-type"
"""The types of loop variables, tests and outputs of loops (S6.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dataflow import Flow
from tests.compiler.typed_nodes import anything, text, total, whole
from tests.support.codes import found_of


async def is_big(n: int) -> bool:
    return n > 3


def test_a_test_without_a_function_must_be_a_bool() -> None:
    sources: list[tuple[Callable[[Flow, Any], Any], list[tuple[str, ...]]]] = [
        (lambda _flow, carry: carry.out, [("DF0308 loop.until", "bool", "int")]),
        (lambda flow, carry: flow.add(anything, x=carry.out).out, []),
        (lambda flow, carry: flow.add(is_big, n=carry.out).out, []),
    ]
    for source, problems in sources:
        flow = Flow()
        with flow.loop(limit=2) as it:
            carry = it.carry(0)
            it.until(source(flow, carry), None)  # as documents may
            carry.next(carry.out)
        assert found_of(flow.check()) == problems


def test_a_next_value_has_the_type_of_the_first() -> None:
    place = "DF0308 loop.carry.carry.next"
    values: list[tuple[Any, Callable[[Flow, Any], Any], list[tuple[str, ...]]]] = [
        (0, lambda f, c: f.add(whole, n=c.out).out, []),
        (0.5, lambda f, _c: f.add(whole, n=1).out, []),
        (None, lambda f, _c: f.add(text, t="").out, []),
        ([], lambda f, _c: f.input("xs", list[str]), []),
        (True, lambda _f, _c: 1, [(place, "bool", "Literal[1]")]),
        ("a", lambda f, _c: f.add(whole, n=1).out, [(place, "str", "int")]),
    ]
    for first, next_value, problems in values:
        flow = Flow()
        with flow.loop(limit=2) as it:
            carry = it.carry(first)
            carry.next(next_value(flow, carry))
        assert found_of(flow.check()) == problems


def test_all_values_of_a_port_are_a_list_of_its_type() -> None:
    flow = Flow()
    with flow.loop(limit=2) as outer:
        carry = outer.carry(0)
        with flow.loop(limit=2) as inner:
            step = flow.add(text, t="")
        carry.next(carry.out)
    flow.add(total, numbers=outer.all(carry.out))
    flow.add(total, numbers=outer.all(step.out))
    flow.add(total, numbers=outer.result(inner.all(step.out)))
    flow.add(total, numbers=outer.all(inner.all(step.out)))
    assert found_of(flow.check()) == [
        ("DF0308 total_2.numbers", "list[int]", "list[str]"),
        ("DF0308 total_3.numbers", "list[int]", "list[str]"),
        ("DF0308 total_4.numbers", "list[int]", "list[list[str]]"),
    ]
