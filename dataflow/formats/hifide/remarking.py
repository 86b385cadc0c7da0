"""The report of a flow of HiFide: where it means something else here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.formats.hifide.kinds import CHAT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.formats.foreign import Notes
    from dataflow.formats.hifide.parts import HifideFlow, Wire

__all__ = ["remark_on"]


def remark_on(flow: HifideFlow, wires: Sequence[Wire], notes: Notes) -> None:
    """Note what runs otherwise than in the original."""
    for id in flow.nodes:
        leading = {wire.source_port for wire in wires if wire.source == id}
        readers = [
            wire.target
            for wire in wires
            if wire.source == id and wire.target_port in ("context", "conversation") and not wire.feedback
        ]
        talking = [
            reader
            for reader in dict.fromkeys(readers)
            if reader in flow.nodes and flow.nodes[reader].kind == CHAT
        ]
        if len(talking) > 1 and len(leading) == 1:
            told = " and ".join(map(repr, talking))
            notes.remark(id, f"{told} write to one history at once", "each goes on from the same history")
