"""Turn the natural loops of feedback edges into scopes of the graph."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from dataflow.compiler.graph import CollectAction, JoinAction, MapAction
from dataflow.compiler.loop_reads import (
    LiftedLoop,
    LiftedReads,
    left_by,
    maps_around,
    reads_between,
    refuse_beside,
    refuse_items,
    rewire,
    vertex_behind,
)
from dataflow.compiler.scopes import body_of
from dataflow.diagnostics.graphs import FEEDBACK_LEAVES_MAP, FEEDBACK_WITHOUT_LOOP, ROUND_OPTION_MISPLACED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from networkx import DiGraph

    from dataflow.compiler.graph import Graph, RoundEdge, Vertex
    from dataflow.compiler.loop_reads import Around, LoopsAround

__all__ = ["is_closed_by", "lift", "natural_loops"]

Edge: TypeAlias = "tuple[int, int]"


def lift(graph: Graph) -> None:
    """Lift every loop of a graph; a loop that cannot be lifted is a problem.

    If other edges form a cycle, nothing is lifted; the cycle is reported elsewhere.
    """
    import networkx as nx  # it loads slowly, and most flows have no feedback edges

    round_edges = [one for one in graph.round_edges if not _contradicts(graph, one)]
    feedback = {(id(one.given), one.position) for one in graph.round_edges if one.rounds.feedback}
    lifter = _LoopLifter(graph, round_edges)
    reads: DiGraph[int] = nx.DiGraph()
    reads.add_nodes_from(range(len(graph.vertices)))
    pairs = reads_between(graph, lambda given, position: (id(given), position) in feedback)
    reads.add_edges_from((lifter.numbers[source], lifter.numbers[reader]) for source, reader in pairs)
    if nx.is_directed_acyclic_graph(reads):
        lifter.open(reads, list(nx.topological_sort(reads)))
        reads_of = LiftedReads(
            graph, lifter.round_edges, lifter.closing, lifter.fed, lifter.around, lifter.fires
        )
        rewire(graph, reads_of.changed)
    _drop(graph, lifter.closing)
    _move(graph, lifter.loops, lifter.around)


def _contradicts(graph: Graph, one: RoundEdge) -> bool:
    """Refuse a feedback edge with options for edges that leave a loop."""
    if not one.rounds.feedback or (not one.rounds.each_round and one.rounds.leave == "last"):
        return False
    option = "each_round" if one.rounds.each_round else "leave"
    reason = "a feedback edge does not leave its loop"
    problem = ROUND_OPTION_MISPLACED(source=one.edge.source, option=option, reason=reason)
    graph.problem(problem, one.spot)
    return True


class _LoopLifter:
    """The loops of a graph, and the loops that each vertex is in."""

    def __init__(self, graph: Graph, round_edges: list[RoundEdge]) -> None:
        self.graph = graph
        self.round_edges = {(id(one.given), one.position): one for one in round_edges}
        self.numbers = {vertex: number for number, vertex in enumerate(graph.vertices)}
        self.around: LoopsAround = {}  # outermost first
        self.loops: list[LiftedLoop] = []  # likewise
        self.closing: set[tuple[int, int]] = set()  # the feedback edges, as a port and a position in it
        self.fed: dict[int, LiftedLoop] = {}  # the loop that edges into a port close, by the port
        self.fires: Around = {}  # the maps that each vertex fires in

    def open(self, reads: DiGraph[int], order: Sequence[int]) -> None:
        """Find the loops, and determine which of them each vertex is in."""
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
        """Leave out refused loops, so that only one problem is reported for each."""
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
        """Refuse a feedback edge that does not close a loop."""
        ends = self._ends(one)
        if ends is not None and is_closed_by(reads, ends):
            return True
        source = one.edge.source
        problem = FEEDBACK_WITHOUT_LOOP(source=source, target=one.edge.target, begin=source.node)
        self.graph.problem(problem, one.spot)
        return False

    def _leaves_map(self, one: RoundEdge, fires: dict[Vertex, dict[Vertex, None]]) -> bool:
        """Refuse a feedback edge that leaves a map (S6.3)."""
        source = vertex_behind(one.wire)
        assert source is not None, "it closes a loop"
        left = [opener for opener in fires[source] if opener not in fires[one.vertex]]
        for opener in left[:1]:
            scope = body_of(opener)
            assert scope is not None, "it is a map"
            self.graph.problem(FEEDBACK_LEAVES_MAP(source=one.edge.source, map=scope.label), one.spot)
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
        """Move maps that are opened in each iteration into a loop, and the vertices that close them."""
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
        """Refuse options of an edge for loops that it does not begin in or leave."""
        source = vertex_behind(one.wire)
        inside = self.around.get(source, ()) if source is not None else ()
        if one.rounds.each_round and not inside:
            option, reason = "each_round", f"{one.edge.source.node!r} is not in a loop"
        elif one.rounds.leave == "all" and not left_by(one.wire, one.vertex, self.around):
            option, reason = "leave", "the edge does not leave a loop"
        else:
            return
        problem = ROUND_OPTION_MISPLACED(source=one.edge.source, option=option, reason=reason)
        self.graph.problem(problem, one.spot)


def _drop(graph: Graph, closing: Collection[tuple[int, int]]) -> None:
    """Remove the feedback edges that do not close a loop."""
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


@dataclass(slots=True, eq=False)
class NaturalLoop:
    """A loop: its heads, its body with all loops inside it, and the positions of its feedback edges.

    Each node of a complete body is one of its `bounds`, or between two of them.
    """

    heads: set[int]
    body: set[int]
    edges: set[int]
    bounds: set[int]

    def is_in(self, other: NaturalLoop) -> bool:
        """Return whether it is inside another loop: only the other contains a head of this one."""
        return not self.heads.isdisjoint(other.body) and other.heads.isdisjoint(self.body)


def is_closed_by(graph: DiGraph[int], edge: Edge) -> bool:
    """Return whether a feedback edge closes a loop: a path leads from its head to its source."""
    import networkx as nx  # it loads slowly, and most flows have no feedback edges

    source, head = edge
    return nx.has_path(graph, head, source)


def natural_loops(
    graph: DiGraph[int], feedback: Sequence[Edge], each_round: Iterable[Edge] = ()
) -> list[NaturalLoop]:
    """Return the loops that feedback edges close in an acyclic graph, outer loops before those inside them.

    Two loops that share a node are nested if exactly one contains a head of the other, else they become one
    loop; so do loops that wait for one another. Nodes between two nodes of a loop belong to it, and so does
    the target of an `each_round` edge whose source belongs to it.
    """
    growth = _LoopGrowth(graph, list(each_round))
    loops = [
        NaturalLoop({head}, set(), {position}, {head, source})
        for position, (source, head) in enumerate(feedback)
    ]
    changed = loops
    while True:
        growth.nest(loops, changed)
        groups = list(_groups(len(loops), _alike(loops)))
        if len(groups) == len(loops):
            groups = list(_groups(len(loops), growth.entangled(loops)))
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


class _LoopGrowth:
    """Extends the bodies of loops in a graph until they are complete."""

    def __init__(self, graph: DiGraph[int], each_round: list[Edge]) -> None:
        import networkx as nx  # as above

        self.graph = graph
        self.after = {node: [*following] for node, following in graph.succ.items()}
        self.before = {node: [*preceding] for node, preceding in graph.pred.items()}
        self.ends = defaultdict[int, list[int]](list)  # of the `each_round` edges, by their source
        for source, target in each_round:
            self.ends[source].append(target)
        self.position = {node: number for number, node in enumerate(nx.topological_sort(graph))}

    def _between(self, nodes: set[int]) -> set[int]:
        """Return these nodes and the nodes on paths from one of them to another."""
        position, after, before = self.position, self.after, self.before
        last = max(position[node] for node in nodes)
        behind = _reached(nodes, lambda node: [one for one in after[node] if position[one] <= last])
        return _reached(nodes, lambda node: [one for one in before[node] if one in behind])

    def nest(self, loops: Sequence[NaturalLoop], changed: Sequence[NaturalLoop]) -> None:
        """Extend each loop by the nodes between its nodes, and by the bodies of the loops inside it.

        `changed` are the loops that are not complete yet.
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
                continue  # there is no other loop to wait for
            within = self.graph if outer is None else self.graph.subgraph(outer.body)
            replaced = {node: -1 - number for number in inner for node in loops[number].body}
            wholes: DiGraph[int] = nx.DiGraph()
            wholes.add_edges_from((replaced.get(u, u), replaced.get(v, v)) for u, v in within.edges)
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
    """Yield each loop that is inside another with that one."""
    begins = defaultdict[int, list[NaturalLoop]](list)
    for loop in loops:
        for head in loop.heads:
            begins[head].append(loop)
    for outer in loops:
        inside = {inner: None for head in begins.keys() & outer.body for inner in begins[head]}
        yield from ((inner, outer) for inner in inside if inner.is_in(outer))


def _alike(loops: Sequence[NaturalLoop]) -> Iterator[Edge]:
    """Yield the pairs of loops that share a node, neither of which is inside the other."""
    numbers = {loop: number for number, loop in enumerate(loops)}
    related = [
        1 << number for number in range(len(loops))
    ]  # the loops around each loop and inside it, as bits
    for inner, outer in _nested(loops):
        related[numbers[inner]] |= 1 << numbers[outer]
        related[numbers[outer]] |= 1 << numbers[inner]
    at = defaultdict[int, int](int)  # the loops around a node, as bits
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
    """Yield the numbers below the count in groups: those of a pair are in one group."""
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
