"""A loop in a thread that listens on the loopback, so that it serves whatever loop the tests run on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

#: Serves one connection.
Serve: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextmanager
def listening(serve: Serve) -> Iterator[int]:
    """Serve connections while the block runs; gives the port, which is free."""
    ready, ports = threading.Event(), []
    loop = asyncio.new_event_loop()

    async def main() -> None:
        found = await asyncio.start_server(serve, "127.0.0.1", 0)
        ports.append(found.sockets[0].getsockname()[1])
        ready.set()
        async with found:
            await over.wait()

    over = asyncio.Event()

    def work() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(main())

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait()
    try:
        yield ports[0]
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
