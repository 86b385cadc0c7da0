"""Flows that are forked, whose nodes note that they are called."""

from __future__ import annotations

from typing import Any, Final

from dataflow import Config, Flow, RunFailed, collect, each, node, this_firing
from dataflow.stores import Store

__all__ = [
    "CALLED",
    "Scale",
    "add",
    "asking",
    "fails",
    "in_blocks",
    "is_big",
    "listed",
    "note",
    "run_of",
    "scaled",
    "talking",
    "two_inputs",
    "up",
]

#: The paths of the firings that were called.
CALLED: Final[list[str]] = []


def note() -> None:
    CALLED.append(this_firing().path)


class Scale(Config):
    by: int = 1
    unit: str = "m"


async def up(x: int) -> int:
    note()
    return x + 1


async def add(x: int, y: int) -> int:
    note()
    return x + y


async def scaled(x: int, config: Scale = Scale()) -> int:  # noqa: B008 - frozen
    note()
    return x * config.by


async def listed(x: int) -> list[int]:
    note()
    return list(range(x))


async def fails(x: int) -> int:
    note()
    raise ValueError(f"bad {x}")


def is_big(x: int) -> bool:
    return x > 10


def two_inputs(store: Store) -> Flow:
    with Flow("two") as f:
        left, right = f.add(up, x=f.input("a", int)), f.add(up, x=f.input("b", int, 5))
        f.output("sum", f.add(add, x=left.out, y=right.out).out)
    return f.using(store=store)


async def run_of(flow: Flow, **inputs: Any) -> str:
    """Run a flow, however it ends; what was called until then is forgotten."""
    try:
        result = await flow.run(**inputs)
    except RunFailed as failed:
        result = failed.result
    CALLED.clear()
    return result.run_id


def asking(store: Store) -> Flow:
    with Flow("asking") as f:
        first = f.ask(int, "How many?", name="first")
        more = f.add(up, x=first.out)
        second = f.ask(int, "And now?", name="second", show=more.out)
        f.output("sum", f.add(add, x=more.out, y=second.out).out)
    return f.using(store=store)


def talking(store: Store) -> Flow:
    with Flow("talk") as f:
        with f.loop(name="talk", limit=3) as loop:
            total = loop.carry(0)
            said = f.ask(int, "?", name="said")
            sum_ = f.add(add, x=total.out, y=said.out)
            total.next(sum_.out)
            last = loop.result(sum_.out)
        f.output("sum", last)
    return f.using(store=store)


def in_blocks(store: Store) -> Flow:
    with Flow("inner") as inner:
        inner.output("o", inner.add(scaled, x=inner.input("x", int)).out)
    with Flow("blocks") as f:
        x = f.input("x", int)
        f.output("top", f.add(scaled, x=x).out)
        with f.loop(name="rounds", limit=2) as loop:
            carried = loop.carry(x)
            grown = f.add(node(scaled).with_(name="grow"), carried.out, Scale(by=2))
            carried.next(grown.out)
            f.output("looped", loop.result(grown.out))
        f.output("nested", f.add(inner, x=x).out.o)
        items = f.add(node(scaled).with_(name="item"), x=each(f.add(listed, x=x).out))
        f.output("mapped", collect(items.out))
    return f.using(store=store)
