"""Caches: what comes before one runs only where it has no value, so its value is made by a node beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dataflow_formats.hifide.kinds import CACHE, MISSING

if TYPE_CHECKING:
    from dataflow.authoring import JsonDict, Notes
    from dataflow_formats.hifide.parts import HifideFlow, Node
    from dataflow_formats.hifide.wiring import Wired

__all__ = ["read_lazily"]


def read_lazily(flow: HifideFlow, made: Wired, notes: Notes) -> None:
    """Place a node beside each cache that reads its data lazily, and gives what the cache does not have.

    Data that is read though nothing leads to it is noted as a problem.
    """
    for node in flow.nodes.values():
        if node.kind == CACHE:
            _add_keeping(flow, node, made, notes)


def _add_keeping(flow: HifideFlow, node: Node, made: Wired, notes: Notes) -> None:
    id = flow.free(f"{node.id}_kept")
    read = any(wire.target == node.id and wire.target_port == "data" for wire in made.wires)
    if not read:
        _check_empty(node, made, notes)
    made.between[id] = {
        "type": "hifide.keep",
        "config": {"name": node.id, **({"wired": ["data"]} if read else {}), **_keeping(node)},
    }
    made.behind[id] = node.id
    wires = made.wires
    made.wires = [
        replace(wire, target=id) if (wire.target, wire.target_port) == (node.id, "data") else wire
        for wire in wires
    ]
    made.wires += [replace(wire, source=id) for wire in wires if wire.source == node.id]
    made.add(node.id, MISSING, id, MISSING)


def _check_empty(node: Node, made: Wired, notes: Notes) -> None:
    """Note who reads the data of a cache to which none comes."""
    for wire in made.wires:
        if (wire.source, wire.source_port) == (node.id, "data"):
            reader = made.behind.get(wire.target, wire.target)
            notes.problem(wire.path, f"node {node.id!r} has nothing on data, which {reader!r} reads")


def _keeping(node: Node) -> JsonDict:
    """Say that a value is not kept at all; what of the config cannot be read is told elsewhere."""
    return {"is_kept": False} if node.config.get("ttl") == 0 else {}
