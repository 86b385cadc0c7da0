"""Find the transitive dependents of nodes, in a compiled plan and in the journal of a run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from dataflow.compiler.addresses import address_of, opener_of, path_of, scopes_of
from dataflow.compiler.plan import Call, FlowOf, JoinOf, LoopOf, MapOf

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from dataflow.compiler.addresses import PlacedScope
    from dataflow.compiler.plan import Feed, FlowPlan, PlanNode
    from dataflow.durable.journal_view import Past

__all__ = ["ForkCone", "dependents", "reach_of"]

_FRAMES: Final = re.compile(r"\[[^\]]*\]|~\d+")  # ends of the paths of scope instances
_INSIDE: Final = re.compile(r"[/\[~]")  # ends of the paths of enclosing nodes


def dependents(plan: FlowPlan, changed: Collection[str], *, as_failures: bool = False) -> frozenset[str]:
    """Return the forms of the transitive dependents of nodes, given and returned as forms: see `form_of`.

    A node depends on everything it reads, including lazy ports and edges that only order it. A node inside a
    loop, map or subflow depends on what it reads of its owner's inputs; the owner, and everything that reads
    it, depends on all nodes inside. Everything inside a loop depends on the loop's test, and everything
    inside a changed owner on the owner. The given forms are included; forms that the flow does not have are
    ignored.

    With `as_failures` the given nodes have failed: nodes inside them remain valid, and no iteration follows
    the one that they failed in.
    """
    failed = changed if as_failures else ()
    return _Spreading(scopes_of(plan), failed).spread(frozenset(changed))


class _Spreading:
    """Spreads a change from slots to nodes and from nodes to slots, visiting each once."""

    def __init__(self, scopes: list[PlacedScope], failed: Collection[str] = ()) -> None:
        self.scopes = scopes
        self.failed = failed  # forms
        self.readers = [_readers_in(scope) for scope in scopes]
        self.inner = [_passed_inside(scope) for scope in scopes]
        self.nodes: set[tuple[int, int]] = set()  # scope and node
        self.slots: set[tuple[int, int]] = set()  # scope and slot
        self.whole: set[int] = set()  # scopes in which everything has changed
        self.todo: list[tuple[PlacedScope, int]] = []  # slots still to be spread from

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
        """Mark a node, and so the nodes around it, as possibly having another outcome."""
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
        """Mark everything inside a node as possibly having another outcome."""
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
        """Continue into the next iteration, which may receive the value or depend on it for its existence."""
        if any(form == body.form or form.startswith(f"{body.form}/") for form in self.failed):
            return
        for first, following in loop.carried.values():
            if following == slot:
                self._add_slot(body, first)
        if slot == loop.test and body.parent is not None:
            self._add_inside(body.parent, owner)


def _readers_in(scope: PlacedScope) -> dict[int, list[int]]:
    """Map each slot to the nodes that read it."""
    readers: dict[int, list[int]] = {}
    for node in scope.plan.nodes:
        for feed in node.feeds:
            for slot in feed.slots:
                readers.setdefault(slot, []).append(node.index)
    return readers


def _passed_inside(scope: PlacedScope) -> dict[int, list[tuple[PlacedScope, int]]]:
    """Map each slot to the inner scopes that see its value, with their own slots for it."""
    passed: dict[int, list[tuple[PlacedScope, int]]] = {}
    for slot, seen in scope.plan.exports.items():
        passed.setdefault(slot, []).extend((scope.children[owner], own) for owner, own in seen)
    for index, inner in scope.children.items():
        for slot, own in _given(scope.plan.nodes[index]):
            passed.setdefault(slot, []).append((inner, own))
    return passed


def _given(node: PlanNode) -> Iterator[tuple[int, int]]:
    """Yield each slot that a node passes to its body as a parameter, with the parameter's slot."""
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


@dataclass(frozen=True, slots=True)
class ForkCone:
    """The transitive dependents of a change in one run, by path.

    paths: firings, races, and the loops, maps and subflows around them
    whole: those loops, maps and subflows of which everything inside is affected
    rounds: for a loop whose test may decide differently, the number of iterations that still begin the same
    """

    paths: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    rounds: Mapping[str, int] = field(default_factory=dict)

    def has_whole(self, path: str) -> bool:
        """Return whether a path is affected with everything inside it, directly or as part of such a path."""
        return path in self.whole or any(path[: end.start()] in self.whole for end in _INSIDE.finditer(path))

    def has(self, path: str) -> bool:
        """Return whether a path is affected."""
        return path in self.paths or self.has_whole(path)


def reach_of(
    plan: FlowPlan,
    past: Past,
    *,
    inputs: Collection[str] = (),
    nodes: Collection[str] = (),
    answers: Collection[str] = (),
) -> ForkCone:
    """Find what depends on these inputs, on the nodes at these addresses and on the answers at these paths.

    A firing depends on everything it reads, including lazy ports and edges that only order it; a loop, map or
    subflow depends on everything inside it. The iterations after the one with a change depend on the loop
    variables and on the test, the items of a map on its lists, and everything inside a subflow on the subflow
    if it was retried. An answered firing is not affected by its own answer.
    """
    spreading = _Reaching(plan, past)
    for name in inputs:
        if name in plan.root.parameters:
            spreading.add_slot(spreading.scopes[0], "", plan.root.parameters[name])
    for scope in spreading.scopes:
        for node in scope.plan.nodes:
            if node.is_visible and scope.address_of(node) in nodes:
                for frame in spreading.frames[scope.number]:
                    spreading.add_whole(scope, frame, node)
    for path in answers:
        spreading.add_answer(path)
    return spreading.spread()


class _Reaching:
    """Spreads a change from slots to nodes and back in each scope instance, visiting each once."""

    def __init__(self, plan: FlowPlan, past: Past) -> None:
        self.scopes = scopes_of(plan)
        self._readers = [_readers_in(scope) for scope in self.scopes]
        self._inner = [_passed_inside(scope) for scope in self.scopes]
        self._opened = _opened_in([*past.firings, *past.races], past.rounds)
        self.frames: list[list[str]] = []  # the scope instances of the run, by the number of their scope
        for scope in self.scopes:
            self.frames.append(self._frames_of(scope))
        self._paths: set[str] = set()
        self._whole: set[str] = set()
        self._rounds: dict[str, int] = {}
        self._nodes: set[tuple[int, str, int]] = set()  # scope, path of the scope instance, and node
        self._slots: set[tuple[int, str, int]] = set()  # scope, path of the scope instance, and slot
        self._todo: list[tuple[PlacedScope, str, int]] = []

    def spread(self) -> ForkCone:
        while self._todo:
            self._spread_slot(*self._todo.pop())
        return ForkCone(frozenset(self._paths), frozenset(self._whole), self._rounds)

    def add_answer(self, path: str) -> None:
        """Mark the outputs of an answered firing as changed, without marking the firing itself."""
        for scope in self.scopes:
            for node in scope.plan.nodes:
                if isinstance(node.action, Call) and scope.address_of(node) == address_of(path):
                    frame = path if node.names_frame else path.rpartition("/")[0]
                    self._add_outputs(scope, frame, node)

    def add_whole(self, scope: PlacedScope, frame: str, node: PlanNode) -> None:
        """Mark a node, and everything inside it, as possibly having another outcome."""
        if node.index in scope.children:
            self._whole.add(path_of(frame, node))
        self._add_node(scope, frame, node)

    def add_slot(self, scope: PlacedScope, frame: str, slot: int) -> None:
        """Mark a port as possibly holding another value."""
        place = (scope.number, frame, slot)
        if place not in self._slots:
            self._slots.add(place)
            self._todo.append((scope, frame, slot))

    def _add_reader(self, scope: PlacedScope, frame: str, node: PlanNode, slot: int) -> None:
        was_repeated = isinstance(node.action, FlowOf) and path_of(frame, node) in self._opened
        if was_repeated or _depends_whole(node, slot):
            self.add_whole(scope, frame, node)
        else:
            self._add_node(scope, frame, node)

    def _add_node(self, scope: PlacedScope, frame: str, node: PlanNode) -> None:
        place = (scope.number, frame, node.index)
        if place not in self._nodes:
            self._nodes.add(place)
            self._paths.add(path_of(frame, node))
            self._add_outputs(scope, frame, node)

    def _add_outputs(self, scope: PlacedScope, frame: str, node: PlanNode) -> None:
        for slot in node.outputs.values():
            self.add_slot(scope, frame, slot)
        self._add_around(scope, frame)

    def _add_around(self, scope: PlacedScope, frame: str) -> None:
        """Mark the owner of a scope instance: it has to be opened again."""
        if scope.parent is None or scope.owner is None:
            return
        opener = opener_of(frame, scope.owner)
        outer = opener if scope.owner.names_frame else opener.rpartition("/")[0]
        if isinstance(scope.owner.action, FlowOf) and frame != self._frames(opener, scope.owner)[-1]:
            self.add_whole(scope.parent, outer, scope.owner)  # its attempts are counted from 1 again
        else:
            self._add_node(scope.parent, outer, scope.owner)

    def _frames_of(self, scope: PlacedScope) -> list[str]:
        if scope.parent is None or scope.owner is None:
            return [""]
        outer = (path_of(frame, scope.owner) for frame in self.frames[scope.parent.number])
        return [frame for path in outer for frame in self._frames(path, scope.owner)]

    def _frames(self, path: str, opener: PlanNode) -> list[str]:
        """List the scope instances that a loop, map or subflow at a path has opened."""
        opened = self._opened.get(path, ())
        return [path, *opened] if isinstance(opener.action, FlowOf) else [*opened]

    def _spread_slot(self, scope: PlacedScope, frame: str, slot: int) -> None:
        for index in self._readers[scope.number].get(slot, ()):
            self._add_reader(scope, frame, scope.plan.nodes[index], slot)
        for inner, own in self._inner[scope.number].get(slot, ()):
            self._spread_inside(inner, frame, own)
        self._add_around(scope, frame)
        if scope.owner is not None and isinstance(scope.owner.action, LoopOf):
            self._spread_round(scope, frame, scope.owner.action, slot)

    def _spread_inside(self, inner: PlacedScope, frame: str, own: int) -> None:
        """Continue into the inner scope instances that see a value; a loop variable enters the first only."""
        assert inner.owner is not None, "it is inside something"
        path, action = path_of(frame, inner.owner), inner.owner.action
        is_first = isinstance(action, LoopOf) and any(own == first for first, _ in action.carried.values())
        for one in [f"{path}[0]"] if is_first else self._frames(path, inner.owner):
            self.add_slot(inner, one, own)

    def _spread_round(self, body: PlacedScope, frame: str, loop: LoopOf, slot: int) -> None:
        """Continue into the following iterations: their loop variables, and whether they begin at all."""
        path, count = frame[: frame.rindex("[")], _round_of(frame)
        following = f"{path}[{count + 1}]"
        for first, carried in loop.carried.values():
            if carried == slot and following in self._opened.get(path, ()):
                self.add_slot(body, following, first)
            elif carried == slot and first == loop.test:
                self._note_rounds(path, count + 1)
        if slot == loop.test:
            self._spread_test(body, frame, loop)

    def _spread_test(self, body: PlacedScope, frame: str, loop: LoopOf) -> None:
        """Continue into what a test decides: for `while` its own iteration too, for `until` its waiters."""
        path, count = frame[: frame.rindex("[")], _round_of(frame)
        decides_own = loop.kind == "while"
        self._note_rounds(path, count if decides_own else count + 1)
        for index in range(len(body.plan.nodes)) if decides_own else body.plan.after_test:
            self.add_whole(body, frame, body.plan.nodes[index])
        for one in self._opened.get(path, ()):
            if _round_of(one) > count:
                for node in body.plan.nodes:
                    self.add_whole(body, one, node)

    def _note_rounds(self, path: str, count: int) -> None:
        self._rounds[path] = min(count, self._rounds.get(path, count))


def _depends_whole(node: PlanNode, slot: int) -> bool:
    """Return whether everything inside a node depends on a slot: on whether it opens, or on its items."""
    lists = node.action.lists.values() if isinstance(node.action, MapOf) else ()
    return any(slot in feed.slots for feed in node.feeds if feed.is_signal or feed in lists)


def _round_of(frame: str) -> int:
    return int(frame[frame.rindex("[") + 1 : -1])


def _opened_in(paths: Iterable[str], rounds: Mapping[str, int]) -> dict[str, dict[str, None]]:
    """List the scope instances that contain the paths, by their opener, without first attempts."""
    opened: dict[str, dict[str, None]] = {}
    for path in paths:
        for end in _FRAMES.finditer(path):
            opened.setdefault(path[: end.start()], {})[path[: end.end()]] = None
    for path, count in rounds.items():
        for number in range(count):
            opened.setdefault(path, {})[f"{path}[{number}]"] = None
    return opened
