"""Has runs executed by processes that are forked for it, and may be killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from tests.durable.serving import Order

__all__ = ["Forks", "forks", "order_in"]


def order_in(folder: Path, flow: str, **more: Any) -> Order:
    store, reply, calls = (str(folder / name) for name in ("store", "reply", "calls"))
    return Order(flow, store, reply, calls=calls, **more)


class Forks:
    """The process that forks, as its parent sees it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._orders: IO[str] = process.stdin
        self.replies: IO[str] = process.stdout

    def begin(self, order: Order) -> None:
        Path(order.reply).unlink(missing_ok=True)
        self._orders.write(f"{json.dumps(asdict(order))}\n")
        self._orders.flush()

    def end(self, order: Order) -> dict[str, Any] | None:
        """Return what a fork has come to; None if it was killed."""
        code = int(self.replies.readline())
        if code == -9:
            return None
        assert not code
        reply: dict[str, Any] = json.loads(Path(order.reply).read_text())
        return reply

    def obey(self, order: Order) -> dict[str, Any] | None:
        self.begin(order)
        return self.end(order)


@contextmanager
def forks() -> Iterator[Forks]:
    command = [sys.executable, "-m", "tests.durable.serving"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Forks(process)
        finally:
            process.kill()
