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

from dataflow import Flow, Result
from dataflow.core.inputs import Ask
from dataflow.errors import RunTaken
from dataflow.stores import Answer, Batch
from dataflow.stores.sqlite import SqliteStore
from tests.properties.node_functions import answer_to, recording

__all__ = ["Order"]


@dataclass(frozen=True)
class Order:
    """What a fork does: run a flow in a store, or go on with a run, answer it until it has ended, and reply.

    With `changes` the run is forked with them, and it is the other run that it goes on with.

    Without `answers` it answers what `answer_to` says, and leaves what expires. One that `pauses` gives its
    answers when it goes on, and stops when the run pauses.

    It dies at the record `at`, or the first of a `kind`: right `before` that is committed, or right after. Or
    it is killed after some seconds. `gate` is a pipe that it waits at until somebody opens and closes it.
    """

    flow: str  # the function that makes it, as module:name, which gets the seed
    store: str
    reply: str  # the file for what it has come to
    answers: Mapping[str, Any] | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    run: str = ""
    changes: Mapping[str, Any] | None = None
    at: int = 0
    kind: str = ""
    before: bool = False
    seconds: float | None = None
    gate: str = ""
    pauses: bool = False
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
    """Run a flow, or go on with a run, to its end."""
    given = order.answers if order.pauses else None
    try:
        if order.changes is not None:
            result = await flow.fork(order.run, changes=order.changes)
        else:
            result = await (flow.resume(order.run, given) if order.run else flow.run(**order.inputs))
        while result.status == "paused" and not order.pauses:
            result = await flow.resume(
                result.run_id, {ask.id: _answer(ask, order) for ask in _asked(result, order)}
            )
    except RunTaken as taken:
        return {"taken": str(taken)}
    outputs = {name: repr(value) for name, value in result.outputs.items()}
    return {"run": result.run_id, "status": result.status, "outputs": outputs}


def _asked(result: Result, order: Order) -> list[Ask]:
    return [ask for ask in result.asks if order.answers is not None or ask.expires is None]


def _answer(ask: Ask, order: Order) -> object:
    return answer_to(ask.id) if order.answers is None else order.answers[ask.id]


def obey(order: Order, made: Flow) -> None:
    """Be the fork."""
    store = Mortal(order.store)
    store.order = order
    os.environ["CALLS"] = order.calls
    if order.gate:
        Path(order.gate).read_bytes()
    with recording():
        reply = anyio.run(execute, made.using(store=store), order)
    Path(order.reply).write_text(json.dumps(reply))


def main() -> None:
    """Fork for each order that comes, one a line, and tell with what the fork has ended."""
    flows: dict[tuple[str, int], Flow] = {}
    for line in sys.stdin:
        order = Order(**json.loads(line))
        key = order.flow, order.seed
        if key not in flows:
            module, _, name = order.flow.partition(":")
            flows[key] = getattr(import_module(module), name)(order.seed)
        child = os.fork()
        if not child:
            code = 1
            try:
                obey(order, flows[key])
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
