"""Who makes and who reads each value of a scope, inner scopes included (S5.3, S8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dataflow.plan import ScopePlan

__all__ = ["Uses", "uses_of"]


@dataclass(frozen=True, slots=True)
class Uses:
    """The makers and readers of the slots of one scope."""

    makers: Mapping[int, int]  # slot -> the node that gives it; slots from outside have none
    readers: Mapping[int, tuple[int, ...]]  # slot -> nodes that read it, or inside of which it is read
    reads: tuple[tuple[int, ...], ...]  # by node: the slots it reads, itself or inside
    held: frozenset[int]  # slots that whoever opened the frame reads


def uses_of(plan: ScopePlan, held: Iterable[int]) -> Uses:
    """Tell who uses what in a scope; `held` are the slots that its owner, or the flow's outputs, read."""
    reads = [dict.fromkeys(slot for feed in node.feeds for slot in feed.slots) for node in plan.nodes]
    for slot, inner in plan.exports.items():
        for owner, _ in inner:
            reads[owner][slot] = None
    readers: dict[int, list[int]] = {}
    for index, slots in enumerate(reads):
        for slot in slots:
            readers.setdefault(slot, []).append(index)
    return Uses(
        {slot: node.index for node in plan.nodes for slot in node.outputs.values()},
        {slot: tuple(found) for slot, found in readers.items()},
        tuple(tuple(slots) for slots in reads),
        frozenset(held),
    )
