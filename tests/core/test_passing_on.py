"""A result annotated with the type variable of one input passes that input on, with its type (S1.3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

from dataflow import Config, Flow, each, merge, threaded
from dataflow.core.nodetype import derive
from tests.support.codes import codes

T = TypeVar("T")
Number = TypeVar("Number", bound=float)


class Settings(Config):
    seconds: int = 1


async def passing(value: T, text: str = "") -> T:
    return value


async def set_up(config: Settings, value: T) -> T:
    return value


async def bounded(number: Number) -> Number:
    return number


async def annotated(value: Annotated[T, "as it is"]) -> Annotated[T, "as it was"]:
    return value


def awaited(value: T) -> Awaitable[T]:
    return passing(value)


async def optional(value: T | None = None) -> T | None:
    return value


async def defaulted(value: T = None) -> T:  # type: ignore[assignment]  # which T, nobody says
    return value


async def either(left: T, right: T) -> T:
    return left


async def last(*values: T) -> T:
    return values[-1]


async def listed(values: list[T]) -> list[T]:
    return values


async def first(values: list[T]) -> T:
    return values[0]


async def same(number: int) -> int:
    return number


def test_the_result_passes_on_the_one_required_input_of_its_variable() -> None:
    @threaded
    def blocking(value: T) -> T:
        return value

    sources: dict[Callable[..., Any], str | None] = {
        passing: "value",
        set_up: "value",
        bounded: "number",
        annotated: "value",
        awaited: "value",
        **dict.fromkeys((optional, defaulted, either, last, listed, first, same)),
    }
    assert {function: derive(function).outputs["out"].same_as for function in sources} == sources
    assert blocking.type.outputs["out"].same_as == "value"


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
