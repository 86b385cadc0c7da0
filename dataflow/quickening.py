"""Quickening: which calls of a scope take no more than calling a function and passing its value on (S2.4)."""

from __future__ import annotations

from inspect import CO_COROUTINE
from operator import itemgetter
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from dataflow.plan import Call, QuickCall
from dataflow.separation import ATOMIC, separate, separate_all
from dataflow.signature import Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dataflow.plan import PlanNode, ScopePlan

__all__ = ["quicken"]


def quicken(plan: ScopePlan) -> None:
    """Note for each slot of a connected scope who hears of it, and for each node what a firing comes to."""
    told = {*plan.lazy, *plan.early, *plan.exports, *plan.awaited, *plan.awaited_nexts, plan.test}
    simple = [isinstance(node.action, Call) and node.is_plain for node in plan.nodes]
    plan.is_told = bytearray(slot in told for slot in range(len(plan.initial)))
    plan.calls = [
        readers if slot not in told and all(simple[index] for index in readers) else None
        for slot, readers in enumerate(plan.readers)
    ]
    plan.quick = [_quick(plan, node) for node in plan.nodes]


def _quick(plan: ScopePlan, node: PlanNode) -> QuickCall | None:
    call = node.action
    if not isinstance(call, Call) or call.direct is None or not _is_simple(call):
        return None
    take = _taking(call.direct, [plan.shared[slot] for slot in call.direct])
    if len(node.outputs) > 1 or plan.uses is not None:
        return QuickCall(call.type.call, take, None, None, is_collected=False)
    out = node.outputs["out"]
    is_collected = out in plan.collects and plan.calls[out] == ()
    calls = None if out in plan.collects else plan.calls[out]
    return QuickCall(call.type.call, take, out, calls, is_collected)


def _is_simple(call: Call) -> bool:
    """Tell whether calling the function runs none of its code, and its value is that of its one port."""
    function = call.type.call
    if isinstance(function, MethodType):
        function = function.__func__
    is_native = isinstance(function, FunctionType) and bool(function.__code__.co_flags & CO_COROUTINE)
    return is_native and call.type.shape is Shape.SINGLE and call.bounds is None and not call.is_branch


def _taking(slots: Sequence[int], shared: Sequence[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """Return what takes the arguments out of the slots, copies of those that others hold too (S3.4)."""
    if not any(shared):
        return _reading(slots)
    if len(slots) == 1:
        return _copying(slots[0])
    read = _reading(slots)
    if all(shared):
        return lambda values: separate_all(read(values))
    return lambda values: [
        separate(value) if is_shared else value for value, is_shared in zip(read(values), shared, strict=True)
    ]


def _reading(slots: Sequence[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    if len(slots) > 1:
        return itemgetter(*slots)
    return itemgetter(slice(slots[0], slots[0] + 1) if slots else slice(0))


def _copying(slot: int) -> Callable[[Sequence[Any]], Sequence[Any]]:
    def take(values: Sequence[Any]) -> Sequence[Any]:
        value = values[slot]
        return (value,) if type(value) in ATOMIC else (separate(value),)

    return take
