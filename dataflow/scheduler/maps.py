"""Maps (fan-out): a scope instance for each item, and lists that collect the outputs (S7.1)."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any

from dataflow.base.copies import own_copy
from dataflow.base.markers import Marker
from dataflow.compiler.plan import MapOf
from dataflow.core.events import EventKind
from dataflow.core.ports import ERROR
from dataflow.core.states import RUNNING, Errored, Skip
from dataflow.core.wiring import encode
from dataflow.diagnostics.runs import (
    ANSWER_MISMATCH,
    KEY_TWICE,
    KEYS_CHANGED,
    LENGTHS_DIFFERENT,
    MAP_WITHOUT_LIST,
)
from dataflow.diagnostics.values import VALUE_MISMATCH
from dataflow.errors import NodeFailed
from dataflow.scheduler.arrivals import Arrivals, list_or_error, lists_of, passed_on
from dataflow.scheduler.frames import OpenedMap
from dataflow.scheduler.scopes import AT_ONCE
from dataflow.types.validation import described

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataflow.compiler.plan import PlanNode
    from dataflow.core.policy import ItemErrors
    from dataflow.scheduler.frames import Frame
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["Maps"]


class Maps:
    """The part of the scheduler that opens and ends items."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.arrivals = Arrivals(scheduler)
        self.begins: deque[Callable[[], None]] = deque()  # steps that begin further items

    def open(self, frame: Frame, node: PlanNode, action: MapOf) -> None:
        """Open a scope instance for each item of the lists, which have settled (S2.4)."""
        frame.states[node.index] = RUNNING
        self.scheduler.report(EventKind.NODE_STARTED, frame, node, type="map", attempt=1)
        try:
            lists = {
                slot: _items(node.id, feed.port, frame.values[feed.slots[0]])
                for slot, feed in action.lists.items()
            }
            count = _common_length(node.id, {action.lists[slot].port: items for slot, items in lists.items()})
            names, keys = self._names(frame, node, action, next(iter(lists.values())))
        except BaseException as error:  # noqa: BLE001 - a key is the user's function
            self.scheduler.failing.failed(frame, node, error)
            return
        opened = OpenedMap(names, lists, begun=self.scheduler.clock())
        for own in lists_of(action):
            opened.collected[own] = [Skip("", "")] * count
            if own in action.early or self._settles_early(frame, node):
                opened.missing[own] = count
        opened.passed_on = passed_on(frame, node)
        frame.note_opened(node.index, opened)
        self.scheduler.report(EventKind.MAP_OPENED, frame, node, items=count, **keys)
        self._begin_some(frame, node, opened)

    def _names(
        self, frame: Frame, node: PlanNode, action: MapOf, items: Sequence[Any]
    ) -> tuple[Sequence[str | int], Mapping[str, Any]]:
        """Return the names of the items, and the data that records keys: these are made once (S11.3).

        Names that were recorded are kept even if the map has a key now and had none before, or the reverse.
        """
        key, replay, writer = action.options.key, self.scheduler.replay, self.scheduler.journal_writer
        if key is not None and self.scheduler.live is not None:
            made = partial(_keys, node.id, key, items)
            slot = next(iter(action.lists.values())).slots[0]
            return self.scheduler.live.keys(frame, node, slot, key, made), {}
        path = frame.path_of(node)
        has_keys = key is not None or (replay is not None and replay.has_keys(path))
        digest = writer.digest(items) if has_keys and writer is not None else None
        names = None if replay is None else replay.item_names(path, len(items), digest)
        if names is None:
            names = range(len(items)) if key is None else _keys(node.id, key, items)
        elif not _gives(node.id, key, items, names):
            self.scheduler.warn(path, "keys_changed", str(KEYS_CHANGED(path)))
        if isinstance(names, range):
            return names, {"keys": None}
        return names, {"keys": names, **({} if digest is None else {"digest": digest})}

    def _settles_early(self, frame: Frame, node: PlanNode) -> bool:
        """Return whether a list may be read before all items have ended.

        Not if a failure of an item may be handled, or lets the others finish: the outcome would depend on
        timing (S14.1).
        """
        is_handled = ERROR in node.outputs or node.failure_is_taken
        fails_fast = self.scheduler.failing.fails_fast(frame)
        return fails_fast and _item_errors(node) == "fail" and not is_handled

    def _go_on(self, frame: Frame, node: PlanNode, opened: OpenedMap) -> None:
        """Schedule further items, or end the map if none is left."""
        if opened.arrived is not None:
            self.arrivals.go_on(frame, node, opened)
            return
        if opened.is_beginning:
            return
        if len(opened.frames) < len(opened.names) and _room(frame, node, opened):
            opened.is_beginning = True
            step = partial(self._begin_some, frame, node, opened)
            if _most_at_once(node) is None:  # without a limit they are not urgent: others run anyway
                self.begins.append(step)
            else:
                self.scheduler.opening.do_later(step)
        elif not opened.live:
            self.end(frame, node, opened)

    def _begin_some(self, frame: Frame, node: PlanNode, opened: OpenedMap) -> None:
        """Begin the next items, a limited number: further ones follow when nothing else is ready.

        So a long list does not hold up other nodes, and an item fires soon after it was created.
        """
        assert isinstance(node.action, MapOf), "only a map has items"
        opening, body, lists = self.scheduler.opening, node.action.body, [*opened.lists.items()]
        live, frames, names, index = opened.live, opened.frames, opened.names, node.index
        opened.is_beginning = False
        begun = len(frames)
        begin = opening.begin_calls if opening.begins_with_calls(body, opened.lists) else opening.begin
        for position in range(begun, begun + _room(frame, node, opened)):
            item = opening.new_frame(body, frame, index, names[position])
            item.position = position
            live[item.number] = item
            frames.append(item)
            begin(item, [(slot, items[position]) for slot, items in lists])
        self._go_on(frame, node, opened)

    def collect(self, item: Frame, slot: int, token: Any) -> None:
        """Collect an output of an item; a list settles with the last, unless a failure may change it."""
        frame = item.parent
        assert frame is not None, "an item is inside a frame"
        opened = frame.opened[item.owner]
        assert isinstance(opened, OpenedMap)
        if item.plan.shared[slot]:
            token = own_copy(token)
        for own in item.plan.collects[slot]:
            opened.collected[own][item.position] = token
            if own in opened.passed_on:
                self.arrivals.pass_on(item, slot, own, token)
            if own in opened.missing:
                opened.missing[own] -= 1
                if not opened.missing[own]:
                    self._settle_early(frame, frame.plan.nodes[item.owner], opened, own)

    def end_with(self, item: Frame, index: int, slot: int, value: Any) -> bool:
        """End an item without failures with the value of its last node, which only the map reads.

        Return whether anything follows from it.
        """
        frame, plan, scheduler = item.parent, item.plan, self.scheduler
        assert frame is not None, "an item is inside a frame"
        opened, follows = frame.opened[item.owner], False
        assert isinstance(opened, OpenedMap)
        item.end_with(index)
        if plan.shared[slot]:
            value = own_copy(value)
        for own in plan.collects[slot]:
            opened.collected[own][item.position] = value
            if opened.passed_on and own in opened.passed_on:
                self.arrivals.pass_on(item, slot, own, value)
                follows = True
            if own in opened.missing:
                opened.missing[own] -= 1
                if not opened.missing[own]:
                    self._settle_early(frame, frame.plan.nodes[item.owner], opened, own)
                    follows = True
        if scheduler.timers.in_frames:
            scheduler.timers.drop_of(item)
        if item.undemanded:
            scheduler.pulling.never_demanded(item)
            follows = True
        del opened.live[item.number]
        if not opened.live or len(opened.frames) < len(opened.names) or opened.arrived is not None:
            self._go_on(frame, frame.plan.nodes[item.owner], opened)
            follows = True
        item.release()
        return follows

    def _settle_early(self, frame: Frame, node: PlanNode, opened: OpenedMap, own: int) -> None:
        """Settle a list that has an entry of each item; an error is reported at the end.

        If items continue after an error, the readers of the list receive it immediately.
        """
        settled = list_or_error(frame, node, opened, own)
        if type(settled) is not Errored or not self.scheduler.failing.fails_fast(frame):
            self.scheduler.put(frame, own, settled)
            del opened.collected[own]

    def item_ended(self, item: Frame, node: PlanNode, opened: OpenedMap) -> None:
        """Continue after the end of an item: the map's options decide about its failure (S7.2)."""
        frame = item.parent
        assert frame is not None, "an item is inside a frame"
        if item.failures:
            failure = min(item.failures).failure
            match _item_errors(node):
                case "fail":
                    opened.failures[item.position] = sorted(item.failures)
                    self._item_failed(frame, node, opened, item)
                case "collect":
                    self._replace(opened, item, failure)
                case "skip":
                    self._replace(opened, item, Skip("", ""))
        self._go_on(frame, node, opened)

    def _replace(self, opened: OpenedMap, item: Frame, instead: object) -> None:
        """Replace everything that a failed item gave before (S14.1)."""
        for tokens in opened.collected.values():
            tokens[item.position] = instead

    def _item_failed(self, frame: Frame, node: PlanNode, opened: OpenedMap, item: Frame) -> None:
        """Close the other items, unless nodes that do not depend on the failure are to finish (S9.4)."""
        if frame.errors == "continue":
            return
        opened.is_closing = True
        cause = Errored(frame.path_of(node), min(item.failures).failure)
        for other in list(opened.live.values()):
            self.scheduler.failing.close_beside(other, cause)

    def end(self, frame: Frame, node: PlanNode, opened: OpenedMap) -> None:
        """End a map all of whose items have ended."""
        unhandled = [one for _, failures in sorted(opened.failures.items()) for one in failures]
        if not unhandled and not frame.has_stopped(node.index):
            for own in opened.collected:
                self.scheduler.put(frame, own, list_or_error(frame, node, opened, own))
        self.scheduler.releasing.opener_ended(frame, node, unhandled)


def _item_errors(node: PlanNode) -> ItemErrors:
    assert isinstance(node.action, MapOf), "only a map has items"
    return node.action.options.on_error


def _most_at_once(node: PlanNode) -> int | None:
    assert isinstance(node.action, MapOf), "only a map has items"
    return node.action.options.max_concurrency


def _room(frame: Frame, node: PlanNode, opened: OpenedMap) -> int:
    """Return how many items may begin now: the rest, limited by the map's options (S7.2)."""
    if frame.is_closing or opened.is_closing:
        return 0
    most = _most_at_once(node)
    free = AT_ONCE if most is None else min(AT_ONCE, most - len(opened.live))
    return min(free, len(opened.names) - len(opened.frames))


def _items(node: str, port: str, value: Any) -> Sequence[Any]:
    if isinstance(value, AsyncIterable):
        raise NodeFailed(node, MAP_WITHOUT_LIST(f".{port}", port=port, found="an async iterator"))
    if not isinstance(value, Collection) or isinstance(
        value, str | bytes | bytearray | Mapping | AbstractSet
    ):
        raise NodeFailed(node, MAP_WITHOUT_LIST(f".{port}", port=port, found=type(value).__name__))
    items: Sequence[Any] = (
        value if isinstance(value, list | tuple) and type(value) in (list, tuple) else [*value]
    )
    for position, item in enumerate(items):
        if type(item) is Marker:
            problem = VALUE_MISMATCH(f".{port}[{position}]", port=port, expected="a value", found=repr(item))
            raise NodeFailed(node, problem)
    return items


def _common_length(node: str, lists: Mapping[str, Sequence[Any]]) -> int:
    lengths = {name: len(items) for name, items in lists.items()}
    if len(set(lengths.values())) > 1:
        text = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise NodeFailed(node, LENGTHS_DIFFERENT(lengths=text))
    return next(iter(lengths.values()))


def _gives(
    node: str, key: Callable[[Any], str] | None, items: Sequence[Any], names: Sequence[str | int]
) -> bool:
    """Return whether a function gives these keys, or positions are the names without one."""
    try:
        return isinstance(names, range) if key is None else _keys(node, key, items) == names
    except Exception:  # noqa: BLE001 - the user's function; the keys are known without it
        return False


def _keys(node: str, key: Callable[[Any], str], items: Sequence[Any]) -> list[str]:
    """Return the keys of the items without secrets, encoded; they must differ."""
    from dataflow.secrets.known import redacted  # most maps have no keys

    names: list[str] = []
    seen: set[str] = set()
    for item in items:
        name = copy_context().run(key, own_copy(item))  # the map is a reader like any other (S3.4, S14.5)
        if not isinstance(name, str):
            raise NodeFailed(node, ANSWER_MISMATCH(function="key", expected="str", found=described(name)))
        name = redacted(name)  # it is part of paths, which are written everywhere (S12.4)
        if name in seen:
            raise NodeFailed(node, KEY_TWICE(key=name))
        seen.add(name)
        names.append(encode(name))
    return names
