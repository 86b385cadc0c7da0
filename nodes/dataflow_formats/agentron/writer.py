"""Write a graph as a native document, with a subflow for each node."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dataflow.authoring import (
    entry_port,
    find_gates,
    find_loops,
    free_name,
    reachable,
    write_edge,
    write_source,
)
from dataflow_formats.agentron.agents import HELP
from dataflow_formats.agentron.file import WAIT, EdgePart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.authoring import Gate, JsonDict
    from dataflow_formats.agentron.agents import Agent
    from dataflow_formats.agentron.file import Graph, NodePart

__all__ = ["DEFAULT_ROUNDS", "Layout", "document", "lay_out"]

#: The most iterations of a loop where the workflow sets no limit.
DEFAULT_ROUNDS: Final = 100
#: The question of a waiting node that has none.
QUESTION: Final = "The workflow waits for you."
USER: Final = "user"
WALK: Final = "walk"
HELP_TOOL: Final = f"agentron:{HELP}"

_PLAIN: Final = re.compile(r"[^\W\d][\w-]*")


@dataclass(frozen=True, slots=True)
class Layout:
    """The edges of a graph; for those that begin a new iteration, by number, the heads of the loop."""

    edges: tuple[EdgePart, ...]
    heads: Mapping[int, frozenset[str]]
    unreached: frozenset[str]


def lay_out(graph: Graph) -> Layout:
    """Find the loops of a graph; without any edges its nodes run in the listed order."""
    pairs = zip(graph.nodes, graph.nodes[1:], strict=False)
    edges = graph.edges or tuple(EdgePart("", one.id, other.id, other.path) for one, other in pairs)
    if not graph.nodes:
        return Layout((), {}, frozenset())
    first = graph.nodes[0].id
    ends = [(edge.source, edge.target) for edge in edges]
    reached = reachable(first, ends)
    numbers = [number for number, (source, _) in enumerate(ends) if source in reached]
    found = find_loops(first, [ends[number] for number in numbers])
    heads = {numbers[number]: loop.heads for loop in found for number in loop.back}
    unreached = frozenset(node.id for node in graph.nodes) - reached
    return Layout(edges, heads, unreached)


def document(graph: Graph, agents: Mapping[str, Agent], layout: Layout) -> JsonDict:
    """Return the document of a graph; `agents` are by the ids of its nodes."""
    taken = {node.id for node in graph.nodes}
    start, result = free_name("start", taken), free_name("result", taken)
    ports = _ports(layout.edges)
    behind = find_gates(layout.heads.values(), taken | {start, result})
    before = dict.fromkeys(behind.values())
    writer = _Writer(graph, agents, layout, ports, behind)
    nodes = {node.id: writer.node(node, start) for node in graph.nodes}
    edges = [write_edge(start, "out", *writer.entry(graph.nodes[0].id))] if graph.nodes else []
    walked = [node.id for node in graph.nodes if node.id not in layout.unreached]
    edges += [writer.edge(number) for number, edge in enumerate(layout.edges) if edge.source in walked]
    edges += [edge for gate in before for edge in gate.edges(WALK)]
    edges.append(write_edge(start, "out", result, "walks"))
    edges += [write_edge(node, WALK, result, "walks") for node in walked]
    return {
        "inputs": {"inputs": {"type": "object", "default": {}}},
        "nodes": {
            start: {"type": "agentron.start", "inputs": {"inputs": "$in.inputs"}},
            **nodes,
            **{gate.id: gate.node("agentron.loop") for gate in before},
            result: {"type": "agentron.result"},
        },
        "edges": edges,
        "outputs": {"output": write_source(result, "output")},
    }


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes the parts of one graph."""

    graph: Graph
    agents: Mapping[str, Agent]
    layout: Layout
    ports: Sequence[str]  # of the edges, by number
    gates: Mapping[str, Gate]  # by the nodes behind them

    def entry(self, node: str) -> tuple[str, str]:
        """Return the node and input port for an edge to a node."""
        return entry_port(self.gates, node, WALK)

    def edge(self, number: int) -> JsonDict:
        edge = self.layout.edges[number]
        written = write_edge(edge.source, self.ports[number], *self.entry(edge.target))
        if edge.id:
            written["id"] = edge.id
        if heads := self.layout.heads.get(number):
            limit = (self.graph.max_rounds or DEFAULT_ROUNDS) * len(heads)
            written |= {"feedback": True, "limit": limit, "on_limit": "exit"}
        return written

    def node(self, node: NodePart, start: str) -> JsonDict:
        exits = [number for number, edge in enumerate(self.layout.edges) if edge.source == node.id]
        inner, outcome = self._turn(node)
        inner["next"] = {
            "type": "agentron.next",
            "config": self._next(node, exits),
            "inputs": {"walk": "$in.walk", "told": "tell.prompt", **outcome},
        }
        ports = [WALK, *(self.ports[number] for number in exits)]
        outputs = {port: write_source("next", port) for port in ports}
        flow = {"dataflow": 1, "inputs": {WALK: {}}, "nodes": inner, "outputs": outputs}
        written: JsonDict = {"flow": flow, "meta": dict(node.meta)}
        if node.id in self.layout.unreached:
            written |= {
                "policy": {"enabled": False},
                "inputs": {WALK: write_source(start, "out")},
            }
        return written

    def _turn(self, node: NodePart) -> tuple[JsonDict, JsonDict]:
        """Return the nodes of a turn, and the sources of its outcome."""
        nodes: JsonDict = {
            "tell": {"type": "agentron.tell", "config": self._tell(node), "inputs": {"walk": "$in.walk"}}
        }
        if node.kind == WAIT:
            nodes["wait"] = {"type": "agentron.wait", "config": {"question": _question(node)}}
            return nodes, {"reply": "wait.reply"}
        agent = self.agents[node.id]
        reads: JsonDict = {"prompt": "tell.prompt", "context": "tell.context"}
        config: JsonDict = {"name": agent.name, "model": agent.model}
        functions = [*agent.tools, *([HELP_TOOL] if agent.may_ask else [])]
        if agent.servers:
            offered = {"functions": functions, "servers": [*agent.servers]}
            nodes["tools"] = {"type": "agent.tools", "config": offered}
            reads["tools"] = "tools.tools"
        elif functions:
            config["tools"] = functions
        nodes["agent"] = {"type": "agent.agent", "config": config, "inputs": reads}
        outcome = {"text": "agent.text"}
        if agent.servers or functions:
            outcome["context"] = "agent.context"
        if agent.may_ask:
            nodes["wait"] = {"type": "agentron.wait", "inputs": {"context": "agent.context"}}
            outcome["reply"] = "wait.reply"
        return nodes, outcome

    def _tell(self, node: NodePart) -> JsonDict:
        agent = self.agents.get(node.id)
        config = {
            "turn_instruction": self.graph.turn_instruction,
            "instructions": agent.instructions if agent else "",
            "parameters": dict(node.parameters),
        }
        return {name: value for name, value in config.items() if value}

    def _next(self, node: NodePart, exits: Sequence[int]) -> JsonDict:
        written = []
        for number in exits:
            edge = self.layout.edges[number]
            one: JsonDict = {"port": self.ports[number], "to": edge.target, "agent": self._name(edge.target)}
            if edge.condition is not None:
                one["condition"] = {"type": edge.condition.type, "value": edge.condition.value}
            written.append(one)
        agent = self.agents.get(node.id)
        config: JsonDict = {"node": node.id, "agent": self._name(node.id)}
        if agent and agent.id:
            config["agent_id"] = agent.id
        return {**config, "exits": written}

    def _name(self, id: str) -> str:
        return self.agents[id].name if id in self.agents else USER


def _question(node: NodePart) -> str:
    found = (node.parameters.get(key) for key in ("question", "message", "prompt"))
    return next((text for text in found if isinstance(text, str) and text), QUESTION)


def _ports(edges: Sequence[EdgePart]) -> list[str]:
    """Name the output port of each edge: by its id if that is a valid name, else by its target."""
    taken = {WALK}
    ports = []
    for edge in edges:
        name = edge.id if _PLAIN.fullmatch(edge.id) else f"to_{edge.target}"
        ports.append(free_name(name if _PLAIN.fullmatch(name) else "edge", taken))
        taken.add(ports[-1])
    return ports
