"""Another order of declaration that means the same."""

from __future__ import annotations

import random
from typing import Any


def shuffled(document: dict[str, Any], choose: random.Random) -> dict[str, Any]:
    """Return a document with its nodes, edges and keys in another order.

    Edges into one port keep theirs, which has a meaning (S5.1).
    """
    return {key: _part(key, value, choose) for key, value in document.items()}


def _part(key: str, value: Any, choose: random.Random) -> Any:
    if key == "nodes":
        ids = list(value)
        choose.shuffle(ids)
        return {id: {k: _part(k, v, choose) for k, v in value[id].items()} for id in ids}
    if key in ("loop", "map") or (key == "flow" and isinstance(value, dict)):
        return shuffled(value, choose)
    if key == "edges":
        return _edges(value, choose)
    return value


def _edges(edges: list[dict[str, Any]], choose: random.Random) -> list[dict[str, Any]]:
    """Mix the edges of different ports."""
    ports: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for edge in edges:
        ports.setdefault((edge["target"], edge["target_port"]), []).append(edge)
    turns = [port for port, given in ports.items() for _ in given]
    choose.shuffle(turns)
    queues = {port: iter(given) for port, given in ports.items()}
    return [next(queues[port]) for port in turns]
