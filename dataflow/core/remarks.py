"""Remarks: where a flow that was written for another system means something else here."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Remark"]


@dataclass(frozen=True, slots=True)
class Remark:
    """One place of a foreign file: what the original does there, and what runs here.

    `node` is what the file calls the node, empty for the whole flow.
    """

    node: str
    original: str
    here: str

    def __str__(self) -> str:
        place = f"node {self.node!r}: " if self.node else ""
        return f"{place}originally {self.original}; here {self.here}"
