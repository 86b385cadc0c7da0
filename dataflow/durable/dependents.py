"""Dependents: what comes to something else, or may, if some nodes do (S11.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.compiler.addresses import scopes_of
from dataflow.compiler.plan import Call, FlowOf, JoinOf, LoopOf, MapOf

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from dataflow.compiler.addresses import PlacedScope
    from dataflow.compiler.plan import Feed, FlowPlan, PlanNode

__all__ = ["dependents", "passed_inside", "readers_of"]


def dependents(plan: FlowPlan, changed: Collection[str], *, as_failures: bool = False) -> frozenset[str]:
    """Return the forms of all nodes that depend on those of these forms, themselves included: see `form_of`.

    A node depends on what it reads, by lazy ports and for its order too; what is inside a loop, a map or a
    flow node on what it reads of what its owner was given, and its owner, with what reads it, on all of it.
    Everything inside a loop depends on its test, and everything inside a changed owner on that. Forms
    that the flow does not have are passed over. With `as_failures` they are what has failed: what is inside
    them stands, and no other round follows the one that they are in.
    """
    failed = changed if as_failures else ()
    return _Spreading(scopes_of(plan), failed).spread(frozenset(changed))


class _Spreading:
    """Spreads a change from slot to node and from node to slot, each once."""

    def __init__(self, scopes: list[PlacedScope], failed: Collection[str] = ()) -> None:
        self.scopes = scopes
        self.failed = failed  # forms
        self.readers = [readers_of(scope) for scope in scopes]
        self.inner = [passed_inside(scope) for scope in scopes]
        self.nodes: set[tuple[int, int]] = set()  # scope and node
        self.slots: set[tuple[int, int]] = set()  # scope and slot
        self.whole: set[int] = set()  # scopes in which everything has changed
        self.todo: list[tuple[PlacedScope, int]] = []  # slots that are to be spread from

    def spread(self, changed: frozenset[str]) -> frozenset[str]:
        for scope in self.scopes:
            for node in scope.plan.nodes:
                if node.is_visible and scope.form_of(node) in changed:
                    self._add_node(scope, node)
                    if not self.failed:
                        self._add_inside(scope, node)
        while self.todo:
            self._spread_slot(*self.todo.pop())
        found = [(self.scopes[number], self.scopes[number].plan.nodes[index]) for number, index in self.nodes]
        return frozenset(scope.form_of(node) for scope, node in found if node.is_visible)

    def _add_node(self, scope: PlacedScope, node: PlanNode) -> None:
        """Note that a node may come to something else; so may those around it."""
        if (scope.number, node.index) in self.nodes:
            return
        self.nodes.add((scope.number, node.index))
        for slot in node.outputs.values():
            self._add_slot(scope, slot)

    def _add_slot(self, scope: PlacedScope, slot: int) -> None:
        if (scope.number, slot) not in self.slots:
            self.slots.add((scope.number, slot))
            self.todo.append((scope, slot))

    def _add_inside(self, scope: PlacedScope, node: PlanNode) -> None:
        """Note that everything inside a node may come to something else."""
        todo = [scope.children[node.index]] if node.index in scope.children else []
        while todo:
            inner = todo.pop()
            if inner.number not in self.whole:
                self.whole.add(inner.number)
                todo.extend(inner.children.values())
                for one in inner.plan.nodes:
                    self._add_node(inner, one)

    def _spread_slot(self, scope: PlacedScope, slot: int) -> None:
        nodes = scope.plan.nodes
        for index in self.readers[scope.number].get(slot, ()):
            self._add_node(scope, nodes[index])
        for inner, own in self.inner[scope.number].get(slot, ()):
            self._add_slot(inner, own)
        if scope.parent is None or scope.owner is None:
            return
        self._add_node(scope.parent, scope.owner)
        if isinstance(scope.owner.action, LoopOf):
            self._spread_round(scope, scope.owner, scope.owner.action, slot)

    def _spread_round(self, body: PlacedScope, owner: PlanNode, loop: LoopOf, slot: int) -> None:
        """Go on to the next round: the value may be carried into it, or decide whether there is one."""
        if any(form == body.form or form.startswith(f"{body.form}/") for form in self.failed):
            return
        for first, following in loop.carried.values():
            if following == slot:
                self._add_slot(body, first)
        if slot == loop.test and body.parent is not None:
            self._add_inside(body.parent, owner)


def readers_of(scope: PlacedScope) -> dict[int, list[int]]:
    """List by slot the nodes that read it."""
    readers: dict[int, list[int]] = {}
    for node in scope.plan.nodes:
        for feed in node.feeds:
            for slot in feed.slots:
                readers.setdefault(slot, []).append(node.index)
    return readers


def passed_inside(scope: PlacedScope) -> dict[int, list[tuple[PlacedScope, int]]]:
    """List by slot where the scopes inside see its value."""
    passed: dict[int, list[tuple[PlacedScope, int]]] = {}
    for slot, seen in scope.plan.exports.items():
        passed.setdefault(slot, []).extend((scope.children[owner], own) for owner, own in seen)
    for index, inner in scope.children.items():
        for slot, own in _given(scope.plan.nodes[index]):
            passed.setdefault(slot, []).append((inner, own))
    return passed


def _given(node: PlanNode) -> Iterator[tuple[int, int]]:
    """Yield each slot that a node gives to its body as a parameter, with the parameter's slot."""
    match node.action:
        case LoopOf(body=body, carried=carried):
            pairs: Iterable[tuple[int, Feed | int]] = [
                (body.parameters[feed.port], feed) for feed in node.feeds if feed.port in carried
            ]
        case MapOf(lists=lists):
            pairs = lists.items()
        case FlowOf(inputs=inputs):
            pairs = inputs.items()
        case Call() | JoinOf():
            pairs = ()
    for own, feed in pairs:
        if not isinstance(feed, int):
            for slot in feed.slots:
                yield slot, own
