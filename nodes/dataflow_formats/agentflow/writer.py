"""Write a workflow as a native document, with agents and approvals as subflows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dataflow.authoring import entry_port, free_name, write_edge, write_source
from dataflow_formats.agentflow.file import AGENT, OUTPUT, START
from dataflow_formats.agentflow.subagents import agent_config

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.authoring import JsonDict
    from dataflow_formats.agentflow.file import NodePart, Workflow
    from dataflow_formats.agentflow.order import Plan

__all__ = ["LIMIT", "document"]

#: The most iterations of a loop; one more fails the run.
LIMIT: Final = 100
INPUT: Final = "input"
#: The port with the output of a node, by its type.
VALUES: Final = {START: "value", AGENT: "text"}


def document(workflow: Workflow, plan: Plan, *, each: bool) -> JsonDict:
    """Return the document of a planned workflow; with `each`, nodes run once for each arrival."""
    writer = _Writer(workflow, plan, each, {}, [])
    below = {edge.target for edge in workflow.below}
    nodes: JsonDict = {}
    writer.add_gates()
    for node in workflow.nodes.values():
        if node.id not in below:
            nodes[node.id] = writer.node(node)
            writer.add_inputs(nodes[node.id], node.id)
    outputs = {
        id: write_source(id, VALUES[workflow.nodes[id].kind])
        for id in nodes
        if workflow.nodes[id].kind in VALUES and id not in plan.unreached
    }
    return {"nodes": {**nodes, **writer.between}, "edges": writer.edges, "outputs": outputs}


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes the parts of one workflow; collects edges, and the joins and gates between its nodes."""

    workflow: Workflow
    plan: Plan
    each: bool
    between: JsonDict
    edges: list[JsonDict]

    def node(self, node: NodePart) -> JsonDict:
        """Return a node without its inputs."""
        written: JsonDict = {"meta": dict(node.meta)}
        match node.kind:
            case "start":
                written |= {"type": "agentflow.start", "config": {**node.settings, **self._fans_out(node)}}
            case "if":
                config = {**node.settings, **self._fans_out(node), **self._ends(node)}
                written |= {"type": "agentflow.if", "config": config}
            case "agent":
                written["flow"] = self._agent(node)
            case _:
                written["flow"] = _approval(node, self._fans_out(node))
        if node.id in self.plan.unreached:
            written["policy"] = {"enabled": False}
            written["inputs"] = {INPUT: write_source(self.workflow.start.id, OUTPUT)}
        return written

    def add_inputs(self, written: JsonDict, node: str) -> None:
        """Add the inputs of a node: edges, a join of them, or one firing for each."""
        into, back = self.plan.into(node), self.plan.back_to(node)
        if node in self.plan.meeting and self.each:
            written["inputs"] = {INPUT: {"every": [self._reference(number) for number in into]}}
        elif node in self.plan.meeting:
            self._join(node, into, {})
        else:
            self.edges.extend(self._edge(number, *self._entry(node)) for number in into)
        limit = LIMIT * len(self.plan.heads_beside(node))
        closing = {"feedback": True, "limit": limit, "on_limit": "fail"}
        if node in self.plan.again:
            self._join(node, back, closing)
        else:
            self.edges.extend({**self._edge(number, *self._entry(node)), **closing} for number in back)

    def add_gates(self) -> None:
        """Add the gates of loops with several heads, and the edges from them."""
        for gate in dict.fromkeys(self.plan.gates.values()):
            more = {"at_once": True} if gate in self.plan.at_once else {}
            self.between[gate.id] = gate.node("agentflow.loop", **more)
            self.edges.extend(gate.edges(INPUT))

    def _entry(self, node: str) -> tuple[str, str]:
        return entry_port(self.plan.gates, node, INPUT)

    def _join(self, node: str, numbers: Sequence[int], more: JsonDict) -> None:
        join = free_name(f"{node}_join", {*self.workflow.nodes, *self.between})
        self.between[join] = {"type": "agentflow.join"}
        self.edges.extend(self._edge(number, join, "arrivals") for number in numbers)
        self.edges.append(write_edge(join, "out", *self._entry(node), **more))

    def _edge(self, number: int, target: str, port: str) -> JsonDict:
        edge = self.plan.edges[number]
        written = write_edge(edge.source, edge.port, target, port)
        return {**written, "each_round": True} if number in self.plan.each_round else written

    def _reference(self, number: int) -> str:
        edge = self.plan.edges[number]
        return write_source(edge.source, edge.port)

    def _fans_out(self, node: NodePart) -> JsonDict:
        """Return the config with the ports that several connections leave."""
        left = Counter(edge.port for edge in self.plan.edges if edge.source == node.id)
        ports = [port for port in node.exits if left[port] > 1]
        return {"fans_out": ports} if ports else {}

    def _ends(self, node: NodePart) -> JsonDict:
        """Return the config with the exits that no connection leaves."""
        left = {edge.port for edge in self.plan.edges if edge.source == node.id}
        ends = [port for port in node.exits if port not in left]
        return {"ends": ends} if ends else {}

    def _agent(self, node: NodePart) -> JsonDict:
        settings = node.settings
        telling = {name: settings[name] for name in ("user_prompt", "system") if settings[name]}
        nodes: JsonDict = {
            "tell": {"type": "agentflow.tell", "config": telling, "inputs": {INPUT: "$in.input"}},
            "agent": {
                "type": "agent.agent",
                "config": agent_config(node, self.workflow),
                "inputs": {"prompt": "tell.prompt", "context": "tell.conversation"},
            },
            "pass_on": {
                "type": "agentflow.pass_on",
                "config": self._fans_out(node),
                "inputs": {INPUT: "$in.input", "text": "agent.text"},
            },
        }
        return _flow(nodes, {OUTPUT: "pass_on.output", "text": "pass_on.text"})


def _approval(node: NodePart, fans_out: JsonDict) -> JsonDict:
    deciding = {INPUT: "$in.input", "answer": "ask"}
    nodes: JsonDict = {
        "ask": {"type": "agentflow.ask", "config": dict(node.settings), "inputs": {INPUT: "$in.input"}},
        "decide": {"type": "agentflow.decide", "config": fans_out, "inputs": deciding},
    }
    return _flow(nodes, {port: f"decide.{port}" for port in ("approve", "reject", "note")})


def _flow(nodes: JsonDict, outputs: JsonDict) -> JsonDict:
    return {"dataflow": 1, "inputs": {INPUT: {}}, "nodes": nodes, "outputs": outputs}
