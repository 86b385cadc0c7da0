"""The passes of the compiler in order: examine, refuse, prune and lay out."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from dataflow.base.wording import listed
from dataflow.compiler.checks import check
from dataflow.compiler.graph import (
    CallAction,
    CollectAction,
    Graph,
    LoopAction,
    MapAction,
    Scope,
    Terminal,
    Vertex,
)
from dataflow.compiler.layout import lay_out, size_of
from dataflow.compiler.natural_loops import lift
from dataflow.compiler.resolution import MapSharing, resolve
from dataflow.compiler.scope_placement import find_own_lists, place
from dataflow.compiler.scopes import in_order, wires_of
from dataflow.core.functions import import_function
from dataflow.core.ports import PortKind
from dataflow.core.wiring import Reference
from dataflow.diagnostics.graphs import NOT_INSPECTED
from dataflow.diagnostics.wiring import TOO_MANY_NODES
from dataflow.errors import FlowInvalid
from dataflow.maximums import maximum

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dataflow.compiler.names import FindFunction, FindType
    from dataflow.compiler.plan import FlowPlan
    from dataflow.core.ports import OutPort
    from dataflow.core.wiring import Source, Wiring
    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = ["Compiled", "Pulled", "compile_flow", "compile_whole", "examine"]

#: The name of a pulled output inside the compiler; outputs of flows cannot have it.
PULLED: Final = "$pulled"
#: The maximum number of nodes of a flow that has subflows, ten times as many as have been run.
MOST_NODES: Final = maximum("NODES", 10_000_000)
#: The actions whose values results show.
SHOWN: Final = (CallAction, LoopAction, MapAction)


class Pulled(NamedTuple):
    """The source to evaluate of a flow (pull), and the name of the output made of it."""

    name: str
    source: Source


class Compiled(NamedTuple):
    """A compiled flow: its outputs as a flow around it sees them, and its plan."""

    name: str
    ports: Mapping[str, OutPort]
    opaque: Sequence[str]  # the names that could not be inspected
    laid_out: FlowPlan | None  # None if there are any

    @property
    def plan(self) -> FlowPlan:
        """The plan; raises FlowInvalid for a flow that cannot run."""
        if self.laid_out is None:
            raise FlowInvalid(self.name, [_not_inspected(self.opaque)])
        return self.laid_out


def examine(
    wiring: Wiring, find_type: FindType, find_function: FindFunction = import_function
) -> tuple[Graph, list[Vertex]]:
    """Resolve, place and check a whole flow; its problems are in the graph."""
    graph, ordered = _placed(wiring, find_type, find_function)
    find_own_lists(graph, ordered)
    check(graph, ordered)
    size = size_of(ordered)
    if size > MOST_NODES and size > len(ordered):  # what is wired node by node is there already
        problem = TOO_MANY_NODES(count=f"{size:,}", expected=f"at most {MOST_NODES:,}")
        graph.problems.append(problem.at(wiring.locate(())))
    return graph, ordered


def _placed(wiring: Wiring, find_type: FindType, find_function: FindFunction) -> tuple[Graph, list[Vertex]]:
    """Resolve and place a flow, again for as long as calls of `each` turn out to be one map (S7.1).

    Each round makes one map of two at least, so there are fewer rounds than calls.
    """
    sharing = MapSharing()
    while True:
        graph = resolve(wiring, find_type, find_function, sharing)
        if graph.round_edges:
            lift(graph)
        ordered = in_order(graph)
        place(graph, ordered)
        if not sharing.join(graph.meeting):
            return graph, ordered


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause the garbage collector, which would visit again and again what compiling keeps alive."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@_collector_paused()
def compile_whole(
    wiring: Wiring, find_type: FindType, find_function: FindFunction = import_function
) -> Compiled:
    """Compile a flow as far as it can be inspected; raises FlowInvalid with all its problems."""
    graph, ordered = examine(wiring, find_type, find_function)
    _refuse(graph)
    plan = None
    if not graph.opaque:
        if graph.round_edges:
            _show_lifted(graph)
        plan = lay_out(graph, ordered)
    return Compiled(wiring.name, graph.output_ports, tuple(graph.opaque), plan)


@_collector_paused()
def compile_flow(
    wiring: Wiring,
    find_type: FindType,
    find_function: FindFunction = import_function,
    *,
    pulled: Pulled | None = None,
) -> FlowPlan:
    """Compile a flow, or the dependencies of one source of its root, which is then its only output (S8.1).

    Raises FlowInvalid with all problems of the whole flow.
    """
    if pulled is None:
        return compile_whole(wiring, find_type, find_function).plan
    outputs = {**wiring.block.outputs, PULLED: pulled.source}
    wiring = replace(wiring, block=replace(wiring.block, outputs=outputs))
    graph, ordered = examine(wiring, find_type, find_function)
    _refuse(graph)
    if graph.opaque:
        raise FlowInvalid(wiring.name, [_not_inspected(graph.opaque)])
    graph.outputs = {pulled.name: graph.outputs[PULLED]}
    return lay_out(graph, _prune(graph, ordered))


def _refuse(graph: Graph) -> None:
    if graph.problems:
        raise FlowInvalid(graph.wiring.name, graph.problems_in_order)


def _not_inspected(opaque: Sequence[str]) -> Diagnostic:
    names = list(dict.fromkeys(opaque))
    return NOT_INSPECTED(names=listed(names, len(names)))


def _prune(graph: Graph, ordered: list[Vertex]) -> list[Vertex]:
    """Remove vertices that no output depends on from a placed graph; return the others, in order.

    Everything that a loop needs for its iterations is kept; of the outputs of loops and maps only those in
    use.
    """
    wanted: set[Terminal] = set()
    kept: set[Vertex] = set()
    todo = [*graph.outputs.values()]
    while todo:
        terminal = todo.pop()
        if terminal in wanted:
            continue
        wanted.add(terminal)
        owner = terminal.owner
        todo.extend(_left_from(terminal))
        vertex = owner.owner if isinstance(owner, Scope) else owner
        if isinstance(vertex, Vertex) and vertex not in kept:
            kept.add(vertex)
            todo.extend(_behind(vertex))
    for vertex in kept:
        _drop_outputs(vertex, wanted)
    graph.vertices = [vertex for vertex in graph.vertices if vertex in kept]
    return [vertex for vertex in ordered if vertex in kept]


def _behind(vertex: Vertex) -> Iterator[Terminal]:
    """Yield the dependencies of a vertex, and the vertex that opens the scope it fires in."""
    yield from wires_of(vertex)
    opener = vertex.fires_in.owner
    if opener is not None:
        yield Terminal(opener, "")
    if isinstance(vertex.action, LoopAction):
        yield from vertex.action.nexts.values()
        if vertex.action.test_wire is not None:
            yield vertex.action.test_wire


def _left_from(terminal: Terminal) -> Iterator[Terminal]:
    """Yield the sources of an output of a loop or map."""
    owner, port = terminal
    if not isinstance(owner, Vertex):
        return
    match owner.action:
        case LoopAction(results=wires) | MapAction(collects=wires):
            if port in wires:
                yield wires[port]
        case CollectAction(output=Terminal() as output):
            yield output
        case _:
            return


def _drop_outputs(vertex: Vertex, wanted: set[Terminal]) -> None:
    match vertex.action:
        case LoopAction(results=wires) | MapAction(collects=wires):
            for name in [name for name in wires if Terminal(vertex, name) not in wanted]:
                del wires[name]
        case _:
            return


def _show_lifted(graph: Graph) -> None:
    """Export the last value of each port from the loops around its node, so that results can show it.

    Ports that are read outside are exported already. Nodes of a map in a loop are not shown, nor loops in a
    map.
    """
    around: dict[Scope, list[_Shown]] = {}
    for vertex in graph.vertices:
        scope = vertex.scope
        if scope is None or not scope.is_lifted or not isinstance(vertex.action, SHOWN):
            continue
        if scope not in around:
            around[scope] = _around(graph, scope)
        for port in _ports(vertex) if around[scope] else ():
            wire = Terminal(vertex, port)
            name = wire.label  # in each of the loops
            for loop in around[scope]:
                if name not in loop.action.results:
                    loop.action.shown[name] = wire
                    loop.action.block.body.outputs[name] = loop.reference
                wire = Terminal(loop.vertex, name)


class _Shown(NamedTuple):
    """A loop whose values are shown outside."""

    vertex: Vertex
    action: LoopAction
    reference: Reference


def _ports(vertex: Vertex) -> list[str]:
    if vertex.is_lifted or (isinstance(vertex.action, MapAction) and not vertex.action.named):
        return []
    if isinstance(vertex.action, CallAction):
        ports = vertex.action.type.outputs.values()
        return [port.name for port in ports if port.kind is not PortKind.TOOLS]
    return list(vertex.output_names)


def _around(graph: Graph, innermost: Scope) -> list[_Shown]:
    """List the loops around a scope, innermost first; none if the scope is also inside a map."""
    loops: list[_Shown] = []
    scope: Scope | None = innermost
    while scope is not None and scope.is_lifted and scope.owner is not None:
        loop = scope.owner
        assert isinstance(loop.action, LoopAction), "feedback edges make loops"
        loops.append(_Shown(loop, loop.action, Reference(loop.id)))
        scope = loop.scope
    return loops if scope is graph.root else []
