"""Quickening: which calls of a scope take no more than calling a function and passing its value on (S2.4)."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from dataflow.base.copies import separate
from dataflow.compiler.plan import Call, QuickCall, QuickEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dataflow.compiler.plan import PlanNode, ScopePlan

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
    if not is_shared:  # each argument is looked at
        take = _taking(take, [plan.shared[slot] for slot in slots])
    return QuickCall(function, 0, take, is_shared)


def _end(plan: ScopePlan, node: PlanNode) -> QuickEnd | None:
    is_single = isinstance(node.action, Call) and node.action.is_single
    if not is_single or len(node.outputs) != 1 or plan.uses is not None:
        return None
    out = node.outputs["out"]
    calls = plan.calls[out]
    return QuickEnd(out, None, calls == ()) if out in plan.collects else QuickEnd(out, calls, False)


def _taking(
    take: Callable[[Sequence[Any]], Sequence[Any]], shared: Sequence[int]
) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """Return what takes arguments of which some are copied, those that others hold too (S3.4)."""
    if not any(shared):
        return take
    return lambda values: [
        separate(value) if is_shared else value for value, is_shared in zip(take(values), shared, strict=True)
    ]
