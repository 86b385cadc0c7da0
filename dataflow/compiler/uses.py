"""Who makes and who reads each value of a scope, inner scopes included (S5.3, S8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dataflow.compiler.plan import LoopOf, MapOf

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dataflow.compiler.plan import PlanNode, ScopePlan

__all__ = ["Links", "Uses", "links_of", "uses_of"]


@dataclass(frozen=True, slots=True)
class Uses:
    """The makers and readers of the slots of one scope."""

    makers: Mapping[int, int]  # slot -> the node that gives it; slots from outside have none
    readers: Mapping[int, tuple[int, ...]]  # slot -> nodes that read it, or inside of which it is read
    reads: tuple[tuple[int, ...], ...]  # by node: the slots it reads, itself or inside
    needs: tuple[tuple[int, ...], ...]  # likewise, without what only lazy ports read
    held: frozenset[int]  # slots that whoever opened the frame reads
    demanded: frozenset[int]  # nodes that a frame runs without being asked for them (S6.1, S8.1)
    eventually: frozenset[int]  # those, and what only a next round needs
    imported: frozenset[int]  # slots from outside that a frame needs, at the latest for a next round


@dataclass(frozen=True, slots=True)
class Links:
    """Who makes and who reads the values of a scope, and no more than that; see `Uses`."""

    makers: Mapping[int, int]
    readers: Mapping[int, Sequence[int]]
    reads: tuple[tuple[int, ...], ...]
    needs: tuple[tuple[int, ...], ...]

    @property
    def has_lazy(self) -> bool:
        """Whether there is anything that only lazy ports read."""
        return self.reads is not self.needs


def links_of(plan: ScopePlan) -> Links:
    """Tell who makes and who reads the values of a scope; most have no lazy ports, nor races."""
    uses = plan.uses
    if uses is not None:
        return Links(uses.makers, uses.readers, uses.reads, uses.needs)
    makers = {slot: node.index for node in plan.nodes for slot in node.outputs.values()}
    reads = [dict.fromkeys(slot for feed in node.feeds for slot in feed.slots) for node in plan.nodes]
    for slot, inner in plan.exports.items():
        for owner, _ in inner:
            reads[owner][slot] = None
    readers: dict[int, list[int]] = {}
    for index, slots in enumerate(reads):
        for slot in slots:
            readers.setdefault(slot, []).append(index)
    found = tuple(map(tuple, reads))
    return Links(makers, readers, found, found)


def uses_of(plan: ScopePlan, now: Iterable[int], later: Iterable[int] = ()) -> Uses:
    """Tell who uses what in a scope; the scopes inside come first.

    `now` are the slots that its owner, or the flow's outputs, read in any case, `later` those that the
    owner reads only if another round of a loop follows (S6.1).
    """
    makers = {slot: node.index for node in plan.nodes for slot in node.outputs.values()}
    reads = [dict.fromkeys(slot for feed in node.feeds for slot in feed.slots) for node in plan.nodes]
    needs = [
        dict.fromkeys(slot for feed in node.feeds if not feed.is_lazy for slot in feed.slots)
        for node in plan.nodes
    ]
    for slot, inner in plan.exports.items():
        for owner, own in inner:
            reads[owner][slot] = None
            if own in _imported(plan.nodes[owner]):
                needs[owner][slot] = None
    readers: dict[int, list[int]] = {}
    for index, slots in enumerate(reads):
        for slot in slots:
            readers.setdefault(slot, []).append(index)
    at_once, imports = frozenset(now), {own for _, own in plan.imports}
    held = at_once.union(later)
    demanded, eventually = (_demanded(plan, makers, readers, needs, held, roots) for roots in (at_once, held))
    return Uses(
        makers=makers,
        readers={slot: tuple(found) for slot, found in readers.items()},
        reads=tuple(map(tuple, reads)),
        needs=tuple(map(tuple, needs)),
        held=held,
        demanded=demanded,
        eventually=eventually,
        imported=frozenset(imports & held.union(*(needs[index] for index in eventually))),
    )


def _imported(owner: PlanNode) -> frozenset[int]:
    """Return which slots from outside the frames that a node opens need."""
    assert isinstance(owner.action, LoopOf | MapOf), "only their bodies read what is outside"
    uses = owner.action.body.uses
    assert uses is not None, "the scopes inside come first"
    return uses.imported


def _demanded(
    plan: ScopePlan,
    makers: Mapping[int, int],
    readers: Mapping[int, Iterable[int]],
    needs: list[dict[int, None]],
    held: frozenset[int],
    roots: frozenset[int],
) -> frozenset[int]:
    """Find what a frame runs: what nothing reads, what gives the roots, and all that these need."""
    unread = [
        node.index for node in plan.nodes
        if not any(slot in readers or slot in held for slot in node.outputs.values())
    ]  # fmt: skip
    found = {*unread, *(makers[slot] for slot in roots if slot in makers)}
    todo = list(found)
    while todo:
        for slot in needs[todo.pop()]:
            maker = makers.get(slot)
            if maker is not None and maker not in found:
                found.add(maker)
                todo.append(maker)
    return frozenset(found)
