"""How a workflow is gone through: its loops, which edges exclude one another, and where several arrive."""

from __future__ import annotations

from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from itertools import combinations, product
from typing import TYPE_CHECKING, Final

from dataflow.authoring import Gate, GraphLoop, find_gates, find_loops, reachable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dataflow_formats.agentflow.file import EdgePart, Workflow

__all__ = ["Plan", "planned"]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known where a value is: the exits that have been taken, and the maps over edges around it."""

    taken: Mapping[str, frozenset[str]] = field(default_factory=dict)  # by node that branches
    maps: tuple[str, ...] = ()

    def excludes(self, other: Known) -> bool:
        """Tell whether only one of two can be, in one round and one frame."""
        both = self.taken.keys() & other.taken.keys()
        return any(self.taken[node].isdisjoint(other.taken[node]) for node in both)

    def without(self, nodes: Iterable[str]) -> Known:
        """Forget the exits of nodes."""
        forgotten = set(nodes)
        kept = {node: exits for node, exits in self.taken.items() if node not in forgotten}
        return Known(kept, self.maps)


NOTHING: Final = Known()


@dataclass(slots=True)
class Plan:
    """The edges that are followed, and by their numbers what they come to.

    `meeting` are the nodes at which several can arrive, `again` those at which several can begin a new round.
    Of those in `tangled`, told with the reason, no run for each arrival can be made. `each_round` are edges
    out of a loop that are followed while it goes on. `gates` are by the heads behind them, those of which a
    round can begin at several heads are `at_once`.
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
        """Return the edges to a node that begin no new round."""
        numbers = range(len(self.edges))
        return [number for number in numbers if self.edges[number].target == node and number not in self.back]

    def heads_beside(self, node: str) -> tuple[str, ...]:
        """Return all heads behind the gate of a node, the node alone where it has none."""
        gate = self.gates.get(node)
        return (node,) if gate is None else gate.heads

    def back_to(self, node: str) -> list[int]:
        """Return the edges to a node that begin a new round."""
        return [number for number in sorted(self.back) if self.edges[number].target == node]


def planned(workflow: Workflow, *, each: bool) -> Plan:
    """Plan a workflow; `each` says that a node at which several arrive runs once for each of them."""
    start = workflow.start.id
    come_to = reachable(start, [(edge.source, edge.target) for edge in workflow.edges])
    edges = [edge for edge in workflow.edges if edge.source in come_to]
    below = {edge.target for edge in workflow.below}
    found = find_loops(start, [(edge.source, edge.target) for edge in edges])
    back = frozenset(number for loop in found for number in loop.back)
    unreached = frozenset(workflow.nodes) - come_to - below
    before = find_gates((loop.heads for loop in found), workflow.nodes)
    at_once: frozenset[Gate] = frozenset()
    while True:  # until what was taken for alternatives are some
        planning = _Planning(workflow, Plan(edges, unreached, found, back, before, at_once), each)
        plan = planning.plan()
        if not (more := planning.begun_at_once()):
            return plan
        at_once |= more


class _Planning:
    def __init__(self, workflow: Workflow, plan: Plan, each: bool) -> None:
        self._workflow = workflow
        self._plan = plan
        self._each = each
        self._known: dict[str, Known] = {}
        self._members = [set(loop.nodes) for loop in plan.loops]

    def plan(self) -> Plan:
        """Look at each node behind those that lead to it."""
        plan = self._plan
        order = self._order()
        for node in order:
            self._known[node] = self._arriving(node)
        for node in order:
            if self._meet(plan.back_to(node)):
                plan.again.add(node)
                plan.tangled[node] = "several connections can begin a new round of its loop"
        return plan

    def _order(self) -> list[str]:
        """Return the nodes, each behind those that lead to it, and behind all of a loop that leads to it."""
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

    def begun_at_once(self) -> frozenset[Gate]:
        """Return gates at which a round can begin at several heads, though it was taken not to."""
        others = frozenset(self._plan.gates.values()) - self._plan.at_once
        return frozenset(gate for gate in others if self._begins_at_once(gate))

    def _begins_at_once(self, gate: Gate) -> bool:
        plan = self._plan
        return any(
            not self._on(number).excludes(self._on(beside))
            for one, other in combinations(gate.heads, 2)
            for to in (plan.into, plan.back_to)
            for number, beside in product(to(one), to(other))
        )

    def _arriving(self, node: str) -> Known:
        """Tell what is known at a node, and note whether several arrive there."""
        plan = self._plan
        into = plan.into(node)
        found, goes_on = self._found(node)
        if self._meet(into) or (goes_on and node in plan.tangled and len(into) > 1):
            plan.meeting.add(node)
            if any(node in members for members in self._members):
                plan.tangled.setdefault(node, "it is part of a loop")
            if self._each and node not in plan.tangled:
                return self._opened(node, found)
        gate = plan.gates.get(node)
        return _either(found) if gate is None else self._behind(gate, node)

    def _found(self, node: str) -> tuple[list[Known], bool]:
        """Tell what is known on each edge to a node, and whether some come out of a loop that goes on."""
        into = self._plan.into(node)
        lasting = {number: left for number in into if (left := self._going_on(number))}
        if lasting:
            return [self._leaving(node, number, lasting) for number in into], True
        return [self._on(number) for number in into], False

    def _behind(self, gate: Gate, node: str) -> Known:
        """Tell what is known at a head: what is on each way to its gate, and that this one was taken."""
        found = [known for head in gate.heads for known in self._found(head)[0]]
        if len({known.maps for known in found}) > 1:
            self._plan.tangled.setdefault(node, "its loop is entered by such runs and by others")
        known = _either(found)
        if gate in self._plan.at_once:
            return known
        return Known({**known.taken, gate.id: frozenset([node])}, known.maps)

    def _on(self, number: int) -> Known:
        """Tell what is known on an edge."""
        edge = self._plan.edges[number]
        known = self._known[edge.source]
        if not self._workflow.nodes[edge.source].branches:
            return known
        return Known({**known.taken, edge.source: frozenset([edge.port])}, known.maps)

    def _meet(self, numbers: Sequence[int]) -> bool:
        """Tell whether several of the edges can bring something."""
        known = [self._on(number) for number in numbers]
        return any(not one.excludes(other) or one.maps != other.maps for one, other in combinations(known, 2))

    def _going_on(self, number: int) -> list[int]:
        """Return the loops that an edge leaves, and that may go on all the same."""
        edge, on = self._plan.edges[number], self._on(number)
        return [
            place
            for place, (loop, members) in enumerate(zip(self._plan.loops, self._members, strict=True))
            if edge.source in members and edge.target not in members
            if not all(on.excludes(self._on(back)) for back in loop.back)
        ]

    def _leaving(self, node: str, number: int, lasting: Mapping[int, Sequence[int]]) -> Known:
        """Take a node into the loop that it is told of in each round, if there is one such loop."""
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
            return self._on(number)
        plan.tangled[node] = "a loop that goes on leads to it"
        return self._on(number).without(one for place in places for one in self._members[place])

    def _opened(self, node: str, found: Sequence[Known]) -> Known:
        """Tell what is known in a run of a node for each arrival."""
        maps = _shared([known.maps for known in found])
        inner = {one for one, known in self._known.items() if known.maps != maps[: len(known.maps)]}
        return Known(_either(found).without(inner).taken, (*maps, node))


def _either(found: Sequence[Known]) -> Known:
    """Tell what is known where one of several has come."""
    if not found:
        return NOTHING
    first, *others = found
    nodes = [node for node in first.taken if all(node in known.taken for known in others)]
    return Known(
        {node: frozenset().union(*(known.taken[node] for known in found)) for node in nodes}, first.maps
    )


def _shared(maps: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the maps that all have in common, from outside."""
    shared: list[str] = []
    for level in zip(*maps, strict=False):
        if len(set(level)) > 1:
            break
        shared.append(level[0])
    return tuple(shared)
