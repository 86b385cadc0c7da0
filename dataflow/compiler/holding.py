"""Holding: who holds which value of a scope, so that it can be let go when nobody does (S8.5)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from dataflow.core.states import UNSETTLED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.compiler.plan import ScopePlan

__all__ = ["Holding", "holding_of"]


class Holding(NamedTuple):
    """What each node of a scope holds, and how many hold each value."""

    held: Sequence[Sequence[int]]  # by node: the slots that it reads or fills, itself or inside it
    holders: list[int]  # by slot


def holding_of(plan: ScopePlan) -> Holding:
    """Tell who holds which value of a scope; constants and what is read at the end are held for ever."""
    held = [{*node.outputs.values(), *(s for feed in node.feeds for s in feed.slots)} for node in plan.nodes]
    for slot, inner in plan.exports.items():
        for owner, _ in inner:  # every frame that it opens reads it
            held[owner].add(slot)
    counted = Counter(slot for slots in held for slot in slots)
    holders = [
        1 + counted[slot] + (value is not UNSETTLED or slot in plan.at_end)
        for slot, value in enumerate(plan.initial)
    ]
    return Holding([sorted(slots) for slots in held], holders)
