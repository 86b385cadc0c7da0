"""Sureness: which ports always bring a value (S5.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.graph import (
    CallAction,
    CollectAction,
    Constant,
    JoinAction,
    LoopAction,
    MapAction,
    Scope,
    Terminal,
    Vertex,
)
from dataflow.ports import ERROR
from dataflow.scoping import resolved, wires_of, wires_within

if TYPE_CHECKING:
    from dataflow.graph import Graph, Input

__all__ = ["Sureness"]


class Sureness:
    """Tells whether vertices and edges always bring a value; sources are noted before their readers."""

    def __init__(self, graph: Graph) -> None:
        self._sure: dict[Vertex, bool] = {}
        self._sure_carries: dict[Terminal, bool] = {}  # carried ports that begin with a value in any case
        wires = (wire for vertex in graph.vertices for wire in (*wires_of(vertex), *wires_within(vertex)))
        used = [wire.source for wire in (*wires, *graph.outputs.values())]
        self._routed = {owner for owner, port in used if port == ERROR}  # whose failures become skips (S9.3)

    def note(self, vertex: Vertex) -> None:
        """Tell of a vertex, once that is told of all it reads."""
        self._sure[vertex] = self._is_sure(vertex)
        if isinstance(vertex.action, LoopAction):
            for name, given in vertex.inputs.items():
                self._sure_carries[Terminal(vertex.action.scope, name)] = self._has_sure_edge(given)

    def _is_sure(self, vertex: Vertex) -> bool:
        match vertex.action:
            case CallAction(policy=policy, type=node_type):
                if node_type.is_opaque or not policy.is_sure or vertex in self._routed:
                    return False
                required = [given for given in vertex.inputs.values() if given.required]
                if required:
                    return all(self._has_sure_edge(given) for given in required)
                return not vertex.inputs or any(
                    self._has_sure_edge(given) for given in vertex.inputs.values()
                )
            case JoinAction():
                return self._has_sure_edge(vertex.inputs["sources"])
            case LoopAction() | MapAction():
                return vertex not in self._routed and all(
                    self._has_sure_edge(given) for given in vertex.inputs.values()
                )
            case CollectAction():
                return False  # never asked: edges lead to the map's output

    def _has_sure_edge(self, given: Input) -> bool:
        return any(self.is_sure_edge(wire.source) for wire in given.wires)

    def is_sure_edge(self, terminal: Terminal) -> bool:
        """Tell whether a terminal always brings a value, following what leaves loops."""
        seen: set[Terminal] = set()
        while True:
            owner, port = terminal = resolved(terminal)
            if terminal in seen:
                return False
            seen.add(terminal)
            match owner:
                case Constant():
                    return True
                case Scope():
                    return self._sure_carries.get(terminal, True)
                case Vertex(action=CallAction(type=node_type)):
                    declared = node_type.outputs.get(port)
                    is_conditional = port == ERROR or (declared is not None and declared.conditional)
                    return self._sure.get(owner, False) and not is_conditional
                case Vertex(action=LoopAction(test=test, finals=finals, results=results, alls=alls)):
                    if port in alls:
                        return self._sure.get(owner, False)
                    may_not_run = test is not None and test.kind == "while"
                    if not self._sure.get(owner, False) or (port in results and may_not_run):
                        return False
                    if port not in results:
                        return port in finals
                    terminal = results[port].source
                case _:
                    return self._sure.get(owner, False) and port != ERROR
