"""The loops of a walk: which edges lead back to where a loop was entered, so that each begins a new round."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["closing", "reached"]


def reached(start: str, edges: Sequence[tuple[str, str]]) -> set[str]:
    """Return the nodes that a walk from the start can come to."""
    targets: dict[str, set[str]] = {}
    for source, target in edges:
        targets.setdefault(source, set()).add(target)
    found, waiting = {start}, [start]
    while waiting:
        further = targets.get(waiting.pop(), set()) - found
        found |= further
        waiting += further
    return found


def closing(start: str, edges: Sequence[tuple[str, str]]) -> dict[int, frozenset[str]]:
    """Return the edges that begin a new round, by number, each with the heads of its loop.

    Heads are the nodes at which a walk comes into the loop. What is a loop of its own once those edges are
    taken away is an inner one. All nodes can be reached from the start.
    """
    found: dict[int, frozenset[str]] = {}
    waiting = [list(range(len(edges)))]
    while waiting:
        numbers = waiting.pop()
        for inner in _components([edges[number] for number in numbers]):
            within = [number for number in numbers if inner.issuperset(edges[number])]
            entered = {edges[number][1] for number in numbers if edges[number][0] not in inner}
            heads = frozenset(inner & (entered | {start}))
            back = [number for number in within if edges[number][1] in heads]
            found |= dict.fromkeys(back, heads)
            waiting.append([number for number in within if number not in back])
    return found


def _components(edges: Iterable[tuple[str, str]]) -> list[frozenset[str]]:
    """Return the sets of nodes that lead to each other, and nodes that lead to themselves."""
    import networkx as nx  # most flows of this process are of other formats

    graph: nx.DiGraph[str] = nx.DiGraph(edges)
    components = map(frozenset, nx.strongly_connected_components(graph))
    return [one for one in components if len(one) > 1 or graph.has_edge(*one, *one)]
