"""Values out of containers that may hold anything are checked where they enter a typed port (S1.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import pytest

from dataflow import Flow, FlowInvalid, RunFailed, node
from dataflow.types.agreement import holds_any

T = TypeVar("T")


async def texts(given: list[str]) -> int:
    return len(given)


async def scores(given: dict[str, list[int]]) -> int:
    return len(given)


async def anything(given: Any) -> list[Any]:
    return list(given)


async def same(given: list[T]) -> list[T]:
    return given


async def nested(given: Any) -> dict[str, list[Any]]:
    return dict(given)


def chain(first: Any, second: Any) -> Flow:
    with Flow("chain") as flow:
        step = flow.add(first, given=flow.input("given", Any))
        flow.output("count", flow.add(second, given=step.out).out)
    return flow


@pytest.mark.parametrize(
    ("first", "second", "right", "wrong", "told"),
    [
        (anything, texts, ["a"], [1], "expected str, found int 1"),
        (same, texts, ["a"], [1], "expected str, found int 1"),
        (nested, scores, {"a": [1]}, {"a": ["b"]}, "expected int, found str 'b'"),
    ],
)
async def test_what_an_open_container_holds_is_checked(
    first: Any, second: Any, right: object, wrong: object, told: str
) -> None:
    flow = chain(first, second)
    assert (await flow.run(given=right))["count"] == 1
    with pytest.raises(RunFailed) as caught:
        await flow.run(given=wrong)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("annotation", "holds"),
    [
        (list, True),
        (list[Any], True),
        (list[T], True),  # type: ignore[valid-type]  # what a signature may hold
        (dict[str, Any], True),
        (Sequence[dict[str, list[Any]]], True),
        (Mapping[str, int], False),
        (list[str] | None, False),
        (list[Any] | None, True),
        (tuple[int, ...], False),
        (tuple[Any, ...], True),
        (str, False),
        (int, False),
        (Any, False),
    ],
)
def test_a_container_may_hold_anything_or_not(annotation: object, holds: bool) -> None:
    assert holds_any(annotation) is holds


def test_the_default_of_a_node_has_the_type_that_passes_it() -> None:
    async def pass_on(value: T) -> T:
        return value

    flow = Flow("f")
    passing: Any = node(pass_on)
    flow.output("out", flow.add(passing.with_(default="text"), value=flow.input("x", int)).out)
    with pytest.raises(FlowInvalid, match=r"DF0601 pass_on\.policy\.default:"):
        flow.compile()
