# ruff: noqa: ARG005, E501 - a row is a line, and messages are compared whole
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


async def breaks(x: int) -> int:
    raise ValueError("no paper")


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


async def _twice(session: Live) -> object:
    await session.get("y")
    await session.update(x=5)
    return await session.get("y")


async def _why(session: Live) -> object:
    await session.get("y")
    await session.update(x=5)
    return session.why("y")


async def _why_other_code(session: Live) -> object:
    await session.get("y")
    await session.replace("inc", doubled)
    return session.why("y")


def broken() -> Flow:
    with Flow("f") as f:
        f.output("y", f.add(breaks, x=f.input("x", int, 1)).out)
    return f


# fmt: off
ROWS = [
    Row("a session that is over", after_session, "the live session of flow 'f' is over: its block has been left"),
    Row("an update of no input", in_session(lambda s: s.update(z=1))),
    Row("an update of another type", in_session(lambda s: s.update(x="1")), "input 'x': expected int, found str '1'"),
    Row("a failure in a session", in_session(lambda s: s.get("y"), broken), "no paper"),
    Row("a step of another flow", in_session(lambda s: s.replace(Flow("g").add(inc, x=1), inc)), "the step belongs to flow 'g', not to 'f'"),
    Row("no node to replace", in_session(lambda s: s.replace(3, inc)), "expected a step or the address of a node, found int"),
    Row("a node that is not there, to replace", in_session(lambda s: s.replace("rounds/dec", inc)), "the flow has no node 'rounds/dec'; choices: inc_2"),
    Row("a node of one round to replace", in_session(lambda s: s.replace("rounds[0]", inc)), "the flow has no node 'rounds[0]'; choices: inc, rounds, inside"),
    Row("a loop to replace", in_session(lambda s: s.replace("rounds", inc)), "'rounds' is a loop or a map, which runs no function; replace a node inside it"),
    Row("a node inside a flow to replace", in_session(lambda s: s.replace("inside/inc", inc)), "'inside/inc' is inside node 'inside', which is no block: replace that node"),
    Row("a function with another port", in_session(lambda s: s.replace("inc", other))),
    Row("a function with one more port", in_session(lambda s: s.replace("inc", added)), "node 'inc': what replaces its function has to take and give the same ports, with the same defaults; expected x -> out, found x, more -> out"),
    Row("a flow with one more port", in_session(lambda s: s.replace("inside", inner(more=1))), "node 'inside': what replaces its function has to take and give the same ports, with the same defaults; expected x -> z, found more, x -> z"),
    Row("a cutoff that is no function", lambda: node(cutoff=3)(inc)),
    Row("a cutoff of one value", cutting(lambda value: True)),
    Row("a cutoff without an answer", in_session(_twice, cutting(lambda old, new: None))),
    Row("a cutoff in a document", lambda: cutting(lambda old, new: True)().to_dict(), "node 'inc', policy: `cutoff` has no document form"),
    Row("why of what runs other code", in_session(_why_other_code), "output 'y' is stale, and nobody has asked for it since\n  because inc runs other code since revision 2"),
    Row("why of what is stale", in_session(_why), "output 'y' is stale, and nobody has asked for it since\n  because input 'x' changed in revision 2"),
]
# fmt: on
