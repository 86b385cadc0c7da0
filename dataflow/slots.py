"""Slots: where in a frame each value of a scope stands, and how it is seen from the scopes inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataflow.graph import CollectAction, Constant, Graph, LoopAction, MapAction, Scope, Terminal, Vertex
from dataflow.plan import ScopePlan
from dataflow.ports import DONE, ERROR
from dataflow.scoping import resolved, scope_of, wires_of, wires_within
from dataflow.tokens import UNSETTLED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


__all__ = ["Slots"]


class Slots:
    """Numbers the nodes and values of every scope of a graph."""

    def __init__(self, graph: Graph, ordered: list[Vertex]) -> None:
        self.graph = graph
        self.vertices = [vertex for vertex in ordered if not isinstance(vertex.action, CollectAction)]
        self.members: dict[Scope, list[Vertex]] = {graph.root: []}
        for vertex in self.vertices:
            self.members.setdefault(vertex.fires_in, []).append(vertex)
            if isinstance(vertex.action, LoopAction | MapAction):
                self.members.setdefault(vertex.action.scope, [])
        self.plans = {scope: ScopePlan() for scope in self.members}
        self.index: dict[Vertex, int] = {}
        self.uses: dict[tuple[Scope, int], int] = {}
        self.imported: dict[tuple[Scope, int], list[tuple[Scope, int]]] = {}  # where a slot is seen inside
        self.failure_uses: dict[tuple[Scope, int], int] = {}  # by races and Failure ports
        self._known: dict[tuple[Scope, Terminal], int] = {}
        used = {resolved(wire) for wire in self._all_wires()}
        for scope, members in self.members.items():
            members.sort(key=lambda vertex: vertex.order)
            self._number(scope, members, used)

    def _all_wires(self) -> Iterator[Terminal]:
        yield from self.graph.outputs.values()
        for vertex in self.graph.vertices:
            yield from wires_of(vertex)
            yield from wires_within(vertex)

    def _number(self, scope: Scope, members: list[Vertex], used: set[Terminal]) -> None:
        for name in scope.parameters:
            slot = self._known[scope, Terminal(scope, name)] = self.new(scope, name)
            self.plans[scope].parameters[name] = slot
        for index, vertex in enumerate(members):
            self.index[vertex] = index
            for name in _ports_of(vertex):
                if name not in (DONE, ERROR) or Terminal(vertex, name) in used:
                    self._known[scope, Terminal(vertex, name)] = self.new(scope, f"{vertex.id}.{name}")

    def new(self, scope: Scope, name: str, initial: Any = UNSETTLED) -> int:
        """Add a slot to a scope; a constant stands in it from the start."""
        plan = self.plans[scope]
        plan.initial.append(initial)
        plan.names.append(name)
        return len(plan.initial) - 1

    def outputs(self, vertex: Vertex) -> dict[str, int]:
        """Return the slots of a vertex's output ports."""
        keys = [(name, (vertex.fires_in, Terminal(vertex, name))) for name in _ports_of(vertex)]
        return {name: self._known[key] for name, key in keys if key in self._known}

    def read(self, wire: Terminal, scope: Scope) -> int:
        """Return the slot that a wire is read from in a scope, importing it inwards; counts the use."""
        slot = self._find(resolved(wire), scope)
        self._use(scope, slot)
        return slot

    def _find(self, terminal: Terminal, scope: Scope) -> int:
        known = self._known.get((scope, terminal))
        if known is not None:
            return known
        if isinstance(terminal.owner, Constant):
            slot = self._known[scope, terminal] = self.new(scope, "a constant", terminal.owner.value)
            return slot
        home = scope_of(terminal)
        inwards = []
        for inner in scope.around():
            if inner is home:
                break
            inwards.append(inner)
        assert home is not None, "only constants have no scope"
        slot = self._known[home, terminal]
        for inner in reversed(inwards):
            slot = self._import(terminal, inner, slot)
        return slot

    def _import(self, terminal: Terminal, scope: Scope, outer: int) -> int:
        known = self._known.get((scope, terminal))
        if known is not None:
            return known
        assert scope.owner is not None, "the root imports nothing"
        assert scope.parent is not None, "as above"
        parent = self.plans[scope.parent]
        own = self._known[scope, terminal] = self.new(scope, parent.names[outer])
        self.plans[scope].imports += ((outer, own),)
        parent.exports[outer] = (*parent.exports.get(outer, ()), (self.index[scope.owner], own))
        self.imported.setdefault((scope.parent, outer), []).append((scope, own))
        return own

    def is_used(self, scope: Scope, slot: int) -> bool:
        """Tell whether anything reads a value, here or inside."""
        return (scope, slot) in self.uses or (scope, slot) in self.imported

    def is_shared(self, scope: Scope, slot: int) -> bool:
        """Tell whether a value has several holders; each frame of an inner scope that sees it is one."""
        return self.uses.get((scope, slot), 0) > 1 or (scope, slot) in self.imported

    def failure_is_taken(self, scope: Scope, slots: Iterable[int]) -> bool:
        """Tell whether slots are used, and every use, also inside, is a race or takes a Failure (S9.4)."""
        todo = [(scope, slot) for slot in slots]
        is_used = False
        for place in todo:  # grows while it is walked
            uses = self.uses.get(place, 0)
            if uses != self.failure_uses.get(place, 0):
                return False
            is_used = is_used or uses > 0
            todo.extend(self.imported.get(place, ()))
        return is_used

    def _use(self, scope: Scope, slot: int) -> None:
        self.uses[scope, slot] = self.uses.get((scope, slot), 0) + 1


def _ports_of(vertex: Vertex) -> list[str]:
    names = vertex.action.collects if isinstance(vertex.action, MapAction) else vertex.output_names
    return [*names, DONE, ERROR]
