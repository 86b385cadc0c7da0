"""Loops that are entered at several nodes: all their rounds begin at a node in front of those, the gate."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the annotations of the node are read
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dataflow.config import Config
from dataflow.declare import node
from dataflow.formats.edge_writing import edge_of
from dataflow.formats.naming import free_name
from dataflow.node_output import NodeOutput
from dataflow.ports import Port, Ports

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from dataflow.declare import Node
    from dataflow.formats.foreign import JsonDict

__all__ = ["Gate", "gate_type", "gates", "limit_of", "way_to"]

#: The heads that the id of a gate names; others are counted as more.
MOST_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate of a loop: its id, and the nodes behind it, at which the loop is entered."""

    id: str
    heads: tuple[str, ...]

    def port(self, head: str) -> str:
        """Return the port that leads to a head."""
        return f"head_{self.heads.index(head) + 1}"

    def node(self, type: str, **more: Any) -> JsonDict:
        """Write the gate as a node of a document; `more` is config besides the heads."""
        return {"type": type, "config": {"heads": [self.port(head) for head in self.heads], **more}}

    def edges(self, port: str) -> Iterator[JsonDict]:
        """Write the edges to a port of each head."""
        return (edge_of(self.id, self.port(head), head, port) for head in self.heads)


def gates(loops: Iterable[frozenset[str]], taken: Collection[str]) -> dict[str, Gate]:
    """Return by head the gates of loops that have several; each loop is told as its heads.

    A node is head of one loop at most: outer loops have no edges to their heads but those that close them.
    """
    found: dict[str, Gate] = {}
    names = {*taken}
    for several in dict.fromkeys(loops):
        if len(several) > 1:
            heads = tuple(sorted(several))
            gate = Gate(free_name(_name(heads), names), heads)
            names.add(gate.id)
            found |= dict.fromkeys(gate.heads, gate)
    return found


def _name(heads: Sequence[str]) -> str:
    """Name a gate after its heads, so that what is told of its loop names nodes of the file."""
    more = len(heads) - MOST_NAMED
    return "_or_".join(heads if more <= 0 else (*heads[:MOST_NAMED], f"{more}_more"))


def way_to(gates: Mapping[str, Gate], node: str, port: str) -> tuple[str, str]:
    """Return the port that leads to a node: its own, or that of the gate before it."""
    gate = gates.get(node)
    return (node, port) if gate is None else (gate.id, gate.port(node))


def limit_of(rounds: int, heads: Collection[str]) -> int:
    """Return the limit of a loop that has so many rounds for each head; what comes to any of them counts."""
    return rounds * len(heads)


class Heads(Config):
    """Config of a gate: a port for each head, and whether a round may begin at several of them at once."""

    heads: list[str]
    at_once: bool = False


def gate_type(value: Any) -> Node[Any, Any]:
    """Return a node type whose nodes are gates, through which values of a type go."""

    def ports(config: Heads) -> Ports:
        inputs = {head: Port(value | None, default=None) for head in config.heads}
        exits = {head: None if config.at_once else head for head in config.heads}
        return Ports(inputs, {head: Port(value, conditional=True, exit=exits[head]) for head in config.heads})

    @node(ports=ports)
    async def loop(inputs: Mapping[str, Any], config: Heads) -> NodeOutput:
        """Begin a round of a loop at the nodes that something has come to."""
        return NodeOutput({head: inputs[head] for head in config.heads if inputs[head] is not None})

    return loop
