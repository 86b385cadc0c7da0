"""Loops in foreign graphs: find them with their nesting, and add gates to loops with several entries."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the annotations of the node are evaluated
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring.writer import free_name, write_edge
from dataflow.builder.declare import node
from dataflow.core.config import Config
from dataflow.core.ports import NodeOutput, Port, Ports

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from dataflow.builder.declare import Node
    from dataflow.formats.foreign import JsonDict

__all__ = ["Gate", "GraphLoop", "entry_port", "find_gates", "find_loops", "gate_type", "reachable"]

#: The maximum number of heads in the id of a gate; the others are counted.
MOST_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class GraphLoop:
    """A loop of a graph: its nodes, its heads (where it is entered), and the numbers of its back edges."""

    nodes: frozenset[str]
    heads: frozenset[str]
    back: frozenset[int]


def reachable(start: str, edges: Sequence[tuple[str, str]]) -> set[str]:
    """Return the nodes that can be reached from the start, including the start."""
    following: dict[str, list[str]] = {}
    for source, target in edges:
        following.setdefault(source, []).append(target)
    found, waiting = {start}, [start]
    while waiting:
        further = set(following.get(waiting.pop(), ())) - found
        found |= further
        waiting += further
    return found


def find_loops(start: str, edges: Sequence[tuple[str, str]]) -> list[GraphLoop]:
    """Return all loops of a graph, outer loops before those inside them.

    An inner loop is a loop that remains when the back edges of the outer loop are removed. `edges` are
    pairs of source and target, numbered from 0; all nodes must be reachable from the start.
    """
    found: list[GraphLoop] = []
    waiting = [list(range(len(edges)))]
    while waiting:
        numbers = waiting.pop()
        for nodes in _components([edges[number] for number in numbers]):
            within = [number for number in numbers if nodes.issuperset(edges[number])]
            entered = {edges[number][1] for number in numbers if edges[number][0] not in nodes}
            heads = frozenset(nodes & (entered | {start})) or nodes
            back = frozenset(number for number in within if edges[number][1] in heads)
            found.append(GraphLoop(nodes, heads, back))
            waiting.append([number for number in within if number not in back])
    return found


def _components(edges: Iterable[tuple[str, str]]) -> list[frozenset[str]]:
    """Return the strongly connected components, including nodes with an edge to themselves."""
    import networkx as nx  # loads slowly, and most formats do not need it

    graph: nx.DiGraph[str] = nx.DiGraph(edges)
    components = map(frozenset, nx.strongly_connected_components(graph))
    return [one for one in components if len(one) > 1 or graph.has_edge(*one, *one)]


@dataclass(frozen=True, slots=True)
class Gate:
    """A node in front of a loop with several heads (entries): all iterations start at the gate."""

    id: str
    heads: tuple[str, ...]

    def port(self, head: str) -> str:
        """Return the port that leads to a head."""
        return f"head_{self.heads.index(head) + 1}"

    def node(self, type: str, **more: Any) -> JsonDict:
        """Return the gate as a node of a document; `more` is config in addition to the heads."""
        return {"type": type, "config": {"heads": [self.port(head) for head in self.heads], **more}}

    def edges(self, port: str) -> Iterator[JsonDict]:
        """Yield the edges to a port of each head."""
        return (write_edge(self.id, self.port(head), head, port) for head in self.heads)


def find_gates(loops: Iterable[frozenset[str]], taken: Collection[str]) -> dict[str, Gate]:
    """Return a gate for each loop with several heads, by head; the loops are given as their heads.

    `taken` are the ids that a gate may not have. A node is a head of at most one loop: the only edges of an
    outer loop to its heads are those that close it.
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
    """Name a gate after its heads, so that messages about its loop name nodes of the file."""
    more = len(heads) - MOST_NAMED
    return "_or_".join(heads if more <= 0 else (*heads[:MOST_NAMED], f"{more}_more"))


def entry_port(gates: Mapping[str, Gate], node: str, port: str) -> tuple[str, str]:
    """Return the node and the input port for an edge to a node: its own `port`, or that of its gate."""
    gate = gates.get(node)
    return (node, port) if gate is None else (gate.id, gate.port(node))


class Heads(Config):
    """Config of a gate: a port for each head, and whether an iteration may start at several of them."""

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
        """Start an iteration of a loop at the nodes that have received a value."""
        return NodeOutput({head: inputs[head] for head in config.heads if inputs[head] is not None})

    return loop
