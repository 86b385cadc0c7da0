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
    return bool(nx.has_path(graph, head, source))


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
        self.graph = graph
        self.each_round = each_round

    def between(self, starts: set[int], ends: set[int]) -> set[int]:
        """Return the nodes on paths from a start to an end, both included."""
        behind = _reached(starts, self.graph.successors)
        return behind & _reached(ends, self.graph.predecessors)

    def nest(self, loops: Sequence[NaturalLoop]) -> None:
        """Let each loop take in what is between its nodes and the bodies of the loops inside it."""
        is_growing = True
        while is_growing:
            sizes = [len(loop.body) for loop in loops]
            for loop in loops:
                self._close(loop)
            taken = [(outer, set(inner.body)) for inner, outer in _nested(loops)]
            for outer, body in taken:
                outer.body |= body
            is_growing = sizes != [len(loop.body) for loop in loops]

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

        levels = defaultdict[int | None, list[int]](list)
        for number, loop in enumerate(loops):
            around = [other for other, outer in enumerate(loops) if other != number and loop.is_in(outer)]
            levels[min(around, key=lambda other: len(loops[other].body), default=None)].append(number)
        for outer, inner in levels.items():
            within = self.graph if outer is None else self.graph.subgraph(loops[outer].body)
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


def _sharing(loops: Sequence[NaturalLoop]) -> list[Edge]:
    """List the pairs of loops that share a node."""
    holders = defaultdict[int, list[int]](list)
    for number, loop in enumerate(loops):
        for node in loop.body:
            holders[node].append(number)
    return sorted({pair for numbers in holders.values() for pair in combinations(numbers, 2)})


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
