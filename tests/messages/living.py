# ruff: noqa: ARG005 - a row is a line, and messages are compared whole
# mypy: disable-error-code="call-overload"
"""What live sessions say (S13.4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from dataflow import Flow, node
from dataflow.live.session import Live
from tests.messages.telling import Row

__all__ = ["ROWS"]


async def inc(x: int) -> int:
    return x + 1


async def other(y: int) -> int:
    return y


async def doubled(x: int) -> int:
    return x * 2


async def added(x: int, more: int = 1) -> int:
    return x + more


def counting() -> Flow:
    with Flow("f") as f:
        once = f.add(inc, x=f.input("x", int, 1))
        with f.loop(name="rounds") as rounds:
            count = rounds.carry(once.out)
            twice = f.add(inc, x=count.out)
            rounds.until(twice.out, lambda x: x > 1)
            count.next(twice.out)
        f.output("y", rounds.result(twice.out))
        f.add(Flow.from_wiring(inner().wiring, inner()._find_type, inner()._find_function), x=once.out)
    return f


def inner(**defaults: int) -> Flow:
    with Flow("inside") as f:
        for name, default in defaults.items():
            f.input(name, int, default)
        f.output("z", f.add(inc, x=f.input("x", int)).out)
    return f


def in_session(
    do: Callable[[Live], Awaitable[Any]], make: Callable[[], Flow] = counting
) -> Callable[[], object]:
    async def run() -> object:
        async with make().live() as session:
            return await do(session)

    return lambda: anyio.run(run)


def after_session() -> object:
    async def run() -> object:
        async with counting().live() as session:
            pass
        return await session.get("y")

    return anyio.run(run)


def cutting(cutoff: Any) -> Callable[[], Flow]:
    def make() -> Flow:
        with Flow("f") as f:
            f.output("y", f.add(node(cutoff=cutoff)(inc), x=f.input("x", int, 1)).out)
        return f

    return make


async def _why_other_code(session: Live) -> object:
    await session.get("y")
    await session.replace("inc", doubled)
    return session.why("y")


# fmt: off
ROWS = [
    Row("a session that is over", after_session),
    Row("an update of no input", in_session(lambda s: s.update(z=1))),
    Row("a step of another flow", in_session(lambda s: s.replace(Flow("g").add(inc, x=1), inc))),
    Row("no node to replace", in_session(lambda s: s.replace(3, inc))),
    Row("a node that is not there, to replace", in_session(lambda s: s.replace("rounds/dec", inc))),
    Row("a loop to replace", in_session(lambda s: s.replace("rounds", inc))),
    Row("a node inside a flow to replace", in_session(lambda s: s.replace("inside/inc", inc))),
    Row("a function with one more port", in_session(lambda s: s.replace("inc", added))),
    Row("a flow with one more port", in_session(lambda s: s.replace("inside", inner(more=1)))),
    Row("a cutoff of one value", cutting(lambda value: True)),
    Row("a cutoff in a document", lambda: cutting(lambda old, new: True)().to_dict()),
    Row("why of what runs other code", in_session(_why_other_code)),
]
# fmt: on
