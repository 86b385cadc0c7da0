"""What tests of live sessions share: a gate where calls wait, and who asks meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.lowlevel import checkpoint

from dataflow import Flow
from dataflow.live.session import Live

__all__ = ["Gate", "asking", "one_node", "told", "turns"]


@dataclass
class Gate:
    """Where calls wait until they are let through; `closed` says which inputs have to."""

    closed: Callable[[Any], bool] = lambda _: True
    calls: list[Any] = field(default_factory=list)
    ended: list[Any] = field(default_factory=list)
    _begun: anyio.Event = field(default_factory=anyio.Event)
    _opened: anyio.Event = field(default_factory=anyio.Event)

    async def passed(self, value: Any) -> None:
        self.calls.append(value)
        self._begun.set()
        if self.closed(value):
            await self._opened.wait()
        self.ended.append(value)

    async def reached(self) -> None:
        await self._begun.wait()
        self._begun = anyio.Event()

    def open(self) -> None:
        self._opened.set()


def one_node(function: Any) -> Flow:
    with Flow("f") as flow:
        flow.output("y", flow.add(function, x=flow.input("x", int)).out)
    return flow


async def told(asked: Awaitable[Any]) -> Any:
    try:
        return await asked
    except Exception as error:  # noqa: BLE001 - it is what the test looks at
        return f"{type(error).__name__}: {error}"


@asynccontextmanager
async def asking(session: Live, *ports: str) -> AsyncIterator[list[Any]]:
    """Ask for some ports while the block runs; gives what each got, in the order in which it came."""
    got: list[Any] = []

    async def ask(port: str) -> None:
        got.append(await told(session.get(port)))

    async with anyio.create_task_group() as group:
        for port in ports:
            group.start_soon(ask, port)
        yield got


async def turns(count: int = 10) -> None:
    for _ in range(count):
        await checkpoint()
