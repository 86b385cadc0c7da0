"""Maps over edges in random flat flows: which edges they go over, and which are read as lists (S7.4).

A flow is drawn as if there were no maps. What the rules forbid between a map and the loops around its nodes
is then read as a list, which changes no loop.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.properties.feedback_flows import FlatFlow, Wire


def is_chained(wire: Wire) -> bool:
    """Tell whether what reads an edge is in the map that it begins in, if it begins in one."""
    return wire.source is not None and not (wire.feedback or wire.is_item or wire.is_list)


def draw_items(
    choose: random.Random, wires: list[Wire], source: Callable[[int], tuple[int | None, str]]
) -> list[Wire]:
    """Let some ports go over the edge that they have, and over others."""
    found: list[Wire] = []
    known = set[tuple[tuple[int | None, str], ...]]()
    for wire in wires:
        more = [source(wire.target) for _ in range(choose.randint(0, 2))]
        several = (wire.source, wire.source_port), *more
        if wire.port != "a" or choose.random() > 0.4 or several in known:
            found.append(wire)
            continue
        known.add(several)  # the same edges again would be the same map (S7.1)
        found += [replace(wire, source=one, source_port=port, is_item=True) for one, port in several]
    return found


def read_as_lists(flow: FlatFlow) -> None:
    """Have everything behind a map read lists, so that no other node is in one."""
    opening = {wire.target for wire in flow.wires if wire.is_item}
    for position, wire in enumerate(flow.wires):
        flow.wires[position] = replace(wire, is_list=wire.is_list and wire.source in opening)
    for position, wire in enumerate(flow.wires):
        if wire.source in opening and not wire.feedback:
            _read_list(flow, position)


def fit_lists(choose: random.Random, flow: FlatFlow, share: float = 0.5) -> None:
    """Have maps be read as lists where anything else is refused, and in some more places."""
    inside = [{n for n, loop in enumerate(flow.loops) if m in loop.body} for m in range(len(flow.types))]
    back = {wire.source for wire in flow.wires if wire.feedback}
    for target in range(len(flow.types)):
        for position, wire in enumerate(flow.wires):
            cells, source = flow.cells(), wire.source
            if (
                wire.target != target
                or wire.feedback
                or wire.is_list
                or source is None
                or cells[source] is None
            ):
                continue
            here, there = inside[target], inside[source]
            is_apart = not there <= here if wire.is_item else there != here
            is_taken = not wire.is_item and _opened_otherwise(flow, target, cells[source])
            leaves = not wire.is_item and target in back
            if is_apart or is_taken or leaves or (share and choose.random() < share):
                _read_list(flow, position)
        _part(flow, target)
    cells = flow.cells()
    for position, wire in enumerate(flow.wires):
        if wire.is_list and wire.source is not None and cells[wire.source] is None:
            flow.wires[position] = replace(wire, is_list=False)


def _opened_otherwise(flow: FlatFlow, target: int, cell: int | None) -> bool:
    """Tell whether a node is in another map than this one, by another of its edges."""
    cells = flow.cells()
    into = [wire for wire in flow.wires if wire.target == target]
    others = {cells[wire.source] for wire in into if wire.source is not None and is_chained(wire)}
    others |= {target for wire in into if wire.is_item}
    return bool(others - {None, cell})


def _part(flow: FlatFlow, target: int) -> None:
    """Keep a map from being inside the one that all its edges are in."""
    cells = flow.cells()
    into = [(n, wire) for n, wire in enumerate(flow.wires) if wire.target == target and wire.is_item]
    maps = {None if wire.source is None or wire.is_list else cells[wire.source] for _, wire in into}
    if into and len(maps) == 1 and maps != {None}:
        _read_list(flow, into[0][0])


def _read_list(flow: FlatFlow, position: int) -> None:
    """Read a list by an edge; a port with sources of its own says nothing of rounds."""
    wire = flow.wires[position]
    flow.wires[position] = replace(wire, is_list=True)
    for n, one in enumerate(flow.wires):
        if (one.target, one.port) == (wire.target, wire.port) and not one.feedback:
            flow.wires[n] = replace(one, each_round=False, leave="last")
