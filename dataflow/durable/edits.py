"""Edits: what differs between the flow a run began with and the one it is resumed with (S11.4)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from dataflow.durable.shape import NodeShape
from dataflow.errors import FlowEdited

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from dataflow.durable.shape import FlowShape

__all__ = ["CODE", "Edits", "check_edits", "compare"]

#: The one part of a node that may change under a value that stands.
CODE: Final = "code"


@dataclass(frozen=True, slots=True)
class Edits:
    """What was edited, by address in the order of the flows.

    What was renamed, under its old address, stands neither under `added` nor under `removed`. Of a changed
    node the parts are named that differ: type, version, config, wiring, code. `modules` are those, by their
    old names, that a node type was in whose function has the same name in another module now.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    changed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_none(self) -> bool:
        """Whether nothing differs."""
        return not (self.added or self.removed or self.renamed or self.changed)

    @property
    def gone(self) -> frozenset[str]:
        """Addresses that the flow does not have any more."""
        return frozenset((*self.removed, *self.renamed))

    @property
    def altered(self) -> frozenset[str]:
        """Addresses whose stored values the flow as it is now need not come to, changed code aside."""
        return frozenset(address for address, parts in self.changed.items() if parts != (CODE,))


def compare(stored: FlowShape, present: FlowShape) -> Edits:
    """Tell what was edited; a node that was removed and one added with an equal entry are one, renamed."""
    old, new = stored.entries, present.entries
    added = [address for address in new if address not in old]
    removed = [address for address in old if address not in new]
    alike: dict[NodeShape, deque[str]] = {}
    for address in added:
        alike.setdefault(new[address], deque()).append(address)
    renamed = {address: alike[old[address]].popleft() for address in removed if alike.get(old[address])}
    taken = set(renamed.values())
    changed = {
        address: tuple(
            name for name in NodeShape._fields if getattr(entry, name) != getattr(new[address], name)
        )
        for address, entry in old.items()
        if address in new and new[address] != entry
    }
    return Edits(
        tuple(address for address in added if address not in taken),
        tuple(address for address in removed if address not in renamed),
        renamed,
        changed,
        dict(pair for address in changed for pair in _modules(old[address].type, new[address].type)),
    )


def _modules(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Name the modules of node types that are in another one now, and that by its name."""
    for was, now in zip(old.split(), new.split(), strict=False):
        (module, colon, function), (other, _, same) = was.partition(":"), now.partition(":")
        if colon and function == same and module != other:
            yield module, other


def check_edits(run: str, edits: Edits, settled: Collection[str]) -> list[str]:
    """Return a warning for each settled node of which only the code has changed.

    Raises FlowEdited, with all edits, if a settled node was removed, renamed or changed otherwise; what has
    not been settled may change freely.
    """
    if not (edits.gone | edits.altered).isdisjoint(settled):
        raise FlowEdited(
            run,
            edits.added,
            [*(f"{old} -> {new}" for old, new in edits.renamed.items()), *edits.removed],
            [f"{address} ({', '.join(parts)})" for address, parts in edits.changed.items()],
            [f"{old} -> {new}" for old, new in edits.modules.items()],
        )
    known = frozenset(settled)
    return [
        f"code of node {address!r} has changed; its stored value stands"
        for address, parts in edits.changed.items()
        if CODE in parts and address in known
    ]
