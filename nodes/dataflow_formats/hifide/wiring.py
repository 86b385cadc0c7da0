"""The wires of the native document: ports by their native names, and nodes that stand between two others."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from dataflow.authoring import choices
from dataflow_formats.hifide.kinds import CHAT, KINDS, ROUTER, TOOLS, WAITING, Kind
from dataflow_formats.hifide.parts import Edge, HifideFlow, Wire

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.authoring import JsonDict, Notes
    from dataflow_formats.hifide.parts import Node, Path

__all__ = ["Wired", "pass_contexts_by", "route_name", "wired"]

_MESSAGES: Final = ("message", "data")
_TOLD: Final = (*_MESSAGES, "context")


@dataclass(slots=True)
class Wired:
    """The wires, and the nodes that stand between those of the file."""

    wires: list[Wire] = field(default_factory=list)
    between: dict[str, JsonDict] = field(default_factory=dict)
    behind: dict[str, str] = field(
        default_factory=dict
    )  # by node in between, which node of the file it is for

    def add(self, source: str, output: str, target: str, port: str, *, path: Path = ()) -> None:
        """Add a wire, once, that an edge of the file has become."""
        wire = Wire(source, output, target, port, path=path)
        if wire not in self.wires:
            self.wires.append(wire)


def pass_contexts_by(flow: HifideFlow) -> None:
    """Lead conversations past nodes that offer tools, which give them on as they are: so they stay lazy."""
    offering = [id for id, node in flow.nodes.items() if node.kind == TOOLS]
    for id in offering:
        sources = flow.edges_into(id, "context")
        edges: list[Edge] = []
        for edge in flow.edges:
            if edge.target == id and edge.input == "context":
                continue
            if edge.source == id and edge.output == "context":
                others = [one for one in sources if one.source != id]
                edges += [replace(edge, source=one.source, output=one.output) for one in others]
            else:
                edges.append(edge)
        flow.edges = edges


def route_name(intent: str) -> str:
    """Return what a route is called here: its name, of which what no name can have is left out."""
    found = re.sub(r"\W", "_", intent)
    return found if found.isidentifier() else f"route_{found}"


def wired(flow: HifideFlow, notes: Notes) -> Wired:
    """Wire a flow whose portals are bridged; ports that a node does not have are noted."""
    made = Wired()
    for id, node in flow.nodes.items():
        if node.kind == CHAT:
            _add_message(flow, id, made, notes)
    told = {*made.behind.values()}
    for edge in flow.edges:
        source, output, port = edge.source, _output(flow, edge, notes), _input(flow, edge, notes)
        if output is None or port is None or (edge.target in told and edge.input in _TOLD):
            continue
        kinds = flow.nodes[source].kind, flow.nodes[edge.target].kind
        if output == "context" and kinds[0] == WAITING and kinds[1] not in (CHAT, WAITING):
            source, output = _said(flow, source, made), "out"
        made.add(source, output, edge.target, port, path=edge.path)
    return made


def _output(flow: HifideFlow, edge: Edge, notes: Notes) -> str | None:
    node = flow.nodes[edge.source]
    kind = KINDS.get(node.kind)
    if kind is None:
        return edge.output or "out"
    ports = {**kind.outputs, **_routes(node)}
    return _known(edge, node, "output", edge.output, ports, notes)


def _input(flow: HifideFlow, edge: Edge, notes: Notes) -> str | None:
    node = flow.nodes[edge.target]
    kind = KINDS.get(node.kind)
    if kind is None:
        return edge.input or "context"
    if node.kind == TOOLS and edge.input == "data":
        notes.remark(node.id, "a list of names on `data` chooses the tools", "the config alone chooses them")
        return None
    return _known(edge, node, "input", edge.input, kind.inputs, notes)


def _known(
    edge: Edge, node: Node, what: str, port: str, ports: Mapping[str, str], notes: Notes
) -> str | None:
    if port not in ports:
        told = f"node {node.id!r} ({node.kind}) has no {what} {port!r}; {choices(sorted(ports))}"
        notes.problem(edge.path, told)
    return ports.get(port)


def _routes(node: Node) -> dict[str, str]:
    if node.kind != ROUTER:
        return {}
    routes = node.config.get("routes")
    names = [name for name in routes if isinstance(name, str)] if isinstance(routes, dict) else []
    data = {f"{name}-data": route_name(name) for name in names}
    return {**data, **{f"{name}-context": f"{route_name(name)}_context" for name in names}}


def _said(flow: HifideFlow, source: str, made: Wired) -> str:
    """Return the node that makes what somebody has said the current output of the conversation."""
    id = flow.free(f"{source}_said")
    if id not in made.between:
        made.between[id] = {"type": "hifide.said"}
        made.add(source, "context", id, "context")
        made.add(source, "out", id, "text")
    return id


def _add_message(flow: HifideFlow, id: str, made: Wired, notes: Notes) -> None:
    """See what a chat is told: by its edges, else by what its conversation has last come to."""
    edges = [edge for edge in flow.edges_into(id) if edge.input in _MESSAGES]
    contexts = flow.edges_into(id, "context")
    ports = {edge.input for edge in edges}
    if not edges and not contexts:
        notes.problem(
            flow.nodes[id].path, f"node {id!r} (chat): no edge leads to its context, data or message"
        )
        return
    if len(ports) == 1 and all(_is_text(flow, edge) for edge in edges):
        return
    if not edges and all(flow.nodes[edge.source].kind == WAITING for edge in contexts):
        for edge in contexts:
            made.add(edge.source, "out", id, "prompt", path=edge.path)
        return
    if not edges and all(flow.nodes[edge.source].kind == CHAT for edge in contexts):
        for edge in contexts:
            made.add(edge.source, "text", id, "prompt", path=edge.path)
        return
    helper = flow.free(f"{id}_message")
    wanted = [*(["conversation"] if contexts else []), *(name for name in _MESSAGES if name in ports)]
    made.between[helper] = {"type": "hifide.message", "config": {"wired": wanted, "chat": id}}
    made.behind[helper] = id
    for edge in [*contexts, *edges]:
        output = _output(flow, edge, notes)
        if output is not None:
            port = "conversation" if edge.input == "context" else edge.input
            made.add(edge.source, output, helper, port, path=edge.path)
    made.add(helper, "prompt", id, "prompt")
    if contexts:
        made.add(helper, "conversation", id, "context")


def _is_text(flow: HifideFlow, edge: Edge) -> bool:
    node = flow.nodes[edge.source]
    kind: Kind | None = KINDS.get(node.kind)
    return kind is not None and (edge.output in kind.texts or node.kind == ROUTER)
