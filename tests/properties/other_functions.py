"""Other functions for nodes of random flows, which take and give the same ports."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tests.properties.lifting import lifted

_PAIRS: Final = (
    ("one", "other_one"),
    ("optional", "other_optional"),
    ("two", "other_two"),
    ("total", "other_total"),
)
_OTHERS: Final = {f"t.{a}": f"t.{b}" for pair in _PAIRS for a, b in (pair, pair[::-1])}


def replaceable(document: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """List the nodes that may get another function, with the blocks around each; none of nested flows."""
    return list(_replaceable(document, ()))


def _replaceable(block: Mapping[str, Any], around: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for id, node in block["nodes"].items():
        if node.get("type") in _OTHERS:
            yield (*around, id)
        for kind in ("loop", "map"):
            if kind in node:
                yield from _replaceable(node[kind], (*around, id))


def with_other(document: Mapping[str, Any], address: Sequence[str]) -> tuple[dict[str, Any], str]:
    """Return the document with another function at a node, and which that is."""
    found = copy.deepcopy(dict(document))
    block = found
    for id in address[:-1]:
        node = block["nodes"][id]
        block = node["loop"] if "loop" in node else node["map"]
    node = block["nodes"][address[-1]]
    node["type"] = _OTHERS[node["type"]]
    return found, node["type"]


def home_of(document: Mapping[str, Any], id: str) -> str:
    """Return which node of the root a node is, or is inside of where `each` has opened a map."""
    nodes = lifted(document)["nodes"]
    return (
        id
        if id in nodes
        else next(one for one, node in nodes.items() if id in node.get("map", {}).get("nodes", {}))
    )
