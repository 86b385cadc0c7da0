"""Connect each slot with its readers, and find calls and ends for the fast path."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.copies import own_copy
from dataflow.compiler.graph import CallAction, Join, JoinAction, Scope, ScopeKind
from dataflow.compiler.plan import (
    Call,
    FlowOf,
    JoinOf,
    LoopOf,
    MapOf,
    QuickCall,
    QuickEnd,
    second_source,
    uses_of,
)
from dataflow.core.ports import MISSING
from dataflow.core.states import UNSETTLED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from dataflow.compiler.plan import PlanNode, ScopePlan
    from dataflow.compiler.slots import Slots

__all__ = ["connect"]

CALLS: Final = (Call, FlowOf)  # actions with settings


def connect(slots: Slots, outputs: Iterable[int]) -> None:
    """Connect the nodes of all scopes of a flow whose outputs read these slots of the root."""
    has_lazy = any(map(_is_lazy, slots.actions)) or any(map(_has_lazy_fallback, slots.plans.values()))
    if has_lazy or any(map(_is_race, slots.actions)):
        for scope, plan in reversed(slots.plans.items()):  # inner scopes come after those around them
            plan.uses = uses_of(plan, *_read_by_owner(slots, scope, plan, outputs))
    for scope, plan in slots.plans.items():
        loop = _loop_around(slots, scope)
        readers = _readers(plan, has_lazy=has_lazy)
        if has_lazy:
            _defer(plan)
        _await_imports(plan, loop)
        if loop is not None and loop.gate is not None:
            _gate(plan, loop, loop.gate, readers)
        plan.readers = readers.by_slot()
        _begin(plan)
        _share(slots, scope, plan, () if loop is None else loop.shown.values())
        _hold(plan, loop, outputs if scope.kind is ScopeKind.ROOT else ())
        _find_quick_calls(plan)


def _is_lazy(action: object) -> bool:
    return isinstance(action, CallAction) and action.has_lazy


def _has_lazy_fallback(plan: ScopePlan) -> bool:
    """Return whether a fallback of a scope may pull a node for its second source (S5.3)."""
    seconds = {slot for node in plan.nodes if (slot := second_source(node)) is not None}
    return any(plan.initial[slot] is UNSETTLED for slot in seconds.difference(plan.parameters.values()))


def _is_race(action: object) -> bool:
    return isinstance(action, JoinAction) and action.mode is Join.RACE


class _Readers:
    """The nodes that wait for each slot; most slots have one reader, which needs no list."""

    def __init__(self, slots: int) -> None:
        self.first: list[tuple[int, ...]] = [()] * slots
        self.several: dict[int, list[int]] = {}

    def add(self, slot: int, node: int) -> None:
        if not self.first[slot]:
            self.first[slot] = (node,)
        elif slot in self.several:
            self.several[slot].append(node)
        else:
            self.several[slot] = [*self.first[slot], node]

    def by_slot(self) -> list[tuple[int, ...]]:
        for slot, nodes in self.several.items():
            self.first[slot] = tuple(nodes)
        return self.first


def _readers(plan: ScopePlan, *, has_lazy: bool) -> _Readers:
    """List the nodes that wait for each slot, and count the slots that each node waits for."""
    readers = _Readers(len(plan.initial))
    early: dict[int, list[int]] = {}
    lazy: dict[int, list[int]] = {}
    waits = plan.waits
    for node in plan.nodes:
        if isinstance(node.action, JoinOf) and node.action.mode not in (Join.GATHER, Join.CONTEXTS):
            for slot in node.feeds[0].slots:
                early.setdefault(slot, []).append(node.index)
            waits.append(1)
            continue
        if isinstance(node.action, MapOf) and node.action.is_every:  # it begins before all edges have settled
            for slot in dict.fromkeys(node.feeds[0].slots):
                early.setdefault(slot, []).append(node.index)
            waits.append(0)
            continue
        awaited = _awaited(plan, node, lazy=False) if node.feeds else ()
        for slot in awaited:
            readers.add(slot, node.index)
        waits.append(len(awaited))
        if has_lazy:
            for slot in _awaited(plan, node, lazy=True):
                lazy.setdefault(slot, []).append(node.index)
    plan.early = {slot: tuple(nodes) for slot, nodes in early.items()}
    plan.lazy = {slot: tuple(nodes) for slot, nodes in lazy.items()}
    return readers


def _awaited(plan: ScopePlan, node: PlanNode, *, lazy: bool) -> Collection[int]:
    """List the slots that the ports of a node wait for, without duplicates."""
    initial, found = plan.initial, []
    for feed in node.feeds:
        if feed.is_lazy is lazy:
            found += [slot for slot in feed.slots if initial[slot] is UNSETTLED]
    return found if len(found) < 2 else dict.fromkeys(found)


def _defer(plan: ScopePlan) -> None:
    """Defer the nodes that only lazy ports and fallbacks need until they are pulled (S8.3)."""
    assert plan.uses is not None, "it is computed before"
    off = plan.uses.eventually.intersection(_disabled(plan))  # they do not wait for an iteration
    plan.deferred = frozenset(range(len(plan.nodes))) - plan.uses.demanded - off
    for index in plan.deferred:
        plan.waits[index] += 1


def _disabled(plan: ScopePlan) -> list[int]:
    return [
        node.index for node in plan.nodes
        if isinstance(node.action, CALLS) and node.action.policy.enabled is False
    ]  # fmt: skip


def _gate(plan: ScopePlan, loop: LoopOf, gate: int, readers: _Readers) -> None:
    """Make the nodes that only next values need wait for the test (S6.1)."""
    plan.test = loop.test
    plan.after_test = tuple(index for index in _only_for_next(plan, loop) if index not in plan.deferred)
    for index in plan.after_test:
        plan.waits[index] += 1
        readers.add(gate, index)


def _begin(plan: ScopePlan) -> None:
    """Record the initial state of a scope instance."""
    plan.states = bytearray(len(plan.nodes))
    plan.durations = [0.0] * len(plan.nodes)
    plan.demanded = len(plan.nodes) - len(plan.deferred)
    plan.starts = tuple(index for index, count in enumerate(plan.waits) if not count)
    plan.disabled = tuple(index for index in _disabled(plan) if index not in plan.deferred)
    inspected = {s for node in plan.nodes if isinstance(node.action, JoinOf) for s in node.feeds[0].slots}
    inspected |= {*plan.collects, *([] if plan.test is None else [plan.test])}
    plan.settled = tuple(slot for slot in sorted(inspected) if plan.initial[slot] is not UNSETTLED)
    begins_otherwise = plan.imports or plan.settled or plan.disabled or plan.starts
    plan.begins_with_parameters = not begins_otherwise and len(plan.nodes) > len(plan.deferred)


def _share(slots: Slots, scope: Scope, plan: ScopePlan, shown: Iterable[int]) -> None:
    """Mark the slots with several references, each of which gets a separate copy (S3.4)."""
    if scope.kind is ScopeKind.ROOT:  # its values are kept
        plan.shared = bytearray(b"\x01" * len(plan.initial))
        return
    outside = {slot for _, slot in plan.imports} | set(plan.parameters.values()) | set(shown)
    for node in plan.nodes:  # one container may be the value of several ports
        used = [slot for slot in node.outputs.values() if slots.is_used(scope, slot)]
        outside.update(used if len(used) > 1 else ())
    for node in plan.nodes:  # each attempt at a node is a separate reader
        if node.policy is not None and node.policy.retry is not MISSING:
            outside.update(slot for feed in node.feeds for slot in feed.slots)
    plan.shared = bytearray(
        plan.initial[slot] is not UNSETTLED or slot in outside or slots.is_shared(scope, slot)
        for slot in range(len(plan.initial))
    )


def _read_by_owner(
    slots: Slots, scope: Scope, plan: ScopePlan, outputs: Iterable[int]
) -> tuple[Iterable[int], Iterable[int]]:
    """List the slots that the opener of a scope instance reads: always, and for a next iteration only."""
    if scope.kind is ScopeKind.ROOT:
        return outputs, ()
    loop = _loop_around(slots, scope)
    if loop is None:
        return plan.collects, ()
    nexts = [slot for _, slot in loop.carried.values()]
    at_the_end = [*loop.results.values(), *([] if loop.test is None else [loop.test])]
    return ([*at_the_end, *nexts], ()) if loop.gate is None else (at_the_end, nexts)


def _hold(plan: ScopePlan, loop: LoopOf | None, outputs: Iterable[int]) -> None:
    """Record the values that are read after the end of a scope instance, and so not released (S8.5)."""
    read = set(outputs)
    if loop is not None:
        read.update(loop.results.values(), loop.shown.values(), (slot for _, slot in loop.carried.values()))
    plan.at_end = frozenset(read)


def _await_imports(plan: ScopePlan, loop: LoopOf | None) -> None:
    """Record the imported values that must have settled before a scope instance ends."""
    imports = {slot for _, slot in plan.imports}
    read = set(plan.collects)
    nexts: set[int] = set()
    if loop is not None:
        read.update(loop.results.values())
        read.update(() if loop.test is None else (loop.test,))
        nexts.update(slot for _, slot in loop.carried.values())
        if loop.kind != "until":
            read |= nexts
    plan.awaited = tuple(sorted(imports & read))
    plan.awaited_nexts = tuple(sorted((imports & nexts) - read))


def _loop_around(slots: Slots, scope: Scope) -> LoopOf | None:
    if scope.owner is None or scope.kind is not ScopeKind.LOOP:
        return None
    owner = slots.plans[scope.owner.fires_in].nodes[scope.owner.index]
    assert isinstance(owner.action, LoopOf), "a loop's scope is owned by a loop"
    return owner.action


def _only_for_next(plan: ScopePlan, loop: LoopOf) -> tuple[int, ...]:
    """Find the nodes that only next values need; they wait for the test (S6.1).

    A node is one if it is used, and every use is a next value or another such node.
    """
    nexts = {slot for _, slot in loop.carried.values()}
    elsewhere = {loop.test, *loop.results.values()}
    reads = {node.index: {slot for feed in node.feeds for slot in feed.slots} for node in plan.nodes}
    for slot, inner in plan.exports.items():
        for owner, _ in inner:
            reads[owner].add(slot)
    used = nexts.union(*reads.values())
    makers = {slot: node.index for node in plan.nodes for slot in node.outputs.values()}
    held = {
        node.index for node in plan.nodes
        if used.intersection(node.outputs.values()) and not elsewhere.intersection(node.outputs.values())
    }  # fmt: skip
    needed_anyway = [index for index in reads if index not in held]
    for index in needed_anyway:  # grows during the iteration, by the sources of these nodes
        for maker in {makers[slot] for slot in reads[index] if slot in makers} & held:
            held.discard(maker)
            needed_anyway.append(maker)
    return tuple(sorted(held))


def _find_quick_calls(plan: ScopePlan) -> None:
    """Record the slots with other dependents than readers, and the nodes that take the fast path."""
    special = {*plan.lazy, *plan.early, *plan.exports, *plan.awaited, *plan.awaited_nexts}
    if plan.test is not None:
        special.add(plan.test)
    plan.has_other_readers = bytearray(len(plan.initial))
    for slot in special:
        plan.has_other_readers[slot] = 1
    others = {node.index for node in plan.nodes if not (node.is_plain and isinstance(node.action, Call))}
    plan.calls = list(plan.readers)
    for slot, readers in enumerate(plan.readers) if special or others else ():
        if slot in special or not others.isdisjoint(readers):
            plan.calls[slot] = None
    is_shared = 0 not in plan.shared
    plan.quick = [_quick(plan, node, is_shared=is_shared) for node in plan.nodes]
    plan.ends = [_end(plan, node) for node in plan.nodes]


def _quick(plan: ScopePlan, node: PlanNode, *, is_shared: bool) -> QuickCall | None:
    call = node.action
    if not isinstance(call, Call) or call.direct is None or not call.is_simple:
        return None
    function, slots = call.type.call, call.direct
    if len(slots) == 1:
        return QuickCall(function, slots[0], None, bool(plan.shared[slots[0]]))
    take: Callable[[Sequence[Any]], Sequence[Any]] = itemgetter(*slots) if slots else itemgetter(slice(0))
    if not is_shared:  # each argument may have to be copied
        take = _copying(take, [plan.shared[slot] for slot in slots])
    return QuickCall(function, 0, take, is_shared)


def _end(plan: ScopePlan, node: PlanNode) -> QuickEnd | None:
    is_single = isinstance(node.action, Call) and node.action.is_single
    if not is_single or len(node.outputs) != 1 or plan.uses is not None:
        return None
    out = node.outputs["out"]
    calls = plan.calls[out]
    return QuickEnd(out, None, calls == ()) if out in plan.collects else QuickEnd(out, calls, False)


def _copying(
    take: Callable[[Sequence[Any]], Sequence[Any]], shared: Sequence[int]
) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """Return a function that takes arguments and copies those with other references (S3.4)."""
    if not any(shared):
        return take
    return lambda values: [
        own_copy(value) if is_shared else value for value, is_shared in zip(take(values), shared, strict=True)
    ]
