"""Sureness: which ports always bring a value (S5.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.compiler.graph import (
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
from dataflow.compiler.scoping import every_wire, resolved
from dataflow.core.ports import ERROR

if TYPE_CHECKING:
    from dataflow.compiler.graph import Graph, Input

__all__ = ["Sureness"]


class Sureness:
    """Tells whether vertices and edges always bring a value; sources are noted before their readers."""

    def __init__(self, graph: Graph) -> None:
        self._sure: set[Vertex] = set()
        self._sure_carries: dict[Terminal, bool] = {}  # carried ports that begin with a value in any case
        self.routed = {owner for owner, port in every_wire(graph) if port == ERROR}  # to skips (S9.3)

    def note(self, vertex: Vertex) -> None:
        """Tell of a vertex, once that is told of all it reads."""
        if self._is_sure(vertex):
            self._sure.add(vertex)
        if isinstance(vertex.action, LoopAction):
            for name, given in vertex.inputs.items():
                self._sure_carries[Terminal(vertex.action.scope, name)] = self._has_sure_edge(given)
            for name in vertex.action.scope.labels:  # no edge brings a value in every round
                self._sure_carries[Terminal(vertex.action.scope, name)] = False

    def _is_sure(self, vertex: Vertex) -> bool:
        match vertex.action:
            case CallAction(is_sure=is_sure):
                return is_sure and vertex not in self.routed and self._has_what_it_needs(vertex)
            case JoinAction():
                return self._has_sure_edge(vertex.inputs["sources"])
            case LoopAction() | MapAction():
                return vertex not in self.routed and all(
                    self._has_sure_edge(given) for given in vertex.inputs.values()
                )
            case CollectAction():
                return False  # never asked: edges lead to the map's output

    def _has_what_it_needs(self, vertex: Vertex) -> bool:
        """Tell whether each required port has a sure edge; without such ports one of those connected."""
        any_sure, any_required = not vertex.inputs, False
        for given in vertex.inputs.values():
            if self._has_sure_edge(given):
                any_sure = True
            elif given.required:
                return False
            any_required = any_required or given.required
        return any_sure or any_required

    def _has_sure_edge(self, given: Input) -> bool:
        for wire in given.wires:
            owner, port = wire
            if isinstance(owner, Vertex) and isinstance(owner.action, CallAction):  # as most owners are
                if owner in self._sure and port not in owner.action.conditional:
                    return True
            elif self.is_sure_edge(wire):
                return True
        return False

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
                case Vertex(action=CallAction(conditional=conditional)):
                    return owner in self._sure and port not in conditional
                case Vertex(action=LoopAction(test=test, finals=finals, results=results, alls=alls)):
                    if port in alls:
                        return owner in self._sure
                    may_not_run = test is not None and test.kind == "while"
                    if owner not in self._sure or (port in results and may_not_run):
                        return False
                    if port not in results:
                        return port in finals
                    terminal = results[port]
                case _:
                    return owner in self._sure and port != ERROR
