"""The loops of a graph by the words of the rule alone, looking at all pairs of nodes (S6.3)."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import NamedTuple

from networkx import DiGraph

from dataflow.compiler.natural_loops import natural_loops

Edge = tuple[int, int]


class Loop(NamedTuple):
    """A loop with its nodes and the positions of its feedback edges."""

    heads: frozenset[int]
    body: frozenset[int]
    edges: frozenset[int]


@dataclass(frozen=True)
class RandomGraph:
    """Nodes are numbered so that edges go up; a feedback edge goes to its head, which is not above."""

    nodes: int
    edges: tuple[Edge, ...]
    feedback: tuple[Edge, ...]
    each_round: tuple[Edge, ...]


def random_graph(choose: random.Random) -> RandomGraph:
    nodes = choose.randint(1, 11)
    density = choose.choice((0.15, 0.3, 0.5))
    edges = [(u, v) for v in range(nodes) for u in range(v) if choose.random() < density]
    paths = _paths(nodes, edges)
    closing = [(u, h) for h in range(nodes) for u in range(h, nodes) if paths[h][u]]
    feedback = [choose.choice(closing) for _ in range(choose.randint(1, 5))]
    declared = [edge for edge in edges if choose.random() < 0.1]
    return RandomGraph(nodes, tuple(edges), tuple(feedback), tuple(declared))


def _paths(nodes: int, edges: Collection[Edge]) -> list[list[bool]]:
    """Tell for all pairs whether a path leads from one to the other; each node leads to itself."""
    paths = [[u == v or (u, v) in edges for v in range(nodes)] for u in range(nodes)]
    for via in range(nodes):
        for u in range(nodes):
            for v in range(nodes):
                paths[u][v] = paths[u][v] or (paths[u][via] and paths[via][v])
    return paths


@dataclass(eq=False)
class _Loop:
    heads: set[int]
    body: set[int]
    edges: set[int]


def plain_loops(graph: RandomGraph, choose: random.Random) -> set[Loop]:
    """Apply the rule to any two loops that it says something of, until it says nothing of any two."""
    paths = _paths(graph.nodes, graph.edges)
    loops = [
        _Loop({head}, {x for x in range(graph.nodes) if paths[head][x] and paths[x][source]}, {number})
        for number, (source, head) in enumerate(graph.feedback)
    ]
    while True:
        for loop in loops:
            _fill(loop, graph, paths)
        pairs = [(a, b) for a, b in permutations(loops, 2) if a.body & b.body]
        heads = [(a, b, bool(a.body & b.heads), bool(b.body & a.heads)) for a, b in pairs]
        joinings = [(a, b) for a, b, has, is_in in heads if has == is_in]
        nestings = [(a, b) for a, b, has, is_in in heads if has > is_in and not b.body <= a.body]
        if nestings:
            outer, inner = choose.choice(nestings)
            outer.body |= inner.body
        elif joinings := joinings or [*_waiting(loops, graph)]:
            loops = _joined(loops, joinings)
        else:
            return {Loop(*map(frozenset, (one.heads, one.body, one.edges))) for one in loops}


def _joined(loops: list[_Loop], pairs: list[tuple[_Loop, _Loop]]) -> list[_Loop]:
    groups = {id(loop): {loop} for loop in loops}
    for one, other in pairs:
        together = groups[id(one)] | groups[id(other)]
        groups.update((id(loop), together) for loop in together)
    return [
        _Loop(
            {head for loop in group for head in loop.heads},
            {node for loop in group for node in loop.body},
            {edge for loop in group for edge in loop.edges},
        )
        for group in {id(group): group for group in groups.values()}.values()
    ]


def _fill(loop: _Loop, graph: RandomGraph, paths: list[list[bool]]) -> None:
    """Add what is between two nodes of a body, and what is declared part of it."""
    before = set[int]()
    while before != loop.body:
        before = set(loop.body)
        loop.body |= {
            x for x in range(graph.nodes)
            if any(paths[a][x] for a in before) and any(paths[x][b] for b in before)
        }  # fmt: skip
        loop.body |= {w for v, w in graph.each_round if v in before}


def _waiting(loops: list[_Loop], graph: RandomGraph) -> Iterator[tuple[_Loop, _Loop]]:
    """Find two loops of one level that wait for one another, through whatever is between them."""
    for one, other in permutations(loops, 2):
        around = [[outer for outer in loops if outer.body > loop.body] for loop in (one, other)]
        if not one.body & other.body and around[0] == around[1]:
            inside = min((outer.body for outer in around[0]), key=len, default=set(range(graph.nodes)))
            if _leads(one, other, inside, loops, graph) and _leads(other, one, inside, loops, graph):
                yield one, other


def _leads(one: _Loop, other: _Loop, inside: set[int], loops: list[_Loop], graph: RandomGraph) -> bool:
    """Tell whether a loop waits for another: a loop ends whole before anything outside reads it."""
    wholes = [loop.body for loop in loops if loop.body < inside or (len(inside) == graph.nodes)]
    reached = set(one.body)
    before = set[int]()
    while before != reached:
        before = set(reached)
        reached |= {v for u, v in graph.edges if u in before and v in inside}
        for body in wholes:
            if body & reached and not body >= inside:
                reached |= body
    return bool(reached & other.body)


def found_loops(graph: RandomGraph) -> set[Loop]:
    known: DiGraph[int] = DiGraph()
    known.add_nodes_from(range(graph.nodes))
    known.add_edges_from(graph.edges)
    found = natural_loops(known, graph.feedback, graph.each_round)
    return {Loop(*map(frozenset, (loop.heads, loop.body, loop.edges))) for loop in found}
