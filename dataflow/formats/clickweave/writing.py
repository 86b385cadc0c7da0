"""Writing the native document of a workflow: its nodes, and how the walk leads from one to the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dataflow.formats.clickweave.actions import action_of
from dataflow.formats.clickweave.exits import Exit, port_of
from dataflow.formats.clickweave.files import ACTIONS, EndLoop, If, Loop, Switch
from dataflow.formats.clickweave.layouts import ON
from dataflow.formats.naming import free_name
from dataflow.names import write_reference
from dataflow.wiring import CARRY, Reference

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataflow.formats.clickweave.files import FileNode
    from dataflow.formats.clickweave.layouts import Layout
    from dataflow.formats.clickweave.reading import Workflow
    from dataflow.formats.clickweave.settings import Settings
    from dataflow.formats.foreign import JsonDict, Notes

__all__ = ["write_document"]

#: The port of a walk, on its way in and on its way out.
WALK: Final = "walk"
#: The port of a failure.
ERROR: Final = "$error"


@dataclass(slots=True)
class _Writer:
    """Writes one document.

    blocks: the nodes and outputs of each loop, and under None those of the flow
    left: the outputs that loops have besides their `LoopDone`, by what they are of
    """

    workflow: Workflow
    layout: Layout
    settings: Settings
    blocks: dict[str | None, JsonDict] = field(default_factory=dict)
    left: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def write(self, notes: Notes) -> JsonDict:
        """Write the whole document."""
        self.blocks = {loop: {"nodes": {}, "outputs": {}} for loop in (None, *self.layout.bodies)}
        nodes = self.blocks[None]["nodes"]
        nodes[self.start] = {"type": "agent.context", **self.settings.conversation}
        written = {id: self._node(id, node) for id, node in self.workflow.nodes.items()}
        if any("tools" in node.get("inputs", {}) for node in written.values()):
            nodes[self.server] = {"type": "agent.tools", "config": self.settings.server_config}
        for id, node in written.items():
            self.blocks[self.layout.homes.get(id)]["nodes"][id] = node
            notes.origin(id, ("nodes", self.workflow.places[id]))
        ending = {WALK: self._sources(self.layout.ending, None)}
        nodes[self.end] = {"type": "clickweave.end", "inputs": ending}
        outputs = {"variables": _port(self.end, "variables")}
        if any(map(self._is_checked, self.workflow.nodes)):
            nodes[self.checks] = self._judging()
            ending |= {"failures": self._failures(), "verdicts": _port(self.checks, "verdicts")}
            outputs["checks"] = _port(self.checks, "verdicts")
        return {
            "dataflow": 1,
            **({"name": self.workflow.name} if self.workflow.name else {}),
            "nodes": nodes,
            "outputs": outputs,
            "meta": {"id": self.workflow.id, **self.settings.told},
        }

    @property
    def start(self) -> str:
        return self._free("start")

    @property
    def server(self) -> str:
        return self._free("server")

    @property
    def end(self) -> str:
        return self._free("end")

    @property
    def checks(self) -> str:
        return self._free("checks")

    def _acts(self, id: str) -> bool:
        return id in self.layout.exits and self.workflow.nodes[id].node_type.type in ACTIONS

    def _is_checked(self, id: str) -> bool:
        node = self.workflow.nodes[id]
        return bool(node.checks or node.expected_outcome) and self._acts(id)

    def _judging(self) -> JsonDict:
        """Write the node that judges: it begins when nothing more is done or fails, as the walk has ended."""
        checked = [id for id in self.workflow.nodes if self._is_checked(id)]
        inputs = {
            "context": _port(self.start, "out"),
            "seen": {"gather": [self._lifted(id, "seen") for id in checked]},
            "failures": self._failures(),
        }
        config = {"nodes": [_checks(self.workflow.nodes[id]) for id in checked]}
        return {"type": "clickweave.checks", "config": config, "inputs": inputs}

    def _failures(self) -> JsonDict:
        """Write where failures come from: as they are read, none ends the run before the checks."""
        return {"gather": [self._lifted(id, ERROR) for id in self.workflow.nodes if self._acts(id)]}

    def _free(self, name: str) -> str:
        return free_name(name, self.workflow.nodes)

    def _node(self, id: str, node: FileNode) -> JsonDict:
        meta = {"meta": _meta(node)}
        if id not in self.layout.exits:
            return {"type": "clickweave.unused", "policy": {"enabled": False}, **meta}
        kind = node.node_type
        inputs = {} if isinstance(kind, Loop) else {"inputs": {WALK: self._sources_of(id)}}
        match kind:
            case If():
                config: JsonDict = {"name": node.name, "condition": _json(kind.condition)}
                return {"type": "clickweave.if", "config": config, **inputs, **meta}
            case Switch():
                cases = [{"name": case.name, "condition": _json(case.condition)} for case in kind.cases]
                config = {"name": node.name, "cases": cases}
                return {"type": "clickweave.switch", "config": config, **inputs, **meta}
            case Loop():
                return {"loop": self._loop(id, kind), **meta}
            case EndLoop():
                return {**self._end_loop(kind), **meta}
            case _:
                return self._action(id, node) | meta

    def _action(self, id: str, node: FileNode) -> JsonDict:
        action = action_of(node, self.settings)
        inputs = {WALK: self._sources_of(id), "tools": write_reference(Reference(self.server, "tools"))}
        written = {"type": action.type, "config": action.config, "inputs": inputs}
        return written | ({"policy": {"retry": {"retries": node.retries}}} if node.retries else {})

    def _loop(self, id: str, kind: Loop) -> JsonDict:
        end = self.layout.ends[id]
        carries = {
            _carry(WALK, self._depth(id)): {"first": self._sources_of(id), "next": _port(end, WALK)},
            _carry("round", self._depth(id)): {"first": {"value": 1}, "next": _port(end, "round")},
        }
        block = self.blocks[id]
        block["outputs"][Exit.LOOP_DONE] = _port(end, Exit.LOOP_DONE)
        return {"limit": kind.max_iterations, "carry": carries, "until": _port(end, "done"), **block}

    def _end_loop(self, kind: EndLoop) -> JsonDict:
        loop = self.workflow.nodes[kind.loop_id]
        assert isinstance(loop.node_type, Loop), "an EndLoop ends a Loop"
        config = {
            "name": loop.name,
            "exit_condition": _json(loop.node_type.exit_condition),
            "max_iterations": loop.node_type.max_iterations,
        }
        end = self.layout.ends[kind.loop_id]
        rounds = write_reference(Reference(CARRY, _carry("round", self._depth(kind.loop_id))))
        inputs = {WALK: self._sources_of(end), "round": rounds}
        return {"type": "clickweave.end_loop", "config": config, "inputs": inputs}

    def _depth(self, loop: str) -> int:
        depth, around = 1, self.layout.homes[loop]
        while around is not None:
            depth, around = depth + 1, self.layout.homes[around]
        return depth

    def _sources_of(self, id: str) -> Any:
        """Write where the walk comes from: each time from one of them."""
        leading = self.layout.leading_to(id)
        begins = [write_reference(Reference(self.start, "out"))] if id == self.layout.entry else []
        return self._sources(leading, self.layout.homes[id], begins)

    def _sources(
        self, leading: Iterable[tuple[str, str]], home: str | None, begins: Iterable[str] = ()
    ) -> Any:
        sources = [*begins, *(self._source(id, output, home) for id, output in leading)]
        return sources[0] if len(sources) == 1 else {"merge": sources}

    def _source(self, id: str, output: str, home: str | None) -> str:
        """Write one source, which leaves the loops that the reader is not in."""
        if output == Exit.LOOP_BODY:
            return write_reference(Reference(CARRY, _carry(WALK, self._depth(id))))
        return self._lifted(id, WALK if output == ON else port_of(output), home)

    def _lifted(self, node: str, port: str, home: str | None = None) -> str:
        """Write a port of a node, as what leaves the loops around it that are not also around the reader."""
        inside = self.layout.homes[node]
        while inside != home:
            assert inside is not None, "a walk leads into a loop by its Loop alone"
            node, port = inside, self._left(inside, node, port)
            inside = self.layout.homes[inside]
        return _port(node, port)

    def _left(self, loop: str, node: str, port: str) -> str:
        """Give what leaves a loop besides `LoopDone` a name."""
        key = (loop, node, port)
        if key not in self.left:
            self.left[key] = f"exit {len(self.left) + 1}"
            self.blocks[loop]["outputs"][self.left[key]] = _port(node, port)
        return self.left[key]


def write_document(workflow: Workflow, layout: Layout, settings: Settings, notes: Notes) -> JsonDict:
    """Write the document of a workflow that has been checked."""
    return _Writer(workflow, layout, settings).write(notes)


def _carry(name: str, depth: int) -> str:
    """Name a carried port: one in a loop inside another may not be called like one of the outer loop."""
    return name if depth == 1 else f"{name} {depth}"


def _port(node: str, port: str) -> str:
    return write_reference(Reference(node, port))


def _json(part: Any) -> JsonDict:
    written: JsonDict = part.model_dump(mode="json")
    return written


def _meta(node: FileNode) -> JsonDict:
    """Keep what is not needed to run the node."""
    kept = node.model_dump(mode="json", include={"position", "trace_level", "settle_ms", "timeout_ms"})
    kept = {key: value for key, value in kept.items() if value is not None}
    return {"name": node.name, "node_type": _json(node.node_type), **kept}


def _checks(node: FileNode) -> JsonDict:
    """Write what is judged of a node."""
    written = {"id": node.id, "name": node.name, "checks": [_json(check) for check in node.checks]}
    return written | ({"expected_outcome": node.expected_outcome} if node.expected_outcome else {})
