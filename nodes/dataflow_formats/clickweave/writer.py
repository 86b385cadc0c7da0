"""Write the native document of a workflow, with the node that judges its checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dataflow.authoring import free_name, write_source
from dataflow_formats.clickweave.calls import action_of
from dataflow_formats.clickweave.file import ACTIONS, EndLoop, Exit, If, Loop, Switch
from dataflow_formats.clickweave.layout import WALK, Sources, carry

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from dataflow.authoring import JsonDict, Notes
    from dataflow_formats.clickweave.calls import Settings
    from dataflow_formats.clickweave.file import FileNode, Workflow
    from dataflow_formats.clickweave.layout import Layout

__all__ = ["write_document"]

#: The port of a failure.
ERROR: Final = "$error"


def write_document(workflow: Workflow, layout: Layout, settings: Settings, notes: Notes) -> JsonDict:
    """Return the document of a checked workflow."""
    added = _Added.beside(workflow.nodes)
    blocks: dict[str | None, JsonDict] = {
        loop: {"nodes": {}, "outputs": {}} for loop in (None, *layout.bodies)
    }
    sources = Sources(layout, added.start, {loop: block["outputs"] for loop, block in blocks.items()})
    nodes = blocks[None]["nodes"]
    nodes[added.start] = {"type": "agent.context", **settings.conversation}
    writer = _NodeWriter(workflow, layout, settings, added, blocks, sources)
    written = {id: writer.node(id, node) for id, node in workflow.nodes.items()}
    if any("tools" in node.get("inputs", {}) for node in written.values()):
        nodes[added.server] = {"type": "agent.tools", "config": settings.server_config}
    for id, node in written.items():
        blocks[layout.homes.get(id)]["nodes"][id] = node
        notes.origin(id, ("nodes", workflow.places[id]))
    outputs = _end(nodes, _acting_in(workflow, layout), added, sources)
    return {
        "dataflow": 1,
        **({"name": workflow.name} if workflow.name else {}),
        "nodes": nodes,
        "outputs": outputs,
        "meta": {"id": workflow.id, **settings.meta},
    }


def _end(nodes: JsonDict, acting: list[FileNode], added: _Added, sources: Sources) -> JsonDict:
    """Add the nodes at the end of the walk, and return the outputs of the document."""
    ending = {WALK: sources.ending()}
    nodes[added.end] = {"type": "clickweave.end", "inputs": ending}
    outputs = {"variables": write_source(added.end, "variables")}
    if any(node.is_judged for node in acting):
        nodes[added.checks] = _judging(acting, sources)
        verdicts = write_source(added.checks, "verdicts")
        ending |= {"failures": _failures_of(acting, sources), "verdicts": verdicts}
        outputs["checks"] = verdicts
    return outputs


def _acting_in(workflow: Workflow, layout: Layout) -> list[FileNode]:
    """Return the reached nodes that are not control flow."""
    reached = (node for id, node in workflow.nodes.items() if id in layout.exits)
    return [node for node in reached if node.node_type.type in ACTIONS]


def _judging(acting: Sequence[FileNode], sources: Sources) -> JsonDict:
    """Return the node that judges the checks of the acting nodes."""
    judged = [node for node in acting if node.is_judged]
    inputs = {
        "context": write_source(sources.start, "out"),
        "seen": {"gather": [sources.lifted(node.id, "seen") for node in judged]},
        "failures": _failures_of(acting, sources),
    }
    config = {"nodes": [_checks(node) for node in judged]}
    return {"type": "clickweave.checks", "config": config, "inputs": inputs}


def _failures_of(acting: Sequence[FileNode], sources: Sources) -> JsonDict:
    """Return the source of all failures; since they are read, none ends the run before the checks."""
    return {"gather": [sources.lifted(node.id, ERROR) for node in acting]}


def _checks(node: FileNode) -> JsonDict:
    checks = [check.model_dump(mode="json") for check in node.checks]
    outcome = {"expected_outcome": node.expected_outcome} if node.expected_outcome else {}
    return {"id": node.id, "name": node.name, "checks": checks, **outcome}


@dataclass(frozen=True, slots=True)
class _Added:
    """The ids of the nodes of the document that are not in the file."""

    start: str
    server: str
    end: str
    checks: str

    @classmethod
    def beside(cls, nodes: Container[str]) -> _Added:
        """Choose ids that no node of the file has."""
        return cls(*(free_name(name, nodes) for name in ("start", "server", "end", "checks")))


@dataclass(frozen=True, slots=True)
class _NodeWriter:
    """Writes the nodes of a file; `blocks` are the nodes and outputs of each loop."""

    workflow: Workflow
    layout: Layout
    settings: Settings
    added: _Added
    blocks: Mapping[str | None, JsonDict]
    sources: Sources

    def node(self, id: str, node: FileNode) -> JsonDict:
        """Return a node; one that the walk never reaches is disabled."""
        meta = {"meta": _meta(node)}
        if id not in self.layout.exits:
            return {"type": "clickweave.unused", "policy": {"enabled": False}, **meta}
        match node.node_type:
            case If() | Switch() as kind:
                return {**self._branching(id, node.name, kind), **meta}
            case Loop() as kind:
                return {"loop": self._loop(id, kind), **meta}
            case EndLoop() as kind:
                return {**self._end_loop(kind), **meta}
            case _:
                return {**self._action(id, node), **meta}

    def _branching(self, id: str, name: str, kind: If | Switch) -> JsonDict:
        inputs = {WALK: self.sources.of(id)}
        if isinstance(kind, If):
            config: JsonDict = {"name": name, "condition": kind.condition.model_dump(mode="json")}
            return {"type": "clickweave.if", "config": config, "inputs": inputs}
        cases = [
            {"name": case.name, "condition": case.condition.model_dump(mode="json")} for case in kind.cases
        ]
        return {"type": "clickweave.switch", "config": {"name": name, "cases": cases}, "inputs": inputs}

    def _action(self, id: str, node: FileNode) -> JsonDict:
        action = action_of(node, self.settings)
        inputs = {WALK: self.sources.of(id), "tools": write_source(self.added.server, "tools")}
        written = {"type": action.type, "config": action.config, "inputs": inputs}
        return written | ({"policy": {"retry": {"retries": node.retries}}} if node.retries else {})

    def _loop(self, id: str, kind: Loop) -> JsonDict:
        end, depth = self.layout.ends[id], self.layout.depth(id)
        carries = {
            carry(WALK, depth): {"first": self.sources.of(id), "next": write_source(end, WALK)},
            carry("round", depth): {"first": {"value": 1}, "next": write_source(end, "round")},
        }
        block = self.blocks[id]
        block["outputs"][Exit.LOOP_DONE] = write_source(end, Exit.LOOP_DONE)
        return {"limit": kind.max_iterations, "carry": carries, "until": write_source(end, "done"), **block}

    def _end_loop(self, kind: EndLoop) -> JsonDict:
        loop = self.workflow.nodes[kind.loop_id]
        assert isinstance(loop.node_type, Loop), "an EndLoop ends a Loop"
        config = {
            "name": loop.name,
            "exit_condition": loop.node_type.exit_condition.model_dump(mode="json"),
            "max_iterations": loop.node_type.max_iterations,
        }
        rounds = write_source("$carry", carry("round", self.layout.depth(kind.loop_id)))
        inputs = {WALK: self.sources.of(self.layout.ends[kind.loop_id]), "round": rounds}
        return {"type": "clickweave.end_loop", "config": config, "inputs": inputs}


def _meta(node: FileNode) -> JsonDict:
    """Return the fields that are not needed to run the node."""
    kept = node.model_dump(mode="json", include={"position", "trace_level", "settle_ms", "timeout_ms"})
    kept = {key: value for key, value in kept.items() if value is not None}
    return {"name": node.name, "node_type": node.node_type.model_dump(mode="json"), **kept}
