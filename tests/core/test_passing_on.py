"""A result annotated with the type variable of one input passes that input on, with its type (S1.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from dataflow import Flow, each, merge
from tests.support.codes import codes

T = TypeVar("T")


async def passing(value: T, text: str = "") -> T:
    return value


async def annotated(value: Annotated[T, "as it is"]) -> Annotated[T, "as it was"]:
    return value


async def number() -> int:
    return 1


async def text() -> str:
    return ""


async def anything() -> Any:
    return 1


async def numbers() -> list[int]:
    return [1]


async def takes(text: str) -> str:
    return text


def test_its_type_is_that_of_the_source_of_the_input() -> None:
    cases: list[tuple[Callable[[Any], Any], str]] = [
        (lambda f: f.add(number).out, "int"),
        (lambda f: f.add(text).out, ""),
        (lambda f: f.add(anything).out, ""),
        (lambda _: 3, "Literal[3]"),
        (lambda _: "a", ""),
        (lambda f: each(f.add(numbers).out), "int"),
        (lambda f: merge(f.add(number).out, f.add(text).out), "int | str"),
    ]
    for source, found in cases:
        flow = Flow()
        flow.add(takes, text=flow.add(passing, value=source(flow)).out)
        problems = flow.check()
        assert codes(problems) == (["DF0308 takes.text"] if found else [])
        assert [one.found for one in problems] == ([found] if found else [])
