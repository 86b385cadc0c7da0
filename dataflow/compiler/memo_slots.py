"""Memo slots: what is known before any run of the values that nodes with a memo read and give (S13.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.compiler.plan import Call, MemoSlots

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dataflow.compiler.plan import Feed, PlanNode, ScopePlan

__all__ = ["inputs_of_call", "note_memo_slots"]


def note_memo_slots(plans: Iterable[ScopePlan]) -> None:
    """Note in the connected scopes of a flow what their nodes with a memo read, if there are any."""
    scopes = list(plans)
    if any(_is_remembered(node) for plan in scopes for node in plan.nodes):
        for plan in scopes:
            outer = {own: slot for slot, own in plan.imports}
            reads = {node.index: found for node in plan.nodes if (found := _reads(node)) is not None}
            plan.memo = MemoSlots(outer, _unread(plan), reads)


def _is_remembered(node: PlanNode) -> bool:
    return isinstance(node.action, Call) and node.action.memo is not None


def _is_stored(node: PlanNode) -> bool:
    return (
        isinstance(node.action, Call) and node.action.memo is not None and node.action.memo.reach == "store"
    )


def inputs_of_call(call: Call) -> Iterator[tuple[str, Feed | int]]:
    """Go through the input ports of a call, without its config, in any order."""
    parameters = call.type.parameters
    named = (*zip(parameters.positional, call.positional, strict=False), *call.keywords.items())
    yield from (pair for pair in named if pair[0] != parameters.config_name)
    if call.star is not None:
        yield parameters.star or "", call.star


def _reads(node: PlanNode) -> tuple[tuple[str, ...], tuple[int, ...]] | None:
    """Tell where the inputs of a node with a memo stand, if each is what one slot holds."""
    if not isinstance(node.action, Call) or node.action.memo is None:
        return None
    reads: dict[str, int] = {}
    for port, given in inputs_of_call(node.action):
        if isinstance(given, int):
            reads[port] = given
        elif given.many or len(given.slots) != 1 or given.check is not None or given.is_signal:
            return None
        else:
            reads[port] = given.slots[0]
    ports = tuple(sorted(reads))
    return ports, tuple([reads[port] for port in ports])


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
