"""F-I11: nodes of a live session fire in the context of the call that demands or changes something."""

from __future__ import annotations

import asyncio
import logging
from contextvars import ContextVar, copy_context
from typing import Any

import anyio
import pytest

from dataflow import Flow, collect, each, gather, node, threaded

CELL: ContextVar[str] = ContextVar("cell", default="none")


async def quick(x: int) -> int:
    SEEN.append(("quick", CELL.get()))
    return x


async def slow(x: int) -> int:
    await anyio.sleep(0.001)
    SEEN.append(("slow", CELL.get()))
    return x


@threaded
def blocking(x: int) -> int:
    SEEN.append(("blocking", CELL.get()))
    return x


async def logs(x: int) -> int:
    logging.getLogger("dataflow.test").warning("x")
    return x


SEEN: list[tuple[str, str]] = []


def flow_of() -> Flow:
    with Flow("f") as flow:
        x = flow.input("x", int)
        functions: dict[str, Any] = {"quick": quick, "slow": slow, "blocking": blocking, "logs": logs}
        for name, function in functions.items():
            flow.output(name, flow.add(function, x=x).out)
        flow.output("again", flow.add(node(slow).with_(name="again", retries=1), x=x).out)
        flow.output("items", collect(flow.add(quick, x=each(gather(x, x))).out))
    return flow


async def in_cell(name: str, work: Any, *given: Any, **named: Any) -> Any:
    """Await a call as a cell of a notebook does: in a task with a context of its own."""
    context = copy_context()
    context.run(CELL.set, name)
    return await asyncio.create_task(work(*given, **named), context=context)


class Handler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        SEEN.append(("logs", CELL.get()))


@pytest.fixture(autouse=True)
def handled() -> Any:
    SEEN.clear()
    logger, handler = logging.getLogger("dataflow.test"), Handler()
    logger.addHandler(handler)
    yield
    logger.removeHandler(handler)


async def test_each_call_has_what_it_demands_in_its_own_context() -> None:
    opened = flow_of().live(x=1)
    session = await in_cell("opens", opened.__aenter__)
    names = list(flow_of().compile().outputs)
    await in_cell("gets", session.get, *names)
    assert {cell for _, cell in SEEN} == {"gets"}
    assert {name for name, _ in SEEN} == {"quick", "slow", "blocking", "logs"}
    SEEN.clear()

    async def updates() -> None:
        await session.update(x=2)
        await session.get(*names)

    await in_cell("updates", updates)
    assert {cell for _, cell in SEEN} == {"updates"}
    SEEN.clear()

    async def other(x: int) -> int:
        SEEN.append(("other", CELL.get()))
        return x

    await in_cell("replaces", session.replace, "quick", other)
    await in_cell("gets again", session.get, "quick")
    assert SEEN == [("other", "gets again")]
    await in_cell("closes", opened.__aexit__, None, None, None)


async def test_what_opens_the_session_counts_until_something_else_calls() -> None:
    CELL.set("block")
    async with flow_of().live(x=1) as session:
        await session.get("quick", "slow")
        assert {cell for _, cell in SEEN} == {"block"}
        CELL.set("later")
        SEEN.clear()
        await session.update(x=2)
        await session.get("quick", "slow")
    assert {cell for _, cell in SEEN} == {"later"}


async def test_an_answer_goes_on_in_its_context() -> None:
    with Flow("f") as flow:
        flow.output("o", flow.add(quick, x=flow.ask(int, "?", name="ask").out).out)
    async with flow.live() as session:
        reading = asyncio.create_task(in_cell("reads", _first, session))
        while not session.asks:
            await anyio.lowlevel.checkpoint()
        await in_cell("answers", session.answer, {"ask": 1})
        assert await reading == 1
    assert SEEN == [("quick", "answers")]


async def _first(session: Any) -> Any:
    async for value in session.watch("o"):
        return value
    raise AssertionError("the session is over")
