"""The ids and the ends of edges in a file: each id stands once, and each end is a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.formats.problems import write_path
from dataflow.wording import choices, nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from dataflow.formats.part_reading import PartReader
    from dataflow.formats.tree import Path

__all__ = ["check_ids", "end_of", "named_ids", "note_twin"]


def named_ids(parts: Iterable[PartReader]) -> set[str]:
    """Return the ids that parts have."""
    return {id for part in parts if isinstance(id := part.part.get("id"), str) and id}


def check_ids(parts: Iterable[PartReader]) -> None:
    """Note each part that has the id of one before it."""
    first: dict[str, PartReader] = {}
    for part in parts:
        id = part.part.get("id")
        if isinstance(id, str) and id and (before := first.setdefault(id, part)) is not part:
            note_twin(part, id, before.path)


def note_twin(part: PartReader, id: str, before: Path) -> None:
    """Note that a part has the id of another, which stands before it."""
    part.problem(f"has the id {id!r} of {write_path(before)}; each id stands once", "id")


def end_of(edge: PartReader, keys: Sequence[str], leads: str, nodes: Collection[str]) -> str:
    """Return the node that an edge leads from or to, which is one of these; the keys are its names."""
    key = next((one for one in keys if edge.part.get(one) not in (None, "")), keys[0])
    found = "" if edge.missing(key) else edge.text(key)
    if found and found not in nodes:
        told = f"leads {leads} {found!r}, which is no node"
        edge.problem(f"{told}; {choices(nearest(nodes, found))}", key)
    return found
