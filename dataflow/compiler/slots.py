"""Assign each value of a scope a slot, and import slots into the scopes inside."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from dataflow.compiler.graph import (
    CollectAction,
    Constant,
    Graph,
    JoinAction,
    LoopAction,
    MapAction,
    Scope,
    Terminal,
    Vertex,
    is_there,
)
from dataflow.compiler.plan import ScopePlan
from dataflow.compiler.scopes import every_wire, resolved, scope_of
from dataflow.core.ports import DONE, ERROR
from dataflow.core.states import UNSETTLED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

__all__ = ["Slots"]

OPENERS: Final = (LoopAction, MapAction)


class Slots:
    """Numbers the nodes and values of every scope of a graph."""

    def __init__(self, graph: Graph, ordered: list[Vertex]) -> None:
        self.graph = graph
        self.vertices = [vertex for vertex in ordered if not isinstance(vertex.action, CollectAction)]
        self.actions = {id(action): action for action in [vertex.action for vertex in self.vertices]}.values()
        self.members: dict[Scope, list[Vertex]] = {graph.root: []}
        for vertex in self.vertices:
            if (scope := vertex.fires_in) in self.members:
                self.members[scope].append(vertex)
            else:
                self.members[scope] = [vertex]
            if isinstance(vertex.action, OPENERS):
                self.members.setdefault(vertex.action.scope, [])
        self.plans = {scope: ScopePlan() for scope in self.members}
        self.uses: dict[Scope, list[int]] = {scope: [] for scope in self.members}  # by slot
        self.imported: dict[
            tuple[Scope, int], list[tuple[Scope, int]]
        ] = {}  # the slots inside that import a slot
        self.failure_uses: dict[tuple[Scope, int], int] = {}  # by races and Failure ports
        self._known: dict[tuple[Scope, Terminal], int] = {}
        self.joins: set[Vertex] = set()  # with a source that is there whatever branch is taken
        for vertex in self.vertices:
            if isinstance(vertex.action, JoinAction):
                wires = vertex.inputs["sources"].wires
                if any(is_there(wire, vertex.fires_in, self.joins) for wire in wires):
                    self.joins.add(vertex)
        used = {wire for wire in every_wire(graph) if wire.port in (DONE, ERROR)}
        for scope, members in self.members.items():
            members.sort(key=attrgetter("order"))
            self._number(scope, members, used)
        for scope in self.members:
            if scope.is_lifted and scope.owner is not None:
                for (
                    port,
                    slot,
                ) in scope.owner.slots.items():  # an output of the loop is named like the value inside
                    self.plans[scope.owner.fires_in].names[slot] = port

    def _number(self, scope: Scope, members: list[Vertex], used: set[Terminal]) -> None:
        special = {terminal.owner for terminal in used}  # vertices whose `$done` or `$error` is read
        for name in scope.parameters:
            slot = self._known[scope, Terminal(scope, name)] = self.new(scope, name)
            self.plans[scope].parameters[name] = slot
        plan, uses = self.plans[scope], self.uses[scope]
        initial, names = plan.initial, plan.names
        for index, vertex in enumerate(members):
            vertex.index = index
            own: dict[str, int] = {}
            vertex.slots = own
            ports = vertex.output_names
            if vertex in special or isinstance(vertex.action, MapAction):
                ports = _ports_of(vertex, used)
            for port in ports:
                own[port] = len(initial)
                initial.append(UNSETTLED)
                names.append(f"{vertex.id}.{port}")
                uses.append(0)

    def new(self, scope: Scope, name: str, initial: Any = UNSETTLED) -> int:
        """Add a slot to a scope, with a constant as its initial value if given."""
        plan = self.plans[scope]
        plan.initial.append(initial)
        plan.names.append(name)
        self.uses[scope].append(0)
        return len(plan.initial) - 1

    def read_all(self, wires: Sequence[Terminal], scope: Scope) -> tuple[list[int], list[str]]:
        """Return the slots that wires are read from in a scope, like `read`, and their names in messages."""
        names, uses = self.plans[scope].names, self.uses[scope]
        read, labels = [], []
        for wire in wires:
            owner = wire.owner
            if isinstance(owner, Vertex) and owner.scope is scope and not owner.label:
                slot = owner.slots[wire.port]  # of a node of the same scope, the common case
                labels.append(names[slot])
            else:
                slot = self._find(wire, scope)
                labels.append(wire.label)
            uses[slot] += 1
            read.append(slot)
        return read, labels

    def slot_of(self, wire: Terminal, scope: Scope) -> int:
        """Return the slot of a wire in a scope without counting a use."""
        return self._find(wire, scope)

    def read(self, wire: Terminal, scope: Scope) -> int:
        """Return the slot that a wire is read from in a scope, importing it inwards; counts the use."""
        slot = self._find(wire, scope)
        self.uses[scope][slot] += 1
        return slot

    def note_failure_uses(self, scope: Scope, slots: Iterable[int]) -> None:
        """Record that a race, or a port that takes failures, reads these slots."""
        for slot in slots:
            self.failure_uses[scope, slot] = self.failure_uses.get((scope, slot), 0) + 1

    def _find(self, terminal: Terminal, scope: Scope) -> int:
        terminal = resolved(terminal)
        owner = terminal.owner
        if isinstance(owner, Vertex) and owner.scope is scope:
            return owner.slots[terminal.port]
        known = self._known.get((scope, terminal))
        if known is not None:
            return known
        if isinstance(owner, Constant):
            slot = self._known[scope, terminal] = self.new(scope, "a constant", owner.value)
            return slot
        home = scope_of(terminal)
        inwards = []
        for inner in scope.around():
            if inner is home:
                break
            inwards.append(inner)
        assert home is not None, "only constants have no scope"
        slot = self._find(terminal, home)
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
        self.plans[scope].imports.append((outer, own))
        parent.exports.setdefault(outer, []).append((scope.owner.index, own))
        if outer in parent.indexed:
            self.plans[scope].indexed |= {own}
        self.imported.setdefault((scope.parent, outer), []).append((scope, own))
        return own

    def is_used(self, scope: Scope, slot: int) -> bool:
        """Return whether anything reads a value, here or inside."""
        return self.uses[scope][slot] > 0 or (scope, slot) in self.imported

    def is_shared(self, scope: Scope, slot: int) -> bool:
        """Return whether a value has several references; each inner scope instance that reads it is one."""
        return self.uses[scope][slot] > 1 or (scope, slot) in self.imported

    def failure_is_taken(self, scope: Scope, slots: Iterable[int]) -> bool:
        """Return whether slots are used, and every use, also inside, is a race or takes a Failure (S9.4)."""
        if not self.failure_uses:
            return False
        todo = [(scope, slot) for slot in slots]
        is_used = False
        for place in todo:  # grows during the iteration
            uses = self.uses[place[0]][place[1]]
            if uses != self.failure_uses.get(place, 0):
                return False
            is_used = is_used or uses > 0
            todo.extend(self.imported.get(place, ()))
        return is_used


def _ports_of(vertex: Vertex, used: Collection[Terminal]) -> list[str]:
    """List the output ports of a vertex that have a slot: `$done` and `$error` only if they are read."""
    names = vertex.action.collects if isinstance(vertex.action, MapAction) else vertex.output_names
    return [*names, *(port for port in (DONE, ERROR) if Terminal(vertex, port) in used)]
