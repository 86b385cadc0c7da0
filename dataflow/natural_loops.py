"""Natural loops: which nodes each feedback edge repeats, and which loops are inside which (S6.3).

Nodes are numbers, and nothing here knows what they are of.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from networkx import DiGraph

__all__ = ["NaturalLoop", "is_closed_by", "natural_loops"]

Edge: TypeAlias = "tuple[int, int]"


@dataclass(slots=True, eq=False)
class NaturalLoop:
    """A loop: its heads, its body with all loops inside it, and the positions of its feedback edges."""

    heads: set[int]
    body: set[int]
    edges: set[int]

    def is_in(self, other: NaturalLoop) -> bool:
        """Tell whether it belongs inside another loop: that alone contains a head of this one."""
        return not self.heads.isdisjoint(other.body) and other.heads.isdisjoint(self.body)


def is_closed_by(graph: DiGraph[int], edge: Edge) -> bool:
    """Tell whether a feedback edge closes a loop: a path leads from its head to where it begins."""
    import networkx as nx  # most flows have no feedback edges; it takes a third of a second to load

    source, head = edge
    return nx.has_path(graph, head, source)


def natural_loops(
    graph: DiGraph[int], feedback: Sequence[Edge], each_round: Iterable[Edge] = ()
) -> list[NaturalLoop]:
    """Return the loops that feedback edges close in an acyclic graph, outer ones before those inside them.

    Where two loops share a node they nest if exactly one contains a head of the other, else they become one;
    so do loops that wait for one another. What is between two nodes of a loop is in it, and so is the end of
    an edge of `each_round` that begins in it.
    """
    growing = _Growing(graph, list(each_round))
    loops = [
        NaturalLoop({head}, growing.between({head}, {source}), {position})
        for position, (source, head) in enumerate(feedback)
    ]
    while True:
        growing.nest(loops)
        groups = list(_groups(len(loops), growing.alike(loops)))
        if len(groups) == len(loops):
            groups = list(_groups(len(loops), growing.entangled(loops)))
        if len(groups) == len(loops):
            return sorted(loops, key=lambda loop: (-len(loop.body), min(loop.heads)))
        loops = [_joined([loops[number] for number in group]) for group in groups]


def _joined(loops: Sequence[NaturalLoop]) -> NaturalLoop:
    return NaturalLoop(
        set().union(*(loop.heads for loop in loops)),
        set().union(*(loop.body for loop in loops)),
        set().union(*(loop.edges for loop in loops)),
    )


class _Growing:
    """Lets the bodies of loops grow in a graph until they are whole."""

    def __init__(self, graph: DiGraph[int], each_round: list[Edge]) -> None:
        import networkx as nx  # as above

        self.graph = graph
        self.each_round = each_round
        self.position = {node: number for number, node in enumerate(nx.topological_sort(graph))}

    def between(self, starts: set[int], ends: set[int]) -> set[int]:
        """Return the nodes on paths from a start to an end, both included."""
        position = self.position
        first, last = min(position[node] for node in starts), max(position[node] for node in ends)

        def behind(node: int) -> Iterable[int]:
            return (one for one in self.graph.successors(node) if position[one] <= last)

        def before(node: int) -> Iterable[int]:
            return (one for one in self.graph.predecessors(node) if position[one] >= first)

        return _reached(starts, behind) & _reached(ends, before)

    def nest(self, loops: Sequence[NaturalLoop]) -> None:
        """Let each loop take in what is between its nodes and the bodies of the loops inside it."""
        growing = list(loops)
        while growing:
            for loop in growing:
                self._close(loop)
            sizes = [len(loop.body) for loop in loops]
            taken = [(outer, set(inner.body)) for inner, outer in _nested(loops)]
            for outer, body in taken:
                outer.body |= body
            growing = [loop for loop, size in zip(loops, sizes, strict=True) if len(loop.body) > size]

    def _close(self, loop: NaturalLoop) -> None:
        size = 0
        while size != len(loop.body):
            size = len(loop.body)
            loop.body |= self.between(loop.body, loop.body)
            loop.body.update(target for source, target in self.each_round if source in loop.body)

    def alike(self, loops: Sequence[NaturalLoop]) -> Iterator[Edge]:
        """Yield the pairs of loops that share a node, neither of which belongs inside the other."""
        for one, other in _sharing(loops):
            if not loops[one].is_in(loops[other]) and not loops[other].is_in(loops[one]):
                yield one, other

    def entangled(self, loops: Sequence[NaturalLoop]) -> Iterator[Edge]:
        """Yield pairs of loops, neither inside the other, each of which waits for the other to end."""
        import networkx as nx  # as above

        around = defaultdict[NaturalLoop, list[NaturalLoop]](list)
        for inside, outside in _nested(loops):
            around[inside].append(outside)
        levels = defaultdict[NaturalLoop | None, list[int]](list)
        for number, loop in enumerate(loops):
            levels[min(around[loop], key=lambda outside: len(outside.body), default=None)].append(number)
        for outer, inner in levels.items():
            within = self.graph if outer is None else self.graph.subgraph(outer.body)
            stands_for = {node: -1 - number for number in inner for node in loops[number].body}
            wholes: DiGraph[int] = nx.DiGraph()
            wholes.add_edges_from((stands_for.get(u, u), stands_for.get(v, v)) for u, v in within.edges)
            for component in nx.strongly_connected_components(wholes):
                numbers = sorted(-1 - node for node in component if node < 0)
                yield from pairwise(numbers)


def _reached(starts: Iterable[int], following: Callable[[int], Iterable[int]]) -> set[int]:
    found = set(starts)
    todo = list(found)
    while todo:
        for node in following(todo.pop()):
            if node not in found:
                found.add(node)
                todo.append(node)
    return found


def _sharing(loops: Sequence[NaturalLoop]) -> Iterator[Edge]:
    """Yield the pairs of loops that share a node; loops apart from each other are not compared."""
    first: dict[int, int] = {}  # loop that a node is in
    met = {
        (first.setdefault(node, number), number) for number, loop in enumerate(loops) for node in loop.body
    }
    for group in _groups(len(loops), met):
        for one, other in combinations(group, 2):
            if not loops[one].body.isdisjoint(loops[other].body):
                yield one, other


def _nested(loops: Sequence[NaturalLoop]) -> Iterator[tuple[NaturalLoop, NaturalLoop]]:
    """Yield each loop that belongs inside another with that one."""
    for one, other in _sharing(loops):
        for inner, outer in ((loops[one], loops[other]), (loops[other], loops[one])):
            if inner.is_in(outer):
                yield inner, outer


def _groups(count: int, pairs: Iterable[Edge]) -> Iterator[list[int]]:
    """Yield the numbers below the count in groups: those of a pair are in one."""
    linked = defaultdict[int, set[int]](set)
    for one, other in pairs:
        linked[one].add(other)
        linked[other].add(one)
    seen = set[int]()
    for number in range(count):
        if number not in seen:
            group = _reached({number}, lambda one: linked.get(one, ()))
            seen |= group
            yield sorted(group)
