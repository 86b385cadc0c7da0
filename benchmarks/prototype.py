"""A prototype of the engine's heart: named ports and types are looked up once, a run sees only numbers.

It has no contexts, maps, skips, states, failures or cancellation of single nodes, and runs on asyncio only. A
run has a slot for each output port. A worker fires what is ready in place; only when a node really suspends,
and others are ready, more workers start.
"""

from __future__ import annotations

import math
import types
from asyncio import TaskGroup
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import repeat
from operator import itemgetter
from typing import Any, Final, NamedTuple, get_type_hints

__all__ = ["Graph", "Plan"]

Function = Callable[..., Awaitable[Any]]
Trace = Callable[[str, int], None]

#: How many nodes a worker fires before it lets the event loop turn once.
SLICE: Final = 1_000
TURN: Final = object()
#: The kinds of planned nodes: how they take their arguments. With ROUTED added they choose their readers.
NOTHING, ONE, SEVERAL, ROUTED = range(4)


class Signature(NamedTuple):
    """The input ports of a function. With `is_open` the last takes any number of edges."""

    names: tuple[str, ...]
    is_open: bool
    hints: Mapping[str, Any]


@cache
def signature_of(function: Function) -> Signature:
    """Read the ports from the code of the function."""
    code: types.CodeType = function.__code__
    is_open = bool(code.co_flags & 4)
    return Signature(code.co_varnames[: code.co_argcount + is_open], is_open, get_type_hints(function))


def fits(source: object, target: object) -> bool:
    """Tell whether a value of one type may feed a port of another."""
    if source is target or Any in (source, target):
        return True
    return not (isinstance(source, type) and isinstance(target, type)) or issubclass(source, target)


class Placed(NamedTuple):
    """A node as it was added: with several outputs its function returns a dict of those that have a value."""

    function: Function
    outputs: tuple[str, ...]


#: A node as a run reads it: its kind, its function, what it takes (a slot, or what gets the values of several
#: slots), the slot of its output and the nodes that read that. A plain tuple unpacks the fastest.
Planned = tuple[int, Function, Any, int, tuple[int, ...]]


class Route(NamedTuple):
    """What happens when an output port has a value: where it is put, and whom it feeds."""

    port: str
    slots: tuple[int, ...]
    readers: tuple[int, ...]


class Graph:
    """Nodes and edges by name: `"node"` or `"node.port"` feeds `"node.port"`."""

    def __init__(self) -> None:
        self.nodes: dict[str, Placed] = {}
        self.edges: list[tuple[str, str]] = []

    def add(self, name: str, function: Function, outputs: tuple[str, ...] = ("",)) -> None:
        """Place a function under a name of its own."""
        if name in self.nodes:
            raise ValueError(f"there are two nodes {name!r}")
        self.nodes[name] = Placed(function, outputs)

    def connect(self, source: str, target: str) -> None:
        """Join two ports."""
        self.edges.append((source, target))

    def compile(self) -> Plan:
        """Check the graph and turn its names into numbers; raises ValueError or TypeError."""
        compiling = Compiling(self)
        for source, target in self.edges:
            compiling.join(source, target)
        for node, (name, placed) in enumerate(self.nodes.items()):
            compiling.bind(node, name, signature_of(placed.function))
        return compiling.plan()


@dataclass(slots=True)
class Compiling:
    """A graph on its way to a plan."""

    graph: Graph
    slots: dict[str, int] = field(default_factory=dict)  # by output port
    slot_count: int = 0
    feeds: dict[str, list[int]] = field(default_factory=dict)  # the slots that feed an input port
    readers: list[list[int]] = field(default_factory=list)  # the nodes that read each slot
    copies: dict[int, list[int]] = field(default_factory=dict)  # the slots that a slot is copied to
    needs: list[int] = field(default_factory=list)  # how many tokens each node waits for
    arguments: list[list[int]] = field(default_factory=list)  # the slots that each node takes
    routes: dict[int, list[Route]] = field(
        default_factory=dict
    )  # of the nodes that choose their readers, by slot

    def __post_init__(self) -> None:
        for name, placed in self.graph.nodes.items():
            for port in placed.outputs:
                self.slots[f"{name}.{port}" if port else name] = len(self.slots)
        self.slot_count = len(self.slots)
        self.readers = [[] for _ in self.slots]

    def join(self, source: str, target: str) -> None:
        """Look up both ends of an edge and compare their types."""
        name, _, port = target.partition(".")
        known = signature_of(self.graph.nodes[name].function)
        if source not in self.slots or port not in known.names:
            raise ValueError(f"there is no such edge: {source} -> {target}")
        if "." not in source:
            given = signature_of(self.graph.nodes[source].function).hints.get("return", Any)
            if not fits(given, known.hints.get(port, Any)):
                raise TypeError(f"{source} gives {given}, {target} takes {known.hints[port]}")
        self.feeds.setdefault(target, []).append(self.slots[source])

    def bind(self, node: int, name: str, known: Signature) -> None:
        """Say which slots are the arguments of a node, and how many tokens it waits for."""
        arguments, need = [], 0
        for position, port in enumerate(known.names):
            sources = self.feeds.get(f"{name}.{port}")
            if not sources:
                raise ValueError(f"nothing feeds {name}.{port}")
            takes_all = known.is_open and position == len(known.names) - 1
            need += len(sources) if takes_all else 1
            arguments += sources if takes_all or len(sources) == 1 else [self.shared(sources)]
            for source in sources:
                self.readers[source].append(node)
        self.needs.append(need)
        self.arguments.append(arguments)

    def shared(self, sources: Sequence[int]) -> int:
        """Add the slot of a port that takes whichever of several sources comes."""
        slot = self.slot_count
        self.slot_count += 1
        for source in sources:
            self.copies.setdefault(source, []).append(slot)
        return slot

    def plan(self) -> Plan:
        """Return the plan."""
        planned, slot = [], 0
        for placed, taken in zip(self.graph.nodes.values(), self.arguments, strict=True):
            planned.append(self.planned(placed, taken, slot))
            slot += len(placed.outputs)
        sources = [node for node, need in enumerate(self.needs) if not need]
        return Plan(planned, self.needs, self.routes, self.slot_count, self.slots, sources)

    def planned(self, placed: Placed, taken: list[int], slot: int) -> Planned:
        """Return a node as a run reads it."""
        kind = min(len(taken), SEVERAL)
        take: Any = itemgetter(*taken) if kind == SEVERAL else taken[0] if taken else None
        if placed.outputs == ("",) and slot not in self.copies:
            return kind, placed.function, take, slot, tuple(self.readers[slot])
        self.routes[slot] = [
            Route(port, (own, *self.copies.get(own, ())), tuple(self.readers[own]))
            for own, port in enumerate(placed.outputs, slot)
        ]
        return kind + ROUTED, placed.function, take, slot, ()


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
