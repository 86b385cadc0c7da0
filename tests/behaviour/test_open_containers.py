"""Values out of containers that may hold anything are checked where they enter a typed port (S1.7)."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import pytest

from dataflow import Flow, RunFailed

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


async def test_what_an_open_container_holds_is_checked() -> None:
    chains: list[tuple[Any, Any, object, object, str]] = [
        (anything, texts, ["a"], [1], "DF0601 texts.given[0]:"),
        (same, texts, ["a"], [1], "DF0601 texts.given[0]:"),
        (nested, scores, {"a": [1]}, {"a": ["b"]}, "DF0601 scores.given.a[0]:"),
    ]
    for first, second, right, wrong, problem in chains:
        flow = chain(first, second)
        assert (await flow.run(given=right))["count"] == 1
        with pytest.raises(RunFailed, match=re.escape(problem)):
            await flow.run(given=wrong)
