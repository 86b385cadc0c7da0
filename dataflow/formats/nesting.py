"""The loops of a graph: which edges lead back to where a loop was entered, and begin a new round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Loop", "loops", "reached"]


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: its nodes, those at which it is entered, and by number the edges that begin a new round."""

    nodes: frozenset[str]
    heads: frozenset[str]
    back: frozenset[int]


def reached(start: str, edges: Sequence[tuple[str, str]]) -> set[str]:
    """Return the nodes that can be come to from the start."""
    following: dict[str, list[str]] = {}
    for source, target in edges:
        following.setdefault(source, []).append(target)
    found, waiting = {start}, [start]
    while waiting:
        further = set(following.get(waiting.pop(), ())) - found
        found |= further
        waiting += further
    return found


def loops(start: str, edges: Sequence[tuple[str, str]]) -> list[Loop]:
    """Return all loops, outer ones before those in them.

    What is a loop of its own once the edges back are taken away is an inner one. All nodes can be reached
    from the start.
    """
    found: list[Loop] = []
    waiting = [list(range(len(edges)))]
    while waiting:
        numbers = waiting.pop()
        for nodes in _components([edges[number] for number in numbers]):
            within = [number for number in numbers if nodes.issuperset(edges[number])]
            entered = {edges[number][1] for number in numbers if edges[number][0] not in nodes}
            heads = frozenset(nodes & (entered | {start})) or nodes
            back = frozenset(number for number in within if edges[number][1] in heads)
            found.append(Loop(nodes, heads, back))
            waiting.append([number for number in within if number not in back])
    return found


def _components(edges: Iterable[tuple[str, str]]) -> list[frozenset[str]]:
    """Return the sets of nodes that lead to each other, and nodes that lead to themselves."""
    import networkx as nx  # most flows of this process are of other formats

    graph: nx.DiGraph[str] = nx.DiGraph(edges)
    components = map(frozenset, nx.strongly_connected_components(graph))
    return [one for one in components if len(one) > 1 or graph.has_edge(*one, *one)]
