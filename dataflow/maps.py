"""Maps: a frame an item, and the lists that their outputs are collected into (S7.1)."""

from __future__ import annotations

from collections.abc import AsyncIterable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from dataflow.errors import NodeFailed
from dataflow.events import EventKind
from dataflow.frames import OpenedMap
from dataflow.markers import Marker
from dataflow.names import encode
from dataflow.plan import MapOf
from dataflow.separation import separate
from dataflow.states import RUNNING
from dataflow.tokens import Errored, Skip, is_dead

if TYPE_CHECKING:
    from dataflow.frames import Frame
    from dataflow.plan import PlanNode
    from dataflow.scheduler import Scheduler

__all__ = ["Maps"]


#: How many items of a map begin in one step of the work list.
AT_ONCE: Final = 100


class Maps:
    """The part of the scheduler that opens and ends items."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def open(self, frame: Frame, node: PlanNode, action: MapOf) -> None:
        """Open a frame for each item of the lists, which have settled (S2.4)."""
        frame.states[node.index] = RUNNING
        self.scheduler.report(EventKind.NODE_STARTED, frame, node, type="map", attempt=1)
        try:
            lists = {
                slot: _items(node.id, feed.port, frame.values[feed.slots[0]])
                for slot, feed in action.lists.items()
            }
            count = _common_length(node.id, {action.lists[slot].port: items for slot, items in lists.items()})
            names = _names(node.id, action, next(iter(lists.values())))
        except BaseException as error:  # noqa: BLE001 - a key is the user's function
            self.scheduler.failing.failed(frame, node, error)
            return
        opened = OpenedMap(left=count)
        for own in node.outputs.values():
            opened.collected[own] = [Skip("", "")] * count
            opened.lacking[own] = count
        frame.opened[node.index] = opened
        self.scheduler.report(EventKind.MAP_OPENED, frame, node, items=count)
        if count:
            self._begin_some(frame, node, lists, names)
        else:
            for slots in action.body.collects.values():
                for own in slots:
                    self.scheduler.put(frame, own, [])
            self.scheduler.releasing.opener_ended(frame, node, ())

    def _begin_some(
        self, frame: Frame, node: PlanNode, lists: Mapping[int, Sequence[Any]], names: Sequence[str]
    ) -> None:
        """Begin the next items, and note that there are more: a long list holds up nothing else."""
        opened, action = frame.opened[node.index], node.action
        assert isinstance(opened, OpenedMap)
        assert isinstance(action, MapOf)
        begun = len(opened.frames)
        if frame.is_closing or opened.is_closing:
            opened.left -= len(names) - begun
            self._end_if_last(frame, node, opened)
            return
        for position in range(begun, min(begun + AT_ONCE, len(names))):
            item = self.scheduler.opening.new_frame(action.body, frame, node.index, names[position])
            item.position = position
            opened.live[item.number] = item
            opened.frames.append(item)
            self.scheduler.opening.begin(item, {slot: items[position] for slot, items in lists.items()})
        if len(opened.frames) < len(names):
            self.scheduler.opening.do_later(partial(self._begin_some, frame, node, lists, names))

    def collect(self, item: Frame, slot: int) -> None:
        """Take what an item gave; the list settles when the last item has."""
        frame = item.parent
        assert frame is not None, "an item is inside a frame"
        opened = frame.opened[item.owner]
        assert isinstance(opened, OpenedMap)
        token = item.values[slot]
        if not is_dead(token):
            token = self.scheduler.take(item, slot)
        for own in item.plan.collects[slot]:
            opened.collected[own][item.position] = token
            opened.lacking[own] -= 1
            if not opened.lacking[own]:
                settled = _list_or_error(opened.collected[own])
                if type(settled) is Errored:  # what becomes of it is told when the whole map has ended
                    opened.errored[own] = settled
                else:
                    self.scheduler.put(frame, own, settled)
                del opened.collected[own]

    def item_ended(self, item: Frame, node: PlanNode, opened: OpenedMap) -> None:
        """Go on when an item's frame has ended: a failed item fails the map (S7.2)."""
        frame = item.parent
        assert frame is not None, "an item is inside a frame"
        opened.left -= 1
        if item.failures and frame.errors == "fail_fast":
            opened.is_closing = True
            for other in list(opened.live.values()):
                cause = Errored(frame.path_of(node), min(item.failures).failure)
                self.scheduler.failing.close(other, cause)
        self._end_if_last(frame, node, opened)

    def _end_if_last(self, frame: Frame, node: PlanNode, opened: OpenedMap) -> None:
        if not opened.left:
            unhandled = [failure for one in opened.frames for failure in sorted(one.failures)]
            if not unhandled:  # the errors came in from outside
                for own, error in opened.errored.items():
                    self.scheduler.put(frame, own, error)
            self.scheduler.releasing.opener_ended(frame, node, unhandled)


def _list_or_error(tokens: list[Any]) -> Any:
    errors = [token for token in tokens if type(token) is Errored]
    return errors[0] if errors else [token for token in tokens if type(token) is not Skip]


def _items(node: str, port: str, value: Any) -> Sequence[Any]:
    if isinstance(value, AsyncIterable):
        raise NodeFailed(
            node, f"maps over an async iterator on {port!r}; a stream is no list: collect it in a node first"
        )
    if not isinstance(value, Collection) or isinstance(
        value, str | bytes | bytearray | Mapping | AbstractSet
    ):
        raise NodeFailed(
            node, f"maps over {type(value).__name__} on {port!r}; expected a list, tuple or other sequence"
        )
    items: Sequence[Any] = (
        value if isinstance(value, list | tuple) and type(value) in (list, tuple) else [*value]
    )
    for position, item in enumerate(items):
        if type(item) is Marker:
            raise NodeFailed(
                node, f"maps over a list with {item!r} in it, at {position}; it is no value (S1.6)"
            )
    return items


def _common_length(node: str, lists: Mapping[str, Sequence[Any]]) -> int:
    lengths = {name: len(items) for name, items in lists.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise NodeFailed(node, f"zips lists of different lengths: {told}")
    return next(iter(lengths.values()))


def _names(node: str, action: MapOf, items: Sequence[Any]) -> list[str]:
    """Name the items by position, or by their keys, which must differ."""
    key = action.options.key
    if key is None:
        return [str(position) for position in range(len(items))]
    names: list[str] = []
    seen: set[str] = set()
    for item in items:
        name = key(separate(item))  # the map is a reader like any other (S3.4)
        if not isinstance(name, str):
            raise NodeFailed(node, f"got the key {name!r} for an item; a key is text")
        if name in seen:
            raise NodeFailed(node, f"got the key {name!r} for two items; keys must differ")
        seen.add(name)
        names.append(encode(name))
    return names
