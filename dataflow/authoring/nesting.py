"""The loops of a graph: which edges lead back to where a loop was entered, and begin a new round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["GraphLoop", "find_loops", "reachable"]


@dataclass(frozen=True, slots=True)
class GraphLoop:
    """A loop of a graph: its nodes, its heads (where it is entered), and the numbers of its back edges."""

    nodes: frozenset[str]
    heads: frozenset[str]
    back: frozenset[int]


def reachable(start: str, edges: Sequence[tuple[str, str]]) -> set[str]:
    """Return the nodes that can be reached from the start, which is among them."""
    following: dict[str, list[str]] = {}
    for source, target in edges:
        following.setdefault(source, []).append(target)
    found, waiting = {start}, [start]
    while waiting:
        further = set(following.get(waiting.pop(), ())) - found
        found |= further
        waiting += further
    return found


def find_loops(start: str, edges: Sequence[tuple[str, str]]) -> list[GraphLoop]:
    """Return all loops of a graph, outer ones before those in them.

    An inner loop is one that is left when the back edges of the outer are removed. `edges` are pairs of
    source and target, numbered from 0; all nodes must be reachable from the start.
    """
    found: list[GraphLoop] = []
    waiting = [list(range(len(edges)))]
    while waiting:
        numbers = waiting.pop()
        for nodes in _components([edges[number] for number in numbers]):
            within = [number for number in numbers if nodes.issuperset(edges[number])]
            entered = {edges[number][1] for number in numbers if edges[number][0] not in nodes}
            heads = frozenset(nodes & (entered | {start})) or nodes
            back = frozenset(number for number in within if edges[number][1] in heads)
            found.append(GraphLoop(nodes, heads, back))
            waiting.append([number for number in within if number not in back])
    return found


def _components(edges: Iterable[tuple[str, str]]) -> list[frozenset[str]]:
    """Return the sets of nodes that lead to each other, and nodes that lead to themselves."""
    import networkx as nx  # most flows of this process are of other formats

    graph: nx.DiGraph[str] = nx.DiGraph(edges)
    components = map(frozenset, nx.strongly_connected_components(graph))
    return [one for one in components if len(one) > 1 or graph.has_edge(*one, *one)]
