"""Natural loops: which nodes each feedback edge repeats, and which loops are inside which (S6.3).

Nodes are numbers, and nothing here knows what they are of.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from networkx import DiGraph

__all__ = ["NaturalLoop", "is_closed_by", "natural_loops"]

Edge: TypeAlias = "tuple[int, int]"


@dataclass(slots=True, eq=False)
class NaturalLoop:
    """A loop: its heads, its body with all loops inside it, and the positions of its feedback edges.

    Each node of a body that is whole is between two of its `bounds`, or one of them.
    """

    heads: set[int]
    body: set[int]
    edges: set[int]
    bounds: set[int]

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
        NaturalLoop({head}, set(), {position}, {head, source})
        for position, (source, head) in enumerate(feedback)
    ]
    changed = loops
    while True:
        growing.nest(loops, changed)
        groups = list(_groups(len(loops), _alike(loops)))
        if len(groups) == len(loops):
            groups = list(_groups(len(loops), growing.entangled(loops)))
        if len(groups) == len(loops):
            return sorted(loops, key=lambda loop: (-len(loop.body), min(loop.heads)))
        joined = [_joined([loops[number] for number in group]) for group in groups]
        changed = [loop for loop, group in zip(joined, groups, strict=True) if len(group) > 1]
        loops = joined


def _joined(loops: Sequence[NaturalLoop]) -> NaturalLoop:
    if len(loops) == 1:
        return loops[0]
    return NaturalLoop(
        set().union(*(loop.heads for loop in loops)),
        set().union(*(loop.body for loop in loops)),
        set().union(*(loop.edges for loop in loops)),
        set().union(*(loop.bounds for loop in loops)),
    )


class _Growing:
    """Lets the bodies of loops grow in a graph until they are whole."""

    def __init__(self, graph: DiGraph[int], each_round: list[Edge]) -> None:
        import networkx as nx  # as above

        self.graph = graph
        self.after = {node: [*following] for node, following in graph.succ.items()}
        self.before = {node: [*preceding] for node, preceding in graph.pred.items()}
        self.ends = defaultdict[int, list[int]](list)  # of the edges that count each round, by their begin
        for source, target in each_round:
            self.ends[source].append(target)
        self.position = {node: number for number, node in enumerate(nx.topological_sort(graph))}

    def _between(self, nodes: set[int]) -> set[int]:
        """Return the nodes on paths from one of these to another, and these themselves."""
        position, after, before = self.position, self.after, self.before
        last = max(position[node] for node in nodes)
        behind = _reached(nodes, lambda node: [one for one in after[node] if position[one] <= last])
        return _reached(nodes, lambda node: [one for one in before[node] if one in behind])

    def nest(self, loops: Sequence[NaturalLoop], changed: Sequence[NaturalLoop]) -> None:
        """Let each loop take in what is between its nodes and the bodies of the loops inside it.

        `changed` are those for which that is not so yet.
        """
        while changed:
            for loop in changed:
                self._close(loop)
            taken = defaultdict[NaturalLoop, set[int]](set)
            for inner, outer in _nested(loops):
                if not inner.bounds <= outer.body:  # else its body is in there too
                    taken[outer] |= inner.bounds
            for outer, bounds in taken.items():
                outer.bounds |= bounds
            changed = list(taken)

    def _close(self, loop: NaturalLoop) -> None:
        more = loop.bounds
        while more:
            loop.bounds |= more
            body = loop.body = self._between(loop.bounds)
            begins = body & self.ends.keys()
            more = {target for begin in begins for target in self.ends[begin]} - body
        loop.bounds = {
            node for node in loop.bounds
            if body.isdisjoint(self.after[node]) or body.isdisjoint(self.before[node])
        }  # fmt: skip

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
            if len(inner) == 1:
                continue  # there is none for it to wait for
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


def _nested(loops: Sequence[NaturalLoop]) -> Iterator[tuple[NaturalLoop, NaturalLoop]]:
    """Yield each loop that belongs inside another with that one."""
    begins = defaultdict[int, list[NaturalLoop]](list)
    for loop in loops:
        for head in loop.heads:
            begins[head].append(loop)
    for outer in loops:
        inside = {inner: None for head in begins.keys() & outer.body for inner in begins[head]}
        yield from ((inner, outer) for inner in inside if inner.is_in(outer))


def _alike(loops: Sequence[NaturalLoop]) -> Iterator[Edge]:
    """Yield the pairs of loops that share a node, neither of which belongs inside the other."""
    numbers = {loop: number for number, loop in enumerate(loops)}
    related = [1 << number for number in range(len(loops))]  # the loops around each and inside it, as bits
    for inner, outer in _nested(loops):
        related[numbers[inner]] |= 1 << numbers[outer]
        related[numbers[outer]] |= 1 << numbers[inner]
    at = defaultdict[int, int](int)  # the loops that a node is in, as bits
    for number, loop in enumerate(loops):
        for node in loop.body:
            at[node] |= 1 << number
    for number, loop in enumerate(loops):
        sharing = 0
        for node in loop.body:
            sharing |= at[node]
        others = sharing & ~related[number]
        while others:
            last = others.bit_length() - 1
            yield number, last
            others ^= 1 << last


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
