"""A prototype of the engine's heart: named ports and types are looked up once, a run sees only numbers.

It has no contexts, maps, skips, states, failures or cancellation of single nodes, and runs on asyncio only. A
run has a slot for each output port. A worker fires what is ready in place; only when a node really suspends,
and others are ready, more workers start.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple, get_type_hints

from benchmarks.prototype_run import ROUTED, SEVERAL, Function, Plan, Planned, Route

__all__ = ["Graph"]


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
