"""The shapes that are run: which node reads which, and what comes out. The peers' scripts read them too."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property
from itertools import chain as joined
from typing import Final

__all__ = [
    "MODULUS",
    "SLEEP",
    "Shape",
    "chain",
    "diamonds",
    "fan_out",
    "join_of",
    "layered",
    "loop_result",
]

#: What joins add up stays below this, so that a sum costs the same everywhere.
MODULUS: Final = 1_000_003
#: How long a node sleeps, in seconds.
SLEEP: Final = 0.010
#: The random graph is the same in every process.
SEED: Final = 42
LAYERS: Final = 20
LOOP_NODES: Final = 3


@dataclass(frozen=True)
class Shape:
    """An acyclic graph in topological order: node i reads the nodes `sources[i]`, all of them before it.

    A node that reads nothing gives 1, one that reads a single node adds 1, one that reads several adds them
    up below MODULUS. The result is the sum of the nodes that nobody reads.
    """

    sources: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.sources)

    @cached_property
    def ends(self) -> list[int]:
        """The nodes that nobody reads."""
        read = set(joined.from_iterable(self.sources))
        return [node for node in range(len(self)) if node not in read]

    @cached_property
    def readers(self) -> list[list[int]]:
        """The nodes that read each node."""
        found: list[list[int]] = [[] for _ in self.sources]
        for node, sources in enumerate(self.sources):
            for source in sources:
                found[source].append(node)
        return found

    @cached_property
    def result(self) -> int:
        """The sum of the values at the ends."""
        values: list[int] = []
        for sources in self.sources:
            values.append(join_of([values[source] for source in sources]))
        return sum(values[end] for end in self.ends)


def join_of(values: list[int]) -> int:
    """Return what a node with these inputs gives."""
    match values:
        case []:
            return 1
        case [value]:
            return value + 1
        case _:
            return sum(values) % MODULUS


def chain(nodes: int) -> Shape:
    """Place this many nodes in series."""
    return Shape(((), *((node - 1,) for node in range(1, nodes))))


def fan_out(width: int) -> Shape:
    """Place a node, this many nodes that read it, and one that joins them."""
    return Shape(((), *((0,) for _ in range(width)), tuple(range(1, width + 1))))


def layered(nodes: int) -> Shape:
    """Place the nodes in layers, each of which reads three random nodes of the layer before."""
    chance, width = random.Random(SEED), nodes // LAYERS  # noqa: S311 - nobody is to be surprised
    inner = (
        tuple(chance.sample(range(layer * width - width, layer * width), 3))
        for layer in range(1, LAYERS)
        for _ in range(width)
    )
    return Shape((*((),) * width, *inner))


def diamonds(count: int) -> Shape:
    """Place this many diamonds in series: one node, two that read it, and one that joins them is the next."""
    sources: list[tuple[int, ...]] = [()]
    for _ in range(count):
        top = len(sources) - 1
        sources += [(top,), (top,), (top + 1, top + 2)]
    return Shape(tuple(sources))


def loop_result(rounds: int) -> int:
    """Return what a loop of three nodes comes to that each add 1, beginning with 0."""
    return LOOP_NODES * rounds
