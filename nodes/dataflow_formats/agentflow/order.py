"""The execution order of a workflow: its loops, exclusive edges, and nodes with several arrivals."""

from __future__ import annotations

from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from itertools import combinations, product
from typing import TYPE_CHECKING, Final

from dataflow.authoring import Gate, GraphLoop, find_gates, find_loops, reachable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dataflow_formats.agentflow.file import EdgePart, Workflow

__all__ = ["Plan", "plan_workflow"]


@dataclass(slots=True)
class Plan:
    """The edges that are followed, numbered from 0, and how they are executed.

    unreached: the nodes that no edge leads to from the start
    back: the edges that begin a new iteration of a loop
    gates: the gates of loops with several heads, by head
    at_once: the gates at which an iteration can begin at several heads concurrently
    meeting: the nodes at which several values can arrive
    again: the nodes at which several edges can begin a new iteration
    each_round: the edges out of a loop that are followed in each iteration
    tangled: the nodes that cannot run once for each arrival, with the reason
    """

    edges: Sequence[EdgePart]
    unreached: frozenset[str]
    loops: Sequence[GraphLoop]
    back: frozenset[int]
    gates: Mapping[str, Gate]
    at_once: frozenset[Gate] = frozenset()
    meeting: set[str] = field(default_factory=set)
    again: set[str] = field(default_factory=set)
    each_round: set[int] = field(default_factory=set)
    tangled: dict[str, str] = field(default_factory=dict)

    def into(self, node: str) -> list[int]:
        """Return the edges to a node that do not begin a new iteration."""
        numbers = range(len(self.edges))
        return [number for number in numbers if self.edges[number].target == node and number not in self.back]

    def heads_beside(self, node: str) -> tuple[str, ...]:
        """Return all heads of the gate of a node, the node alone if it has no gate."""
        gate = self.gates.get(node)
        return (node,) if gate is None else gate.heads

    def back_to(self, node: str) -> list[int]:
        """Return the edges to a node that begin a new iteration."""
        return [number for number in sorted(self.back) if self.edges[number].target == node]


def plan_workflow(workflow: Workflow, *, each: bool) -> Plan:
    """Plan a workflow; with `each`, a node runs once for each arrival."""
    start = workflow.start.id
    reached = reachable(start, [(edge.source, edge.target) for edge in workflow.edges])
    edges = [edge for edge in workflow.edges if edge.source in reached]
    below = {edge.target for edge in workflow.below}
    found = find_loops(start, [(edge.source, edge.target) for edge in edges])
    back = frozenset(number for loop in found for number in loop.back)
    unreached = frozenset(workflow.nodes) - reached - below
    before = find_gates((loop.heads for loop in found), workflow.nodes)
    at_once: frozenset[Gate] = frozenset()
    while True:  # until all heads planned as alternatives are alternatives
        planner = _Planner(workflow, Plan(edges, unreached, found, back, before, at_once), each)
        plan = planner.plan()
        if not (more := planner.begins_at_once()):
            return plan
        at_once |= more


class _Planner:
    """Completes a plan: what is known at each node decides how its arrivals are handled."""

    def __init__(self, workflow: Workflow, plan: Plan, each: bool) -> None:
        self._workflow = workflow
        self._plan = plan
        self._each = each
        self._known: dict[str, Known] = {}
        self._members = [set(loop.nodes) for loop in plan.loops]

    def plan(self) -> Plan:
        """Visit each node after its predecessors."""
        plan = self._plan
        order = self._order()
        for node in order:
            self._known[node] = self._arriving(node)
        for node in order:
            if self._meets(plan.back_to(node)):
                plan.again.add(node)
                plan.tangled[node] = "several connections can begin a new iteration of its loop"
        return plan

    def _order(self) -> list[str]:
        """Return the nodes, each after its predecessors and after all nodes of a loop that leads to it."""
        plan = self._plan
        sorter: TopologicalSorter[str] = TopologicalSorter({self._workflow.start.id: ()})
        for number, edge in enumerate(plan.edges):
            if number in plan.back:
                sorter.add(edge.target)
                continue
            before = [edge.source]
            for loop in plan.loops:
                if edge.source in loop.nodes and edge.target not in loop.nodes:
                    before += [plan.edges[one].source for one in loop.back]
            for target in plan.heads_beside(edge.target):
                sorter.add(target, *before)
        return list(sorter.static_order())

    def begins_at_once(self) -> frozenset[Gate]:
        """Return further gates at which an iteration can begin at several heads concurrently."""
        others = frozenset(self._plan.gates.values()) - self._plan.at_once
        return frozenset(gate for gate in others if self._has_concurrent_heads(gate))

    def _has_concurrent_heads(self, gate: Gate) -> bool:
        plan = self._plan
        return any(
            not self._on_edge(number).excludes(self._on_edge(beside))
            for one, other in combinations(gate.heads, 2)
            for to in (plan.into, plan.back_to)
            for number, beside in product(to(one), to(other))
        )

    def _arriving(self, node: str) -> Known:
        """Return what is known at a node, and record whether several values can arrive there."""
        plan = self._plan
        into = plan.into(node)
        found, continues = self._on_edges(node)
        if self._meets(into) or (continues and node in plan.tangled and len(into) > 1):
            plan.meeting.add(node)
            if any(node in members for members in self._members):
                plan.tangled.setdefault(node, "it is part of a loop")
            if self._each and node not in plan.tangled:
                return self._opened(node, found)
        gate = plan.gates.get(node)
        return _common(found) if gate is None else self._at_head(gate, node)

    def _on_edges(self, node: str) -> tuple[list[Known], bool]:
        """Return what is known on each edge to a node, and whether an edge leaves a loop that continues."""
        into = self._plan.into(node)
        lasting = {number: left for number in into if (left := self._continuing(number))}
        if lasting:
            return [self._leaving(node, number, lasting) for number in into], True
        return [self._on_edge(number) for number in into], False

    def _at_head(self, gate: Gate, node: str) -> Known:
        """Return what is known at a head: what the edges to its gate share, and that this head was taken."""
        found = [known for head in gate.heads for known in self._on_edges(head)[0]]
        if len({known.maps for known in found}) > 1:
            self._plan.tangled.setdefault(node, "its loop is entered by such runs and by others")
        known = _common(found)
        if gate in self._plan.at_once:
            return known
        return Known({**known.taken, gate.id: frozenset([node])}, known.maps)

    def _on_edge(self, number: int) -> Known:
        """Return what is known on an edge."""
        edge = self._plan.edges[number]
        known = self._known[edge.source]
        if not self._workflow.nodes[edge.source].branches:
            return known
        return Known({**known.taken, edge.source: frozenset([edge.port])}, known.maps)

    def _meets(self, numbers: Sequence[int]) -> bool:
        """Return whether several of the edges can carry a value."""
        known = [self._on_edge(number) for number in numbers]
        return any(not one.excludes(other) or one.maps != other.maps for one, other in combinations(known, 2))

    def _continuing(self, number: int) -> list[int]:
        """Return the loops that an edge leaves and that may continue nevertheless."""
        edge, on = self._plan.edges[number], self._on_edge(number)
        return [
            place
            for place, (loop, members) in enumerate(zip(self._plan.loops, self._members, strict=True))
            if edge.source in members and edge.target not in members
            if not all(on.excludes(self._on_edge(back)) for back in loop.back)
        ]

    def _leaving(self, node: str, number: int, lasting: Mapping[int, Sequence[int]]) -> Known:
        """Include a node in the loop whose iterations it follows, if there is exactly one such loop."""
        plan = self._plan
        places = lasting.get(number, ())
        left = {place for places in lasting.values() for place in places}
        into = plan.into(node)
        outside = [
            loop for loop in plan.loops if plan.edges[number].source in loop.nodes and node not in loop.nodes
        ]
        is_plain = len(left) == 1 and not any(node in loop.nodes for loop in plan.loops) and len(outside) <= 1
        if is_plain and all(plan.edges[one].source in self._members[min(left)] for one in into):
            plan.each_round.update(lasting)
            if number == into[-1]:
                self._members[min(left)].add(node)
            return self._on_edge(number)
        plan.tangled[node] = "a loop that can continue leads to it"
        return self._on_edge(number).without(one for place in places for one in self._members[place])

    def _opened(self, node: str, found: Sequence[Known]) -> Known:
        """Return what is known in a node that runs once for each arrival."""
        maps = _common_maps([known.maps for known in found])
        inner = {one for one, known in self._known.items() if known.maps != maps[: len(known.maps)]}
        return Known(_common(found).without(inner).taken, (*maps, node))


@dataclass(frozen=True, slots=True)
class Known:
    """What is known at a point of the flow: the exits taken so far, and the enclosing maps over arrivals."""

    taken: Mapping[str, frozenset[str]] = field(default_factory=dict)  # by node that branches
    maps: tuple[str, ...] = ()

    def excludes(self, other: Known) -> bool:
        """Return whether at most one of two points is reached, in one iteration and scope instance."""
        both = self.taken.keys() & other.taken.keys()
        return any(self.taken[node].isdisjoint(other.taken[node]) for node in both)

    def without(self, nodes: Iterable[str]) -> Known:
        """Return a copy without the exits of the given nodes."""
        forgotten = set(nodes)
        kept = {node: exits for node, exits in self.taken.items() if node not in forgotten}
        return Known(kept, self.maps)


NOTHING: Final = Known()


def _common(found: Sequence[Known]) -> Known:
    """Return what all of several alternatives have in common."""
    if not found:
        return NOTHING
    first, *others = found
    nodes = [node for node in first.taken if all(node in known.taken for known in others)]
    return Known(
        {node: frozenset().union(*(known.taken[node] for known in found)) for node in nodes}, first.maps
    )


def _common_maps(maps: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the outermost maps that all have in common."""
    shared: list[str] = []
    for level in zip(*maps, strict=False):
        if len(set(level)) > 1:
            break
        shared.append(level[0])
    return tuple(shared)
