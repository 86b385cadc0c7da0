"""The types of what a loop carries, tests and gives (S6.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dataflow import Flow


async def whole(n: int) -> int:
    return n


async def text(t: str) -> str:
    return t


async def wholes(ns: list[int]) -> int:
    return sum(ns)


async def anything(x: Any = None) -> Any:
    return x


@pytest.mark.parametrize(
    ("source", "problems"),
    [
        (
            lambda _flow, carry: carry.out,
            ["the test of loop 'loop' reads $carry.carry, which is int; expected bool"],
        ),
        (lambda flow, carry: flow.add(anything, x=carry.out).out, []),
        (lambda flow, carry: flow.add(is_big, n=carry.out).out, []),
    ],
)
def test_a_test_without_a_function_must_be_a_bool(
    source: Callable[[Flow, Any], Any], problems: list[str]
) -> None:
    flow = Flow()
    with flow.loop(limit=2) as it:
        carry = it.carry(0)
        it.until(source(flow, carry), None)  # type: ignore[arg-type]  # as documents may
        carry.next(carry.out)
    assert flow.check() == problems


async def is_big(n: int) -> bool:
    return n > 3


NEXT = "next value of '$carry.carry' of loop 'loop'"


@pytest.mark.parametrize(
    ("first", "next_value", "problems"),
    [
        (0, lambda f, c: f.add(whole, n=c.out).out, []),
        (0.5, lambda f, _c: f.add(whole, n=1).out, []),
        (None, lambda f, _c: f.add(text, t="").out, []),
        ([], lambda f, _c: f.input("xs", list[str]), []),
        (True, lambda _f, _c: 1, [f"{NEXT} is Literal[1], but the port began as bool"]),
        ("a", lambda f, _c: f.add(whole, n=1).out, [f"{NEXT} is int, but the port began as str"]),
    ],
)
def test_a_next_value_has_the_type_that_the_port_began_with(
    first: Any, next_value: Callable[[Flow, Any], Any], problems: list[str]
) -> None:
    flow = Flow()
    with flow.loop(limit=2) as it:
        carry = it.carry(first)
        carry.next(next_value(flow, carry))
    assert flow.check() == problems


def test_what_leaves_a_loop_keeps_its_type() -> None:
    flow = Flow()
    with flow.loop(limit=2) as it:
        carry = it.carry(0)
        step = flow.add(text, t="")
        carry.next(carry.out)
    flow.add(text, t=carry.final)  # type: ignore[arg-type]
    flow.add(whole, n=step.out)  # type: ignore[arg-type]
    assert flow.check() == [
        "port 'text_2.t' expects str, but loop.carry is int",
        "port 'whole.n' expects int, but loop.text is str",
    ]


def test_all_of_a_port_is_a_list_of_its_type() -> None:
    flow = Flow()
    with flow.loop(limit=2) as outer:
        carry = outer.carry(0)
        with flow.loop(limit=2) as inner:
            step = flow.add(text, t="")
        carry.next(carry.out)
    flow.add(wholes, ns=outer.all(carry.out))
    flow.add(wholes, ns=outer.all(step.out))  # type: ignore[arg-type]
    flow.add(wholes, ns=outer.result(inner.all(step.out)))  # type: ignore[arg-type]
    flow.add(wholes, ns=outer.all(inner.all(step.out)))  # type: ignore[arg-type]
    assert flow.check() == [
        "port 'wholes_2.ns' expects list[int], but loop.loop_2_text_all is list[str]",
        "port 'wholes_3.ns' expects list[int], but loop.loop_2_text_all_2 is list[str]",
        "port 'wholes_4.ns' expects list[int], but loop.loop_2_text_all_all is list[list[str]]",
    ]
