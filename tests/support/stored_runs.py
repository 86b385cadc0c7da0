"""Flows that ask, and stores that are slow or fail, for the tests of runs that live in stores."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import anyio

from dataflow import Flow, Node, NodeOutput, Port, Ports, node
from dataflow.stores import Answer, Batch, Hold, Record, Store, StoredRun
from dataflow.stores.memory import MemoryStore
from dataflow.stores.store import NOTHING

PROMPT = "how many?"


def asking(type: object = int, name: str = "ask", **told: Any) -> Node[..., Any]:
    async def ask(inputs: dict[str, Any]) -> NodeOutput:
        shown = {"show": inputs["show"]} if inputs["show"] is not None else {}
        return NodeOutput(status="paused", metadata={"ask": {"prompt": PROMPT, **shown, **told}})

    ports = Ports({"show": Port(Any, default=None)}, {"out": Port(type)})
    return node(name=name, ports=lambda _: ports)(ask)


one_ask = asking()


async def number(begun: bool) -> int:
    assert begun
    return 20


async def add(a: int, b: int) -> int:
    return a + b


def asking_flow(store: Store | None = None) -> Flow:
    """Wire a number and an answer to their sum; both wait for the first batch, if the store tells of it."""

    async def wait() -> bool:
        if isinstance(store, Writes):
            await until(store.has_tried)
        return True

    with Flow("asking") as f:
        begun = f.add(wait).out
        f.output("o", f.add(add, a=f.add(number, begun=begun).out, b=f.add(one_ask, show=begun).out).out)
    return f if store is None else f.using(store=store)


class Writes(MemoryStore):
    """A store that calls back before each batch is written, in the thread that writes it."""

    def __init__(self, before: Callable[[Batch], object] = lambda _batch: None) -> None:
        super().__init__()
        self.before = before
        self.has_tried = threading.Event()  # to write a batch

    def commit(self, run: str, batch: Batch, *, unless_answered: bool = False) -> Sequence[Answer]:
        try:
            self.before(batch)
            return super().commit(run, batch, unless_answered=unless_answered)
        finally:
            self.has_tried.set()


def failing_with(error: BaseException, kind: str) -> Callable[[Batch], None]:
    def before(batch: Batch) -> None:
        if any(record.kind == kind for record in batch.records):
            raise error

    return before


class Gated(MemoryStore):
    """A store whose calls wait until a gate is opened: those that begin, own or write, by name."""

    def __init__(self, *calls: str, kind: str | None = None) -> None:
        super().__init__()
        self.calls = calls
        self.kind = kind  # of the record with which a batch waits, any if there is none
        self.gate = threading.Event()
        self.entered = threading.Event()  # somebody waits

    def _wait(self, call: str) -> None:
        if call in self.calls and not self.gate.is_set():
            self.entered.set()
            assert self.gate.wait(30), "the gate was opened"

    def begin(self, run: StoredRun, batch: Batch = NOTHING) -> Hold:
        self._wait("begin")
        return super().begin(run, batch)

    def hold(self, run: str) -> Hold:
        self._wait("hold")
        return super().hold(run)

    def commit(self, run: str, batch: Batch, *, unless_answered: bool = False) -> Sequence[Answer]:
        if self.kind is None or any(record.kind == self.kind for record in batch.records):
            self._wait("commit")
        return super().commit(run, batch, unless_answered=unless_answered)


async def until(happened: threading.Event) -> None:
    assert await anyio.to_thread.run_sync(happened.wait, 30)


def kinds_of(store: Store, run: str) -> list[str]:
    return [record.kind for record in store.records(run)]


def retold(store: Store, run: str, change: Callable[[Record], Record | None]) -> MemoryStore:
    """Return a store with a run as another journal would tell it; None leaves a record out."""
    changed = [change(record) for record in store.records(run)]
    other = MemoryStore()
    hold = other.begin(store.find(run))
    other.commit(run, Batch([record for record in changed if record is not None]))
    hold.release()
    return other


def earlier(seconds: float) -> Callable[[Record], Record]:
    def change(record: Record) -> Record:
        data = json.loads(record.data)
        time = datetime.fromisoformat(data["time"]) - timedelta(seconds=seconds)
        return replace(record, data=json.dumps({**data, "time": time.isoformat()}))

    return change
