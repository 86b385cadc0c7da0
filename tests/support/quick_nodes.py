"""Nodes of all kinds, where they are in a plan, and maps over edges in flows of the builder."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NamedTuple, TypedDict, TypeVar

from dataflow import SKIP, Config, Failure, Flow, Lazy, Maybe, NodeOutput, Ports, Signal, node
from dataflow.builder.sources import Expression, literally
from dataflow.compiler.plan import LoopOf, MapOf, PlanNode, QuickCall, QuickEnd, ScopePlan
from dataflow.core.wiring import Every


class Set(Config):
    by: int = 1


class Pair(NamedTuple):
    a: int
    b: int


class Keys(TypedDict):
    a: int


class Adder:
    def __init__(self, by: int) -> None:
        self.by = by

    async def __call__(self, x: int) -> int:
        return x + self.by

    async def add(self, x: int) -> int:
        return x + self.by

    def add_plainly(self, x: int) -> Awaitable[int]:
        return self.add(x)


def awaiting(function: Callable[..., Any]) -> Any:
    @functools.wraps(function)
    async def awaits(*args: Any, **given: Any) -> Any:
        return await function(*args, **given)

    return awaits


async def one() -> int:
    return 1


async def inc(x: int) -> int:
    return x + 1


async def anything(x: Any) -> Any:
    return x


async def add(x: int, y: int) -> int:
    return x + y


async def defaulted(x: int, y: int = 2) -> int:
    return x + y


async def configured(config: Set, x: int) -> int:
    return x + config.by


async def by_keyword(*, x: int) -> int:
    return x


async def listed(*xs: int) -> int:
    return sum(xs)


async def listed_with(x: int, *xs: int) -> int:
    return x + sum(xs)


async def may(x: int) -> Maybe[int]:
    return x or SKIP


async def ordered(x: int, first: Signal) -> int:
    return x


async def told(failure: Failure | int) -> int:
    return 1


async def fields(x: int) -> Pair:
    return Pair(x, x)


async def keys(x: int) -> Keys:
    return {"a": x}


async def pieces(x: int) -> AsyncIterator[int]:
    yield x


async def several(x: list[int]) -> int:
    return sum(x)


@node(ports=lambda _: Ports({"x": int}, {"a": int, "b": int}))
async def ports(**inputs: Any) -> dict[str, Any]:
    return {"a": 1, "b": 2}


@node(ports=lambda _: Ports({"x": int}, {"a": int}))
async def raw(inputs: dict[str, Any], context: Any) -> NodeOutput:
    return NodeOutput(outputs={"a": 1})


def plain(x: int) -> int:
    return x


async def pair(x: Any, y: Any) -> list[Any]:
    return [x, y]


async def lazily(x: int, extra: Lazy[int] = 2) -> int:
    return x + extra


async def is_big(x: int) -> bool:
    return x > 1


with Flow("nested") as nested:
    nested.output("out", nested.add(inc, x=nested.input("x", int)).out)


def plan_of(wire: Callable[[Flow], object]) -> ScopePlan:
    flow = Flow()
    with flow:
        wire(flow)
    return flow.compile().root


def body_of(plan: ScopePlan) -> ScopePlan:
    (body,) = [node.action.body for node in plan.nodes if isinstance(node.action, LoopOf | MapOf)]
    return body


def node_in(plan: ScopePlan, id: str) -> PlanNode:
    return next(node for node in plan.nodes if node.id == id)


def quick_of(plan: ScopePlan, id: str) -> QuickCall:
    quick = plan.quick[node_in(plan, id).index]
    assert quick is not None
    return quick


def end_of(plan: ScopePlan, id: str) -> QuickEnd:
    end = plan.ends[node_in(plan, id).index]
    assert end is not None
    return end


def calls_of(plan: ScopePlan, id: str) -> list[str] | None:
    """Name the calls that are given a node's value without more ado, None if others hear of it."""
    calls = plan.calls[node_in(plan, id).outputs["out"]]
    return None if calls is None else [plan.nodes[index].id for index in calls]


T = TypeVar("T")


def every(*ports: T) -> T:
    """Open a map over edges: what reads it runs once for each that brings a value (S7.4)."""
    item: Any = Expression("every", tuple(map(literally, ports)), Every)
    found: T = item
    return found
