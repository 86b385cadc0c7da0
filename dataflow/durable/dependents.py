"""Find the transitive dependents of nodes in a plan."""

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


__all__ = ["ForkCone", "dependents", "passed_inside", "reach_of", "readers_of"]

_FRAMES: Final = re.compile(r"\[[^\]]*\]|~\d+")  # where the path of a frame ends
_INSIDE: Final = re.compile(r"[/\[~]")  # where the path of what is around ends


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


@dataclass(frozen=True, slots=True)
class ForkCone:
    """What a change reaches, by path.

    paths: firings, races, and the loops, maps and flow nodes around them
    whole: those loops, maps and flow nodes of which everything inside is reached
    rounds: of a loop whose test may decide otherwise, how many rounds begin as they did
    """

    paths: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    rounds: Mapping[str, int] = field(default_factory=dict)

    def has_whole(self, path: str) -> bool:
        """Tell whether a path is reached with all that is inside it, itself or as a part of that."""
        return path in self.whole or any(path[: end.start()] in self.whole for end in _INSIDE.finditer(path))

    def has(self, path: str) -> bool:
        """Tell whether a path is reached."""
        return path in self.paths or self.has_whole(path)


def reach_of(
    plan: FlowPlan,
    past: Past,
    *,
    inputs: Collection[str] = (),
    nodes: Collection[str] = (),
    answers: Collection[str] = (),
) -> ForkCone:
    """Find what depends on these inputs, on the nodes at these addresses, and on the answers at these paths.

    A firing depends on what it reads, by lazy ports and for its order too; a loop, a map or a flow node on
    all that is inside it. The rounds behind the one that a change is in depend on what is carried into them
    and on the test, the items of a map on its lists, and all inside a flow node on it if it was attempted
    again. What answers is not reached itself, unless by something else.
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
    """Spreads a change from slot to node and from node to slot in each frame, each once."""

    def __init__(self, plan: FlowPlan, past: Past) -> None:
        self.scopes = scopes_of(plan)
        self._readers = [readers_of(scope) for scope in self.scopes]
        self._inner = [passed_inside(scope) for scope in self.scopes]
        self._opened = _opened_in([*past.firings, *past.races], past.rounds)
        self.frames: list[list[str]] = []  # that there were, by the number of the scope
        for scope in self.scopes:
            self.frames.append(self._frames_of(scope))
        self._paths: set[str] = set()
        self._whole: set[str] = set()
        self._rounds: dict[str, int] = {}
        self._nodes: set[tuple[int, str, int]] = set()  # scope, frame and node
        self._slots: set[tuple[int, str, int]] = set()  # scope, frame and slot
        self._todo: list[tuple[PlacedScope, str, int]] = []

    def spread(self) -> ForkCone:
        while self._todo:
            self._spread_slot(*self._todo.pop())
        return ForkCone(frozenset(self._paths), frozenset(self._whole), self._rounds)

    def add_answer(self, path: str) -> None:
        """Note that a firing gives something else, without being one that comes to something else."""
        for scope in self.scopes:
            for node in scope.plan.nodes:
                if isinstance(node.action, Call) and scope.address_of(node) == address_of(path):
                    frame = path if node.names_frame else path.rpartition("/")[0]
                    self._add_outputs(scope, frame, node)

    def add_whole(self, scope: PlacedScope, frame: str, node: PlanNode) -> None:
        """Note that a node, and everything inside it, may come to something else."""
        if node.index in scope.children:
            self._whole.add(path_of(frame, node))
        self._add_node(scope, frame, node)

    def add_slot(self, scope: PlacedScope, frame: str, slot: int) -> None:
        """Note that a port may hold something else."""
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
        """Note that what a frame is in has to be opened again."""
        if scope.parent is None or scope.owner is None:
            return
        opener = opener_of(frame, scope.owner)
        outer = opener if scope.owner.names_frame else opener.rpartition("/")[0]
        if isinstance(scope.owner.action, FlowOf) and frame != self._frames(opener, scope.owner)[-1]:
            self.add_whole(scope.parent, outer, scope.owner)  # its attempts are counted anew
        else:
            self._add_node(scope.parent, outer, scope.owner)

    def _frames_of(self, scope: PlacedScope) -> list[str]:
        if scope.parent is None or scope.owner is None:
            return [""]
        outer = (path_of(frame, scope.owner) for frame in self.frames[scope.parent.number])
        return [frame for path in outer for frame in self._frames(path, scope.owner)]

    def _frames(self, path: str, opener: PlanNode) -> list[str]:
        """List the frames that a loop, map or flow node at a path has opened."""
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
        """Go on to where the frames inside see a value: what is carried, the first round does."""
        assert inner.owner is not None, "it is inside something"
        path, action = path_of(frame, inner.owner), inner.owner.action
        is_first = isinstance(action, LoopOf) and any(own == first for first, _ in action.carried.values())
        for one in [f"{path}[0]"] if is_first else self._frames(path, inner.owner):
            self.add_slot(inner, one, own)

    def _spread_round(self, body: PlacedScope, frame: str, loop: LoopOf, slot: int) -> None:
        """Go on to the rounds that follow: to what is carried into them, and whether there are any."""
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
        """Go on to all that a test decides: of `while` its own round too, of `until` what waits for it."""
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
    """Tell whether all inside a node depends on a slot that it reads: whether it is opened, or for what."""
    lists = node.action.lists.values() if isinstance(node.action, MapOf) else ()
    return any(slot in feed.slots for feed in node.feeds if feed.is_signal or feed in lists)


def _round_of(frame: str) -> int:
    return int(frame[frame.rindex("[") + 1 : -1])


def _opened_in(paths: Iterable[str], rounds: Mapping[str, int]) -> dict[str, dict[str, None]]:
    """List by the path of what has opened them the frames that paths are in, but for first attempts."""
    opened: dict[str, dict[str, None]] = {}
    for path in paths:
        for end in _FRAMES.finditer(path):
            opened.setdefault(path[: end.start()], {})[path[: end.end()]] = None
    for path, count in rounds.items():
        for number in range(count):
            opened.setdefault(path, {})[f"{path}[{number}]"] = None
    return opened
