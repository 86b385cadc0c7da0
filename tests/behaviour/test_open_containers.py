"""Values out of containers that may hold anything are checked where they enter a typed port (S1.7)."""

from __future__ import annotations

import re
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


def test_a_container_may_hold_anything_or_not() -> None:
    open_ones: list[object] = [list, list[Any], dict[str, Any], Sequence[dict[str, list[Any]]]]
    open_ones += [list[T], list[Any] | None, tuple[Any, ...]]  # type: ignore[valid-type]  # of a signature
    closed: list[object] = [Mapping[str, int], list[str] | None, tuple[int, ...], str, int, Any]
    assert [one for one in open_ones if not holds_any(one)] == []
    assert [one for one in closed if holds_any(one)] == []


def test_the_default_of_a_node_has_the_type_that_passes_it() -> None:
    async def pass_on(value: T) -> T:
        return value

    flow = Flow("f")
    passing: Any = node(pass_on)
    flow.output("out", flow.add(passing.with_(default="text"), value=flow.input("x", int)).out)
    with pytest.raises(FlowInvalid, match=r"DF0601 pass_on\.policy\.default:"):
        flow.compile()
