"""Order the vertices, and find the scope of each terminal."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from dataflow.base.wording import MOST_CHOICES
from dataflow.compiler.graph import (
    CallAction,
    CollectAction,
    Constant,
    Graph,
    LoopAction,
    MapAction,
    Scope,
    Terminal,
    Vertex,
)
from dataflow.diagnostics.graphs import CYCLE

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "EdgeTracer",
    "body_of",
    "every_wire",
    "in_order",
    "resolved",
    "scope_of",
    "wires_of",
    "wires_within",
]


def wires_of(vertex: Vertex) -> Iterator[Terminal]:
    """Yield the edges into a vertex, without the test and next values of a loop."""
    for given in vertex.inputs.values():
        yield from given.wires
    if isinstance(vertex.action, CollectAction):
        yield vertex.action.source


def every_wire(graph: Graph) -> Iterator[Terminal]:
    """Yield all edges of a graph, and the sources of loops, maps and its outputs."""
    yield from graph.outputs.values()
    for vertex in graph.vertices:
        for given in vertex.inputs.values():
            yield from given.wires
        match vertex.action:
            case CallAction():
                pass
            case CollectAction(source=source):
                yield source
            case MapAction(named=False, collects=collects):
                yield from collects.values()
            case _:
                yield from wires_within(vertex)


def wires_within(owner: Vertex) -> Iterator[Terminal]:
    """Yield what a loop or map in block form reads of its body at the end of an iteration or item."""
    match owner.action:
        case LoopAction(test_wire=test, nexts=nexts, results=results):
            yield from [test] if test is not None else []
            yield from nexts.values()
            yield from results.values()
        case MapAction(named=True, collects=collects):
            yield from collects.values()
        case _:
            return


def body_of(owner: Vertex) -> Scope | None:
    """Return the scope that a loop or map opens; None for any other vertex."""
    match owner.action:
        case LoopAction(scope=scope) | MapAction(scope=scope):
            return scope
        case _:
            return None


def in_order(graph: Graph) -> list[Vertex]:
    """Sort the vertices so that sources come before their readers; a cycle is a problem (S6.3).

    Sources outside of the body of a loop or map come before its owner, so that the scope of the owner can
    be derived from them.
    """
    after: dict[Vertex, list[Vertex]] = defaultdict(list)
    waits = dict.fromkeys(graph.vertices, 0)
    tracer = EdgeTracer()
    for vertex in graph.vertices:
        home, distant = vertex.home, []
        for given in vertex.inputs.values():
            for wire in given.wires:
                source = wire.owner
                if (
                    isinstance(source, Vertex)
                    and source.home is home
                    and isinstance(source.action, CallAction)
                ):
                    after[source].append(vertex)  # a node of the same block, the common case
                    waits[vertex] += 1
                else:
                    distant.append(wire)
        if distant or home.owner is not None or not isinstance(vertex.action, CallAction):
            for earlier, later in _precedences(vertex, distant, tracer):
                after[earlier].append(later)
                waits[later] += 1
    ordered = [vertex for vertex in graph.vertices if not waits[vertex]]
    for vertex in ordered:  # grows during the iteration
        for later in after.get(vertex, ()):
            waits[later] -= 1
            if not waits[later]:
                ordered.append(later)
    if len(ordered) < len(graph.vertices):
        left = {vertex: after.get(vertex, []) for vertex in graph.vertices if waits[vertex]}
        graph.problem(CYCLE(nodes=_cycle(left)), next(iter(left)).spot)
        graph.circling.update(left)
        ordered.extend(left)  # they are checked all the same, as far as possible
    return ordered


def _precedences(
    vertex: Vertex, wires: list[Terminal], tracer: EdgeTracer
) -> Iterator[tuple[Vertex, Vertex]]:
    """Yield the pairs of vertices, earlier and later, that result from a vertex and these edges into it."""
    if vertex.home.owner is not None:
        yield vertex.home.owner, vertex
    if isinstance(vertex.action, CollectAction):
        wires = [*wires, vertex.action.source]
    for wire in wires:
        for source in tracer.behind(wire):
            yield source, vertex
            if (owner := tracer.entered(vertex, source)) is not None:
                yield source, owner
    body = body_of(vertex)
    for wire in wires_within(vertex):
        for source in tracer.behind(wire):
            if source is not vertex and body not in tracer.around(source.home):
                yield source, vertex


def _cycle(after: dict[Vertex, list[Vertex]]) -> str:
    import networkx as nx  # only for the message; it loads slowly

    cycle = [edge[0] for edge in nx.find_cycle(nx.DiGraph(after))]
    names = _closed([vertex.id for vertex in cycle if _is_named(vertex)])
    rest = len(names) - MOST_CHOICES
    shown = names if rest <= 0 else [*names[:MOST_CHOICES], f"{rest:,} more"]
    return " -> ".join([*shown, names[0]])


def _closed(names: list[str]) -> list[str]:
    """Close a cycle at its first repeated name: a loop made of feedback edges is named like its head."""
    following = [*names[1:], names[0]]
    names = [name for name, other in zip(names, following, strict=True) if name != other] or names[:1]
    first: dict[str, int] = {}
    for position, name in enumerate(names):
        if name in first:
            return names[first[name] : position]
        first[name] = position
    return names


def _is_named(vertex: Vertex) -> bool:
    """Return whether a message about a cycle names a vertex: a map of `each` is named like its reader."""
    match vertex.action:
        case CollectAction() | MapAction(named=False):
            return False
        case _:
            return True


def resolved(terminal: Terminal) -> Terminal:
    """Follow a `collect` to the output of the map that it closes."""
    owner = terminal.owner
    while (
        isinstance(owner, Vertex)
        and isinstance(owner.action, CollectAction)
        and owner.action.output is not None
    ):
        terminal = owner.action.output
        owner = terminal.owner
    return terminal


def scope_of(terminal: Terminal) -> Scope | None:
    """Return the scope of a terminal; None for a constant, which belongs to all scopes."""
    owner = terminal.owner
    if isinstance(owner, Vertex) and isinstance(owner.action, CallAction):
        return owner.scope
    owner = resolved(terminal).owner
    match owner:
        case Scope():
            return owner
        case Vertex():
            return owner.scope
        case Constant():
            return None


class EdgeTracer:
    """Follows the edges of one graph across blocks, with cached results."""

    def __init__(self) -> None:
        self._around: dict[Scope, frozenset[Scope]] = {}
        self._begins: dict[Terminal, Terminal] = {}  # the sources of outputs of lifted loops

    def around(self, home: Scope) -> frozenset[Scope]:
        """Return a block and those around it."""
        found = self._around.get(home)
        if found is None:
            found = self._around[home] = frozenset(_homes(home))
        return found

    def behind(self, terminal: Terminal) -> list[Vertex]:
        """List the vertices that must come before a reader of this terminal.

        For an output of a loop or map these are its owner and the sources of the output, at any depth. Of
        lifted loops only the innermost, which comes after all loops around it.
        """
        found: list[Vertex] = []
        todo, seen = [terminal], set[Terminal]()
        while todo:
            owner, port = current = self._begin(todo.pop())
            if current in seen:
                continue
            seen.add(current)
            match owner:
                case Vertex():
                    found.append(owner)
                    if isinstance(owner.action, LoopAction) and port in owner.action.results:
                        todo.append(owner.action.results[port])
                    elif isinstance(owner.action, MapAction) and port in owner.action.collects:
                        todo.append(owner.action.collects[port])
                case Scope(owner=Vertex() as opener):
                    found.append(opener)
                case _:
                    pass
        return found

    def _begin(self, terminal: Terminal) -> Terminal:
        """Follow outputs of lifted loops inwards to their sources."""
        passed: list[Terminal] = []
        while terminal not in self._begins:
            owner = terminal.owner
            if not (isinstance(owner, Vertex) and owner.is_lifted and isinstance(owner.action, LoopAction)):
                break
            if terminal.port not in owner.action.results:
                break
            passed.append(terminal)
            terminal = owner.action.results[terminal.port]
        begin = self._begins.get(terminal, terminal)
        self._begins.update(dict.fromkeys(passed, begin))
        return begin

    def entered(self, reader: Vertex, source: Vertex) -> Vertex | None:
        """Return the owner of the outermost body that an edge from the source enters on its way inwards.

        Those further inside come after it.
        """
        around, home = self.around(source.home), reader.home
        found = None
        while home not in around and home.owner is not None:
            found, home = home.owner, home.owner.home
        return None if found is source else found


def _homes(home: Scope) -> Iterator[Scope]:
    """Yield this block and the declared blocks around it, innermost first."""
    yield home
    while home.owner is not None:
        home = home.owner.home
        yield home
