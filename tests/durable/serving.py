"""A process that executes runs in forks of itself, each of which may be killed at a moment that is told.

It is started once, so that no run waits for an interpreter to start. It has no threads and no open files when
it forks: it executes nothing itself.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio

from dataflow import Flow
from dataflow.stores import Answer, Batch
from dataflow.stores.sqlite import SqliteStore

__all__ = ["Order"]


@dataclass(frozen=True)
class Order:
    """What a fork does: run a flow in a store, or go on with a run, answer it until it has ended, and reply.

    With `changes` the run is forked with them, and it is the other run that it goes on with.

    It dies at the record `at`, or the first of a `kind`: right `before` that is committed, or right after. Or
    it is killed after some seconds.
    """

    flow: str  # the function that makes it, as module:name
    store: str
    reply: str  # the file for what it has come to
    answers: Mapping[str, Any] = field(default_factory=dict)
    run: str = ""
    changes: Mapping[str, Any] | None = None
    at: int = 0
    kind: str = ""
    before: bool = False
    seconds: float | None = None
    calls: str = ""  # the file that nodes write to


class Mortal(SqliteStore):
    """A store whose process dies at a record. It commits one record at a time, as a store may."""

    order: Order

    def commit(self, run: str, batch: Batch, *, unless_answered: bool = False) -> Sequence[Answer]:
        order = self.order
        if not order.at and not order.kind:
            return super().commit(run, batch, unless_answered=unless_answered)
        answers: Sequence[Answer] = ()
        for one in _parts(batch, is_fork=order.changes is not None):
            is_last = any(record.seq == order.at or record.kind == order.kind for record in one.records)
            if is_last and order.before:
                die()
            answers = super().commit(run, one, unless_answered=unless_answered)
            if is_last:
                die()
        return answers


def _parts(batch: Batch, *, is_fork: bool) -> Iterator[Batch]:
    """Part a batch into its records, but for the first of a fork, which is written whole or not at all."""
    if is_fork and batch.records and batch.records[0].kind == "run_started":
        yield batch
        return
    for record in batch.records:
        status = batch.status if record is batch.records[-1] else None
        yield Batch([record], batch.blobs, status, [ask for ask in batch.taken if ask == record.path])


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def execute(flow: Flow, order: Order) -> dict[str, Any]:
    if order.changes is not None:
        result = await flow.fork(order.run, changes=order.changes)
    else:
        result = await (flow.resume(order.run) if order.run else flow.run())
    while result.status == "paused":
        result = await flow.resume(result.run_id, {ask.id: order.answers[ask.id] for ask in result.asks})
    outputs = {name: repr(value) for name, value in result.outputs.items()}
    return {"run": result.run_id, "status": result.status, "outputs": outputs}


def obey(order: Order, made: Flow) -> None:
    store = Mortal(order.store)
    store.order = order
    os.environ["CALLS"] = order.calls
    reply = anyio.run(execute, made.using(store=store), order)
    Path(order.reply).write_text(json.dumps(reply))


def main() -> None:
    """Fork for each order that comes, one a line, and tell with what the fork has ended."""
    flows: dict[str, Flow] = {}
    for line in sys.stdin:
        order = Order(**json.loads(line))
        if order.flow not in flows:
            module, _, name = order.flow.partition(":")
            flows[order.flow] = getattr(import_module(module), name)()
        child = os.fork()
        if not child:
            code = 1
            try:
                obey(order, flows[order.flow])
                code = 0
            finally:
                os._exit(code)
        if order.seconds is not None:
            time.sleep(order.seconds)
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201 - that is its answer


if __name__ == "__main__":
    main()
