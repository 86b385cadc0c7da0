"""Quickening: which calls of a scope take no more than calling a function and passing its value on (S2.4)."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from dataflow.plan import Call, QuickCall
from dataflow.separation import separate, separate_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dataflow.plan import PlanNode, ScopePlan

__all__ = ["quicken"]


def quicken(plan: ScopePlan) -> None:
    """Note for each slot of a connected scope who hears of it, and for each node what a firing comes to."""
    told = {*plan.lazy, *plan.early, *plan.exports, *plan.awaited, *plan.awaited_nexts}
    if plan.test is not None:
        told.add(plan.test)
    plan.is_told = bytearray(len(plan.initial))
    for slot in told:
        plan.is_told[slot] = 1
    others = {node.index for node in plan.nodes if not (node.is_plain and isinstance(node.action, Call))}
    plan.calls = list(plan.readers)
    for slot, readers in enumerate(plan.readers) if told or others else ():
        if slot in told or not others.isdisjoint(readers):
            plan.calls[slot] = None
    plan.quick = [_quick(plan, node) for node in plan.nodes]


def _quick(plan: ScopePlan, node: PlanNode) -> QuickCall | None:
    call = node.action
    if not isinstance(call, Call) or call.direct is None or not call.is_simple:
        return None
    function, slots, shared = call.type.call, call.direct, plan.shared
    out, calls, is_collected = None, None, False
    if len(node.outputs) == 1 and plan.uses is None:
        out = node.outputs["out"]
        calls = plan.calls[out]
        if out in plan.collects:
            calls, is_collected = None, calls == ()
    if len(slots) == 1:
        return QuickCall(function, slots[0], bool(shared[slots[0]]), None, out, calls, is_collected)
    take = _taking(slots, [shared[slot] for slot in slots])
    return QuickCall(function, 0, False, take, out, calls, is_collected)


def _taking(slots: Sequence[int], shared: Sequence[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """Return what takes the arguments out of the slots, copies of those that others hold too (S3.4)."""
    read: Callable[[Sequence[Any]], Sequence[Any]] = itemgetter(*slots) if slots else itemgetter(slice(0))
    if not any(shared):
        return read
    if all(shared):
        return lambda values: separate_all(read(values))
    return lambda values: [
        separate(value) if is_shared else value for value, is_shared in zip(read(values), shared, strict=True)
    ]
