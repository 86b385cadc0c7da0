"""Maps over edges, and values that leave a map item by item."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from dataflow.compiler.plan import MapOf
from dataflow.core.events import EventKind
from dataflow.core.states import NOT_RUN, RUNNING, SKIPPED, UNSETTLED, WAITING, Errored, Skip, is_dead
from dataflow.scheduler.frames import ArrivedItems, OpenedMap
from dataflow.scheduler.scopes import AT_ONCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dataflow.compiler.plan import PlanNode
    from dataflow.scheduler.frames import Frame
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["Arrivals", "list_or_error", "lists_of", "passed_on"]


class Arrivals:
    """The part of the scheduler that opens maps over edges, and their items one by one."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def consider(self, frame: Frame, node: PlanNode, settled: int | None = None) -> None:
        """Schedule a look at a map: an edge has settled, or the map may begin."""
        if frame.states[node.index] in (WAITING, RUNNING) and not frame.waits[node.index]:
            self.scheduler.opening.do_later(partial(self._look, frame, node, settled))

    def _look(self, frame: Frame, node: PlanNode, settled: int | None) -> None:
        """Begin items for a settled edge with a value, or for all of them; end the map after the last."""
        state = frame.states[node.index]
        if state not in (WAITING, RUNNING):  # it was closed meanwhile
            return
        has_all = _has_all(frame, node)
        edges = [
            (place, frame.values[slot])
            for place, slot in enumerate(node.feeds[0].slots)
            if has_all or settled in (None, slot)  # edges that settled in this very step are handled later
        ]
        live = {place: token for place, token in edges if _is_live(token)}
        if state == WAITING and live:
            self.scheduler.opening.open(frame, node)
        elif state == WAITING and has_all:
            self._passed_over(frame, node)
        if frame.states[node.index] == RUNNING:
            arrived = _arrived_items(frame, node)
            arrived.is_complete = arrived.is_complete or has_all
            self._take(frame, node, live)

    def _passed_over(self, frame: Frame, node: PlanNode) -> None:
        """Settle a map without a value on any edge (S2.4, S4.2)."""
        path, tokens = frame.path_of(node), [frame.values[slot] for slot in node.feeds[0].slots]
        if (error := _first_error(frame, node)) is not None:
            self.scheduler.releasing.settle_all(frame, node, Errored(path, error.failure, error), NOT_RUN)
        else:
            skip = Skip(path, "none of its edges has a value", tokens[0])
            self.scheduler.releasing.settle_all(frame, node, skip, SKIPPED)

    def open(self, frame: Frame, node: PlanNode, action: MapOf) -> None:
        """Open the map with the first edge that has a value; the number of items is not known yet."""
        frame.states[node.index] = RUNNING
        self.scheduler.report(EventKind.NODE_STARTED, frame, node, type="map", attempt=1)
        opened = OpenedMap((), {}, passed_on=passed_on(frame, node), arrived=ArrivedItems())
        opened.begun = self.scheduler.clock()
        opened.collected = {own: [] for own in lists_of(action)}
        frame.note_opened(node.index, opened)
        edges = len(node.feeds[0].slots)
        self.scheduler.report(EventKind.MAP_OPENED, frame, node, items=None, edges=edges)

    def _arrived(self, frame: Frame, node: PlanNode, live: dict[int, Any]) -> None:
        """Begin items for values that have arrived on an edge before the edge has settled."""
        if frame.states[node.index] == WAITING:
            self.scheduler.opening.open(frame, node)
        if frame.states[node.index] == RUNNING:  # else it was settled as a whole, or was closed meanwhile
            self._take(frame, node, live)

    def _take(self, frame: Frame, node: PlanNode, live: dict[int, Any]) -> None:
        """Begin items for the arrivals on edges, by their positions; known arrivals are ignored."""
        opened, arrived, slots = _opened(frame, node), _arrived_items(frame, node), node.feeds[0].slots
        for place, token in live.items():
            is_inmost = slots[place] not in frame.plan.indexed
            for name, value in _arrivals_of(place, token, is_inmost=is_inmost):
                if name not in arrived.positions:
                    arrived.positions[name] = len(arrived.positions)
                    arrived.due.append((name, value))
                    for tokens in opened.collected.values():
                        tokens.append(Skip("", ""))
        self._begin_some(frame, node)

    def _begin_some(self, frame: Frame, node: PlanNode) -> None:
        """Begin items that have arrived, but not so many in one step that other nodes would have to wait."""
        if frame.states[node.index] != RUNNING:
            return
        opened, opening, action = _opened(frame, node), self.scheduler.opening, node.action
        assert isinstance(action, MapOf), "only maps have items"
        (parameter,) = action.lists
        opened.is_beginning = False
        for _ in range(AT_ONCE):
            if not opened.arrived or not opened.arrived.due or _has_stopped(frame, node, opened):
                break
            name, value = opened.arrived.due.popleft()
            item = opening.new_frame(action.body, frame, node.index, name)
            item.position = opened.arrived.positions[name]
            opened.live[item.number] = item
            opened.frames.append(item)
            opening.begin(item, [(parameter, value)])
        self.go_on(frame, node, opened)

    def go_on(self, frame: Frame, node: PlanNode, opened: OpenedMap) -> None:
        """Schedule further items, or end the map if no more can arrive."""
        if frame.states[node.index] != RUNNING or opened.arrived is None or opened.is_beginning:
            return
        has_stopped = _has_stopped(frame, node, opened)
        if opened.arrived.due and not has_stopped:
            opened.is_beginning = True
            self.scheduler.maps.begins.append(partial(self._begin_some, frame, node))
        elif not opened.live and (has_stopped or opened.arrived.is_complete):
            self._end(frame, node, opened, opened.arrived)

    def stop(self, frame: Frame, index: int) -> None:
        """Have a map end that is being closed; it may have no item whose end would do that."""
        opened = frame.opened.get(index)
        if isinstance(opened, OpenedMap) and opened.arrived is not None:
            step = partial(self.go_on, frame, frame.plan.nodes[index], opened)
            self.scheduler.opening.do_later(step)

    def pass_on(self, item: Frame, slot: int, own: int, token: Any) -> None:
        """Pass a value of an item to maps over edges, in the scope instances around it."""
        if is_dead(token) or item.parent is None:
            return
        arrivals = _arrivals_of(item.name, token, is_inmost=slot not in item.plan.indexed)
        todo = [(item.parent, own, arrivals)]
        for frame, place, found in todo:  # grows while it is walked
            for index in frame.plan.early.get(place, ()):
                node = frame.plan.nodes[index]
                if frame.states[index] in (WAITING, RUNNING) and not frame.waits[index]:
                    live = {edge: found for edge, read in enumerate(node.feeds[0].slots) if read == place}
                    self.scheduler.opening.do_later(partial(self._arrived, frame, node, live))
            for outer in _passed_further(frame, place):
                assert frame.parent is not None, "a frame that is an item is inside another"
                further = _arrivals_of(frame.name, found, is_inmost=False)
                todo.append((frame.parent, outer, further))

    def _end(self, frame: Frame, node: PlanNode, opened: OpenedMap, arrived: ArrivedItems) -> None:
        """End the map; its lists have the order of the edges, however they settled."""
        order = _in_order(frame, node, arrived)
        places = {position: place for place, position in enumerate(order)}
        positions = arrived.positions
        names = sorted(positions, key=lambda name: places[positions[name]])
        opened.names = names
        opened.collected = {own: [tokens[one] for one in order] for own, tokens in opened.collected.items()}
        opened.failures = {places[one]: failures for one, failures in opened.failures.items()}
        opened.frames.sort(key=lambda item: places[item.position])
        error = _first_error(frame, node)
        if error is None or opened.failures or frame.has_stopped(node.index):
            self.scheduler.maps.end(frame, node, opened)
            return
        opened.release(self.scheduler.clock())
        cause = Errored(frame.path_of(node), error.failure, error)
        self.scheduler.releasing.settle_all(frame, node, cause, NOT_RUN)


def _opened(frame: Frame, node: PlanNode) -> OpenedMap:
    opened = frame.opened[node.index]
    assert isinstance(opened, OpenedMap), "a map opens frames of items"
    return opened


def _arrived_items(frame: Frame, node: PlanNode) -> ArrivedItems:
    arrived = _opened(frame, node).arrived
    assert arrived is not None, "it learns of its items as they come"
    return arrived


def _is_live(token: Any) -> bool:
    return token is not UNSETTLED and not is_dead(token)


def _has_all(frame: Frame, node: PlanNode) -> bool:
    """Return whether all edges have settled."""
    return all(frame.values[slot] is not UNSETTLED for slot in node.feeds[0].slots)


def _has_stopped(frame: Frame, node: PlanNode, opened: OpenedMap) -> bool:
    return opened.is_closing or frame.has_stopped(node.index)


def _first_error(frame: Frame, node: PlanNode) -> Errored | None:
    tokens = (frame.values[slot] for slot in node.feeds[0].slots)
    return next((token for token in tokens if isinstance(token, Errored)), None)


def _passed_further(frame: Frame, slot: int) -> Iterable[int]:
    """Return the outputs of the enclosing map by which the values of a slot are passed on."""
    if frame.is_closing or frame.parent is None or slot not in frame.plan.collects:
        return ()
    opened = frame.parent.opened[frame.owner]
    assert isinstance(opened, OpenedMap), "only a map collects"
    return [own for own in frame.plan.collects[slot] if own in opened.passed_on]


def _in_order(frame: Frame, node: PlanNode, arrived: ArrivedItems) -> list[int]:
    """Return the positions of the items in the order of their edges, and of the maps that feed these."""
    listed: dict[str, None] = {}
    for place, slot in enumerate(node.feeds[0].slots):
        token = frame.values[slot]
        if _is_live(token):
            arrivals = _arrivals_of(place, token, is_inmost=slot not in frame.plan.indexed)
            listed.update((name, None) for name, _ in arrivals if name in arrived.positions)
    rest = sorted(arrived.positions.keys() - listed.keys(), key=_natural_order)  # their edges have failed
    return [arrived.positions[name] for name in (*listed, *rest)]


def lists_of(action: MapOf) -> list[int]:
    """Return the slots of the map's owner that its lists go to."""
    return [own for slots in action.body.collects.values() for own in slots]


def passed_on(frame: Frame, node: PlanNode) -> frozenset[int]:
    """Return the outputs of a map that others read item by item: none if a failure may revoke some."""
    assert isinstance(node.action, MapOf), "only a map has items"
    if not frame.plan.indexed or node.action.options.on_error != "fail":
        return frozenset()
    return frame.plan.indexed.intersection(node.outputs.values())


def list_or_error(frame: Frame, node: PlanNode, opened: OpenedMap, own: int) -> Any:
    """Return the token of an output of a map: a list without skips, or the first error in it.

    A map over edges reads a list of pairs, index and value; the pairs are lists, which can be stored as they
    are.
    """
    tokens = opened.collected[own]
    kinds = {id(kind) for kind in map(type, tokens)}  # a class need not have a hash
    if id(Errored) in kinds:
        return next(token for token in tokens if type(token) is Errored)
    if own in frame.plan.indexed:
        return _indexed(node, own, opened.names, tokens)
    return [token for token in tokens if type(token) is not Skip] if id(Skip) in kinds else tokens


def _indexed(node: PlanNode, own: int, names: Sequence[str | int], tokens: Sequence[Any]) -> list[list[Any]]:
    assert isinstance(node.action, MapOf), "only a map has items"
    body = node.action.body
    from_inside = body.indexed.intersection(body.collects)  # outputs of a map inside, with their indexes
    is_inmost = not any(own in body.collects[slot] for slot in from_inside)
    return [
        arrival
        for name, token in zip(names, tokens, strict=True)
        if type(token) is not Skip
        for arrival in _arrivals_of(name, token, is_inmost=is_inmost)
    ]


def _arrivals_of(name: str | int, token: Any, *, is_inmost: bool) -> list[list[Any]]:
    """Return the arrivals from an item of a map: a value, or the arrivals of a map inside, indexed further.

    A failure that replaces a failed item (S7.2) replaces all of its arrivals.
    """
    if is_inmost or type(token) is not list:
        return [[str(name), token]]
    return [[f"{name}.{index}", value] for index, value in token]


def _natural_order(index: str) -> list[tuple[int, int, str]]:
    """Sort indexes by their numbers, part by part, and keys as text."""
    parts = index.split(".")
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]
