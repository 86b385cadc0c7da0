"""Maps that `each` and `every` open, as maps in block form: the reference reads no other (S7.1, S7.4).

A map over edges has no such form: its one list is the source `every`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

#: The sources that open maps.
OPENING: Final = {"each", "every"}


def lifted(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document in which each map has a block; what opens one stands alone on a port of one node."""
    block = _inside(document)
    for id in list(block["nodes"]):
        node = block["nodes"].get(id, {})  # it may have gone into a map meanwhile
        ports = [port for port, given in _inputs(node) if isinstance(given, dict) and OPENING & given.keys()]
        if ports:
            block = _lift(block, id, ports[0])
    return block


def _inside(block: Mapping[str, Any]) -> dict[str, Any]:
    nodes = {}
    for id, node in block["nodes"].items():
        kind = next((kind for kind in ("loop", "map", "flow") if kind in node), None)
        nodes[id] = dict(node) if kind is None else {**node, kind: lifted(node[kind])}
    return {**block, "nodes": nodes}


def _inputs(node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from node.get("inputs", {}).items()


def _lift(block: dict[str, Any], head: str, port: str) -> dict[str, Any]:
    """Put a node, and those that read it without collecting it, into a map with the node's id.

    Another call of `each` over the list is in it too, if both have the same share or a node reads both.
    """
    nodes, edges = block["nodes"], block["edges"]
    item = dict(nodes[head]["inputs"][port])
    members = _readers(block, head)
    for id, name in _calls(block, item):
        given, readers = nodes[id]["inputs"][name], _readers(block, id)
        is_shared = "share" in item and item["share"] == given.get("share")
        if (id, name) == (head, port) or is_shared or readers & members:
            members |= readers
            nodes[id] = {**nodes[id], "inputs": {**nodes[id]["inputs"], name: "$item.item"}}
    over = item if "every" in item else item.pop("each")
    item.pop("share", None)
    part = {
        "over": {"item": over},
        **(item if over is not item else {}),
        "nodes": {id: nodes[id] for id in nodes if id in members},
        "edges": [edge for edge in edges if edge["target"] in members],
        "outputs": {member: member for member in nodes if member in members},
    }
    left: dict[str, Any] = {}
    for id, node in nodes.items():
        if id == head:
            left[id] = {"map": part, "meta": {"lifted": True}}
        elif id not in members:
            left[id] = _collected(node, head, members)
    return {**block, "nodes": left, "edges": [edge for edge in edges if edge["target"] not in members]}


def _calls(block: dict[str, Any], item: dict[str, Any]) -> list[tuple[str, str]]:
    """List the ports that read what an item is read from."""
    over = {key: item[key] for key in OPENING & item.keys()}
    return [
        (id, port)
        for id, node in block["nodes"].items()
        for port, given in _inputs(node)
        if isinstance(given, dict) and {key: given[key] for key in OPENING & given.keys()} == over
    ]


def _readers(block: dict[str, Any], head: str) -> set[str]:
    """Name a node, and those that read it without collecting it, however far."""
    found = {head}
    while (
        more := {
            id
            for id, node in block["nodes"].items()
            for wired in (
                [given for _, given in _inputs(node)],
                [edge["source"] for edge in block["edges"] if edge["target"] == id],
            )
            if any(member in wired for member in found)
        }
        - found
    ):
        found |= more
    return found


def _collected(node: dict[str, Any], head: str, members: set[str]) -> dict[str, Any]:
    """Let what collects from the map read its list."""
    inputs = {
        port: f"{head}.{given['collect']}"
        if isinstance(given, dict) and given.get("collect") in members
        else given
        for port, given in _inputs(node)
    }
    return {**node, "inputs": inputs} if inputs else node
