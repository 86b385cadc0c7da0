"""Lifting: each loop of a graph that feedback edges close becomes a scope of its own (S6.3, S6.4).

What comes out is a graph whose loops are like those in block form, but for what ends them: another round
follows if a feedback edge has brought a value. Nodes keep the ids that they have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.compiler.graph import CollectAction, JoinAction, MapAction
from dataflow.compiler.lifted_loops import LiftedLoop
from dataflow.compiler.lifted_maps import refuse_beside, refuse_items
from dataflow.compiler.lifted_reads import LiftedReads, left_by
from dataflow.compiler.natural_loops import is_closed_by, natural_loops
from dataflow.compiler.reads import maps_around, reads_between, rewire, vertex_behind
from dataflow.compiler.scoping import body_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from networkx import DiGraph

    from dataflow.compiler.graph import Graph, RoundEdge, Vertex
    from dataflow.compiler.lifted_reads import LoopsAround
    from dataflow.compiler.natural_loops import NaturalLoop
    from dataflow.compiler.reads import Around

__all__ = ["lift"]


def lift(graph: Graph) -> None:
    """Lift every loop of a graph; what cannot be lifted is a problem.

    Where edges make a cycle that are no feedback edges nothing is lifted; that is told elsewhere.
    """
    import networkx as nx  # most flows have no feedback edges; it takes a third of a second to load

    round_edges = [one for one in graph.round_edges if not _contradicts(graph, one)]
    feedback = {(id(one.given), one.position) for one in graph.round_edges if one.rounds.feedback}
    lifting = _Lifting(graph, round_edges)
    reads: DiGraph[int] = nx.DiGraph()
    reads.add_nodes_from(range(len(graph.vertices)))
    pairs = reads_between(graph, lambda given, position: (id(given), position) in feedback)
    reads.add_edges_from((lifting.numbers[source], lifting.numbers[reader]) for source, reader in pairs)
    if nx.is_directed_acyclic_graph(reads):
        lifting.open(reads, list(nx.topological_sort(reads)))
        changing = LiftedReads(
            graph, lifting.round_edges, lifting.closing, lifting.fed, lifting.around, lifting.fires
        )
        rewire(graph, changing.changed)
    _drop(graph, lifting.closing)
    _move(graph, lifting.loops, lifting.around)


def _contradicts(graph: Graph, one: RoundEdge) -> bool:
    """Refuse an edge that says of itself that it leaves a loop and that it does not."""
    if not one.rounds.feedback or (not one.rounds.each_round and one.rounds.leave == "last"):
        return False
    said = "each_round" if one.rounds.each_round else "leave"
    graph.problem(
        f"edge {one.edge}: `{said}` is for edges that leave a loop, and a feedback edge is inside its loop",
        one.spot,
    )
    return True


class _Lifting:
    """The loops of a graph, and which of them each vertex is in."""

    def __init__(self, graph: Graph, round_edges: list[RoundEdge]) -> None:
        self.graph = graph
        self.round_edges = {(id(one.given), one.position): one for one in round_edges}
        self.numbers = {vertex: number for number, vertex in enumerate(graph.vertices)}
        self.around: LoopsAround = {}  # outer ones first
        self.loops: list[LiftedLoop] = []  # likewise
        self.closing: set[tuple[int, int]] = set()  # the feedback edges, as a port and a position in it
        self.fed: dict[int, LiftedLoop] = {}  # the loop that edges into a port close, by the port
        self.fires: Around = {}  # the maps that each vertex fires in

    def open(self, reads: DiGraph[int], order: Sequence[int]) -> None:
        """Find the loops, and tell of each vertex which of them it is in."""
        vertices = self.graph.vertices
        fires, within = maps_around(vertices[number] for number in order)
        closing = [
            one for one in self.round_edges.values()
            if one.rounds.feedback and self._closes(one, reads) and not self._leaves_map(one, fires)
        ]  # fmt: skip
        into = [
            one for one in self.round_edges.values() if one.rounds.each_round and self._ends(one) is not None
        ]
        ends = [[pair for one in edges if (pair := self._ends(one))] for edges in (closing, into)]
        for loop in natural_loops(reads, *ends):
            self._add(loop, [closing[position] for position in sorted(loop.edges)], fires)
        ordered = [vertices[number] for number in order]
        self._take_maps_in(ordered, within)
        for one in self.round_edges.values():
            self._check(one)
        refuse_items(self.graph, closing, self.fed)
        self._give_up(refuse_beside(self.graph, ordered, self.around, fires))
        self.fires = fires

    def _give_up(self, refused: set[LiftedLoop]) -> None:
        """Leave out loops that cannot be, so that no more is told of them than that."""
        if not refused:
            return
        self.loops = [loop for loop in self.loops if loop not in refused]
        self.closing -= {(given, place) for given, place in self.closing if self.fed[given] in refused}
        self.fed = {given: loop for given, loop in self.fed.items() if loop not in refused}
        kept = {vertex: [one for one in loops if one not in refused] for vertex, loops in self.around.items()}
        self.around = {vertex: tuple(loops) for vertex, loops in kept.items() if loops}

    def _ends(self, one: RoundEdge) -> tuple[int, int] | None:
        """Return the numbers of both ends of an edge within a block."""
        source = vertex_behind(one.wire)
        if source is None or source.home is not one.vertex.home:
            return None
        return self.numbers[source], self.numbers[one.vertex]

    def _closes(self, one: RoundEdge, reads: DiGraph[int]) -> bool:
        """Refuse a feedback edge that closes no loop."""
        ends = self._ends(one)
        if ends is not None and is_closed_by(reads, ends):
            return True
        source, target = one.edge.source.node, one.edge.target
        told = f"feedback closes no loop: without it no path leads from {target!r} to {source!r}"
        self.graph.problem(f"edge {one.edge}: {told}", one.spot)
        return False

    def _leaves_map(self, one: RoundEdge, fires: dict[Vertex, dict[Vertex, None]]) -> bool:
        """Refuse a feedback edge that leaves a map (S6.3)."""
        source = vertex_behind(one.wire)
        assert source is not None, "it closes a loop"
        left = [opener for opener in fires[source] if opener not in fires[one.vertex]]
        for opener in left[:1]:
            scope = body_of(opener)
            assert scope is not None, "it is a map"
            told = f"a feedback edge may not leave a map, and this one leaves {scope.label}; collect it first"
            self.graph.problem(f"edge {one.edge}: {told}", one.spot)
        return bool(left)

    def _add(
        self, loop: NaturalLoop, edges: Sequence[RoundEdge], fires: dict[Vertex, dict[Vertex, None]]
    ) -> None:
        head = self.graph.vertices[min(loop.heads)]
        maps = [fires[source] for one in edges if (source := vertex_behind(one.wire)) is not None]
        common = {opener for opener in maps[0] if all(opener in others for others in maps)}
        lifted = LiftedLoop.of(head, [one.rounds for one in edges], common)
        self.loops.append(lifted)
        self.closing.update((id(one.given), one.position) for one in edges)
        self.fed.update((id(one.given), lifted) for one in edges)
        for number in loop.body:
            vertex = self.graph.vertices[number]
            self.around[vertex] = (*self.around.get(vertex, ()), lifted)

    def _take_maps_in(self, ordered: Sequence[Vertex], within: dict[Vertex, dict[Vertex, None]]) -> None:
        """Take into a loop the maps that are opened in each round, and what closes them there."""
        for vertex in ordered:
            for opener in within[vertex] if vertex in self.around else ():
                inside = [loop for loop in self.around[vertex] if opener not in loop.maps]
                self._put_in(opener, inside)
        for vertex in ordered:
            if _is_no_node(vertex):
                for opener in within[vertex]:
                    self._put_in(vertex, self.around.get(opener, ()))

    def _put_in(self, vertex: Vertex, loops: Sequence[LiftedLoop]) -> None:
        if len(loops) > len(self.around.get(vertex, ())):
            self.around[vertex] = tuple(loops)

    def _check(self, one: RoundEdge) -> None:
        """Refuse what an edge says of loops that it has nothing to do with."""
        source = vertex_behind(one.wire)
        inside = self.around.get(source, ()) if source is not None else ()
        if one.rounds.each_round and not inside:
            told = f"`each_round` is for edges that begin in a loop, and {one.edge.source.node!r} is in none"
        elif one.rounds.leave == "all" and not left_by(one.wire, one.vertex, self.around):
            told = "`leave` says which values of its rounds leave a loop, and this edge leaves none"
        else:
            return
        self.graph.problem(f"edge {one.edge}: {told}", one.spot)


def _drop(graph: Graph, closing: Collection[tuple[int, int]]) -> None:
    """Take the feedback edges out that close none of the loops."""
    for one in reversed(graph.round_edges):
        if one.rounds.feedback and (id(one.given), one.position) not in closing:
            del one.given.wires[one.position]


def _move(graph: Graph, loops: Iterable[LiftedLoop], around: LoopsAround) -> None:
    """Move each vertex into its loop."""
    for loop in loops:
        *outer, _ = around[loop.head]
        loop.vertex.home = outer[-1].scope if outer else loop.head.home
        graph.vertices.append(loop.vertex)
    for vertex, inside in around.items():
        vertex.home = inside[-1].scope


def _is_no_node(vertex: Vertex) -> bool:
    match vertex.action:
        case JoinAction() | CollectAction():
            return True
        case MapAction(named=named):
            return not named
        case _:
            return False
