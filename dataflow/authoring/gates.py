"""Loops that are entered at several nodes: all their rounds begin at a node in front of those, the gate."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the annotations of the node are read
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring.edge_writing import write_edge
from dataflow.authoring.naming import free_name
from dataflow.builder.declare import node
from dataflow.core.config import Config
from dataflow.core.ports import NodeOutput, Port, Ports

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from dataflow.builder.declare import Node
    from dataflow.formats.foreign import JsonDict

__all__ = ["Gate", "entry_port", "find_gates", "gate_type"]

#: The heads that the id of a gate names; others are counted as more.
MOST_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Gate:
    """A node in front of a loop that is entered at several nodes, its heads: all rounds begin at the gate."""

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
        return (write_edge(self.id, self.port(head), head, port) for head in self.heads)


def find_gates(loops: Iterable[frozenset[str]], taken: Collection[str]) -> dict[str, Gate]:
    """Return a gate for each loop with several heads, by head; the loops are given as their heads.

    `taken` are the ids that no gate may have. A node is head of one loop at most: outer loops have no edges
    to their heads but those that close them.
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


def entry_port(gates: Mapping[str, Gate], node: str, port: str) -> tuple[str, str]:
    """Return the node and the input port for an edge to a node: its own `port`, or that of its gate."""
    gate = gates.get(node)
    return (node, port) if gate is None else (gate.id, gate.port(node))


class Heads(Config):
    """Config of a gate: a port for each head, and whether a round may begin at several of them at once."""

    heads: list[str]
    at_once: bool = False


def gate_type(value: Any) -> Node[Any, Any]:
    """Return the node type of gates that pass on values of a type, for the pack of a format to list."""

    def ports(config: Heads) -> Ports:
        inputs = {head: Port(value | None, default=None) for head in config.heads}
        exits = {head: None if config.at_once else head for head in config.heads}
        return Ports(inputs, {head: Port(value, conditional=True, exit=exits[head]) for head in config.heads})

    @node(ports=ports)
    async def loop(inputs: Mapping[str, Any], config: Heads) -> NodeOutput:
        """Begin a round of a loop at the nodes that something has come to."""
        return NodeOutput({head: inputs[head] for head in config.heads if inputs[head] is not None})

    return loop
