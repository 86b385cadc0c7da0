"""Memo slots: what is known before any run of the values that nodes with a memo read and give (S13.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.plan import Call, MemoSlots

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataflow.plan import PlanNode, ScopePlan

__all__ = ["note_memo_slots"]


def note_memo_slots(plans: Iterable[ScopePlan]) -> None:
    """Note in the connected scopes of a flow what their nodes with a memo read, if there are any."""
    scopes = list(plans)
    if any(_is_remembered(node) for plan in scopes for node in plan.nodes):
        for plan in scopes:
            outer = {own: slot for slot, own in plan.imports}
            plan.memo = MemoSlots(outer, _unread(plan))


def _is_remembered(node: PlanNode) -> bool:
    return isinstance(node.action, Call) and node.action.memo is not None


def _is_stored(node: PlanNode) -> bool:
    return (
        isinstance(node.action, Call) and node.action.memo is not None and node.action.memo.reach == "store"
    )


def _unread(plan: ScopePlan) -> frozenset[int]:
    """Find the slots whose value may stay in the store, since none but calls that may be there too read it.

    Whoever else hears of a slot is in one of the tables of the plan. A value that is checked when it enters a
    port has to be there; that of a lazy port is asked for in a way of its own.
    """
    checked = {slot for node in plan.nodes for feed in node.feeds if feed.check for slot in feed.slots}
    elsewhere = {*checked, *plan.collects, *plan.at_end, *plan.settled}
    return frozenset(
        slot
        for node in plan.nodes
        if _is_stored(node)
        for slot in node.outputs.values()
        if not plan.is_told[slot]
        and slot not in elsewhere
        and plan.readers[slot]
        and all(_is_stored(plan.nodes[reader]) for reader in plan.readers[slot])
    )
