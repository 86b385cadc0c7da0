"""How the prototype runs: a worker fires what is ready in place; when a node suspends, more of them start."""

from __future__ import annotations

import math
import types
from asyncio import TaskGroup
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final, NamedTuple

__all__ = ["ROUTED", "SEVERAL", "Function", "Plan", "Planned", "Route"]

Function = Callable[..., Awaitable[Any]]
Trace = Callable[[str, int], None]

#: How many nodes a worker fires before it lets the event loop turn once.
SLICE: Final = 1_000
TURN: Final = object()
#: The kinds of planned nodes: how they take their arguments. With ROUTED added they choose their readers.
NOTHING, ONE, SEVERAL, ROUTED = range(4)

#: A node as a run reads it: its kind, its function, what it takes (a slot, or what gets the values of several
#: slots), the slot of its output and the nodes that read that. A plain tuple unpacks the fastest.
Planned = tuple[int, Function, Any, int, tuple[int, ...]]


class Route(NamedTuple):
    """What happens when an output port has a value: where it is put, and whom it feeds."""

    port: str
    slots: tuple[int, ...]
    readers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A graph as runs read it."""

    nodes: list[Planned]
    needs: list[int]
    routes: dict[int, list[Route]]
    slot_count: int
    slots: dict[str, int]
    sources: list[int]

    async def run(self, *, limit: float = math.inf, trace: Trace | None = None) -> Run:
        """Run it and return the run, which has the values; `limit` bounds the workers."""
        run = Run(self, limit, trace)
        await run.go()
        return run


class Run:
    """One run: a value a slot, what each node still waits for, what is ready, and the workers."""

    __slots__ = ("active", "group", "limit", "needs", "plan", "ready", "starting", "trace", "values")

    def __init__(self, plan: Plan, limit: float, trace: Trace | None) -> None:
        self.plan = plan
        self.limit = limit
        self.trace = trace
        self.values: list[Any] = [None] * plan.slot_count
        self.needs = plan.needs.copy()
        self.ready = deque(plan.sources)
        self.starting = 0  # workers that have not taken a node yet
        self.active = 1
        self.group = TaskGroup()

    def __getitem__(self, port: str) -> Any:
        """Return the value of an output port."""
        return self.values[self.plan.slots[port]]

    async def go(self) -> None:
        """Run to the end. Cancel whoever awaits this to cancel the run."""
        async with self.group:
            await self.watched(self.work())

    async def another(self) -> None:
        """Be one more worker."""
        self.starting -= 1
        await self.watched(self.work())

    @types.coroutine
    def watched(self, worker: Coroutine[Any, Any, None]) -> Generator[Any, Any, None]:
        """Drive a worker, and see when it suspends: only then can other nodes need more workers."""
        try:
            request = worker.send(None)
            while True:
                if request is TURN:
                    request = None
                elif self.ready:
                    self.spawn()
                try:
                    answer = yield request
                except BaseException as error:  # noqa: BLE001 - it is the worker's
                    request = worker.throw(error)
                else:
                    request = worker.send(answer)
        except StopIteration:
            self.active -= 1

    def spawn(self) -> None:
        """Start up to two workers: each does so, thus their number doubles with each turn of the loop."""
        room = min(2, len(self.ready) - self.starting, self.limit - self.active)
        for _ in range(int(room)):
            self.starting += 1
            self.active += 1
            self.group.create_task(self.another())

    async def work(self) -> None:  # noqa: C901 - a call for each part would cost as much as the part
        """Fire what is ready, one node after the other, until nothing is."""
        nodes, values, ready, trace = self.plan.nodes, self.values, self.ready, self.trace
        needs, full = self.needs, self.plan.needs
        node = ready.popleft() if ready else None
        while True:
            for _ in repeat(None, SLICE):
                if node is None:
                    return
                kind, function, take, slot, readers = nodes[node]
                if trace is not None:
                    trace("start", node)
                if kind == ONE:
                    values[slot] = await function(values[take])
                elif kind == SEVERAL:
                    values[slot] = await function(*take(values))
                elif kind == NOTHING:
                    values[slot] = await function()
                else:
                    readers = await self.routed(nodes[node])
                if trace is not None:
                    trace("end", node)
                node = None
                for reader in readers:
                    if left := needs[reader] - 1:
                        needs[reader] = left
                        continue
                    needs[reader] = full[reader]  # for its next round
                    if node is None:
                        node = reader  # the first goes on in place
                    else:
                        ready.append(reader)
                if node is None and ready:
                    node = ready.popleft()
            await _turn()

    async def routed(self, planned: Planned) -> tuple[int, ...]:
        """Fire a node that chooses its readers, and return them: a port that it leaves out feeds nobody."""
        kind, function, take, own, _ = planned
        if kind == ROUTED + NOTHING:
            result = await function()
        elif kind == ROUTED + ONE:
            result = await function(self.values[take])
        else:
            result = await function(*take(self.values))
        fed: tuple[int, ...] = ()
        for port, slots, readers in self.plan.routes[own]:
            if not port or port in result:
                for slot in slots:
                    self.values[slot] = result[port] if port else result
                fed += readers
        return fed


@types.coroutine
def _turn() -> Generator[Any, Any, None]:
    yield TURN
