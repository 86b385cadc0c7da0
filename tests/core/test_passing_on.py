"""A result annotated with the type variable of one input passes that input on, with its type (S1.3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

import pytest

from dataflow import Config, Flow, each, merge, node, threaded
from dataflow.core.nodetype import derive

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


@pytest.mark.parametrize(
    ("function", "source"),
    [
        (passing, "value"), (set_up, "value"), (bounded, "number"), (annotated, "value"), (awaited, "value"),
        (optional, None), (defaulted, None), (either, None), (last, None), (listed, None), (first, None),
        (same, None),
    ],
)  # fmt: skip
def test_the_result_passes_on_the_one_required_input_of_its_variable(
    function: Callable[..., Any], source: str | None
) -> None:
    assert derive(function).outputs["out"].same_as == source


def test_a_threaded_function_passes_on_as_well() -> None:
    @threaded
    def blocking(value: T) -> T:
        return value

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


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (lambda f: f.add(number).out, ["port 'takes.text' expects str, but passing.out is int"]),
        (lambda f: f.add(text).out, []),
        (lambda f: f.add(anything).out, []),
        (lambda _: 3, ["port 'takes.text' expects str, but passing.out is Literal[3]"]),
        (lambda _: "a", []),
        (lambda f: each(f.add(numbers).out), ["port 'takes.text' expects str, but passing.out is int"]),
        (
            lambda f: merge(f.add(number).out, f.add(text).out),
            ["port 'takes.text' expects str, but passing.out is int | str"],
        ),
    ],
    ids=range(7),
)
def test_its_type_is_that_of_what_is_wired_to_the_input(
    source: Callable[[Flow], Any], problem: list[str]
) -> None:
    flow = Flow()
    flow.add(takes, text=flow.add(passing, value=source(flow)).out)
    assert flow.check() == problem


async def test_the_value_comes_through() -> None:
    with Flow() as flow:
        flow.output("out", flow.add(node(passing), value=flow.input("given", list[int])).out)
    assert (await flow.run(given=[1]))["out"] == [1]
