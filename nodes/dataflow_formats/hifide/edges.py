"""The edges of the native document: native ports, bridged portals, and inserted nodes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from dataflow.authoring import reachable
from dataflow_formats.hifide.diagnostics import INPUT_UNCONNECTED, PORT_UNKNOWN
from dataflow_formats.hifide.file import (
    CHAT,
    KINDS,
    NEW,
    PORTALS,
    ROUTER,
    START,
    TOOLS,
    WAITING,
    Edge,
    HifideFlow,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.authoring import DocumentPath, JsonDict, Notes
    from dataflow_formats.hifide.file import Node

__all__ = ["NativeEdge", "Wired", "bridge_portals", "bypass_tools", "inherit_sampling", "route_name", "wire"]

_MESSAGES: Final = ("message", "data")
_PROMPT: Final = (*_MESSAGES, "context")
_SETTINGS: Final = ("temperature", "reasoningEffort")


@dataclass(frozen=True, slots=True)
class NativeEdge:
    """An edge of the native document."""

    source: str
    source_port: str
    target: str
    target_port: str
    feedback: bool = False
    each_round: bool = False
    path: DocumentPath = field(default=(), compare=False)  # of the edge in the file


@dataclass(slots=True)
class Wired:
    """The native edges, and the nodes inserted between those of the file.

    behind: by inserted node, the node of the file that it belongs to
    """

    edges: list[NativeEdge] = field(default_factory=list)
    between: dict[str, JsonDict] = field(default_factory=dict)
    behind: dict[str, str] = field(default_factory=dict)

    def add(self, source: str, output: str, target: str, port: str, *, path: DocumentPath = ()) -> None:
        """Add an edge, unless it exists; `path` is that of its edge in the file."""
        added = NativeEdge(source, output, target, port, path=path)
        if added not in self.edges:
            self.edges.append(added)


def bridge_portals(flow: HifideFlow, notes: Notes) -> None:
    """Replace portals by the edges between them; remark on those without a counterpart."""
    portals = {id: node for id, node in flow.nodes.items() if node.kind in PORTALS}
    if not portals:
        return
    into = [edge for edge in flow.edges if edge.target in portals]
    out = [edge for edge in flow.edges if edge.source in portals]
    flow.edges = [edge for edge in flow.edges if edge.source not in portals and edge.target not in portals]
    used: set[str] = set()
    for given in into:
        for taken in out:
            same = _name(portals[given.target]) == _name(portals[taken.source])
            if same and given.input == taken.output:
                used |= {given.target, taken.source}
                joined = replace(given, target=taken.target, input=taken.input)
                flow.edges.append(joined)
    for id in [id for id in portals if id not in used]:
        notes.remark(id, "a portal that no other of its id and port meets", "it leads nowhere")
    for id in portals:
        del flow.nodes[id]


def _name(portal: Node) -> str:
    found = portal.config.get("id")
    return found if isinstance(found, str) else ""


def bypass_tools(flow: HifideFlow) -> None:
    """Lead conversations past nodes that offer tools and pass them on unchanged, so that these stay lazy."""
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


def inherit_sampling(flow: HifideFlow) -> None:
    """Give each chat the sampling settings of the only node that can have begun its conversation."""
    beginning = {id for id, node in flow.nodes.items() if node.kind in (START, NEW)}
    contexts = [
        (edge.source, edge.target)
        for edge in flow.edges
        if edge.input == "context" and edge.target not in beginning
    ]
    beginnings: dict[str, set[str]] = {}
    for id in beginning:
        for reached in reachable(id, contexts):
            beginnings.setdefault(reached, set()).add(id)
    for id, found in beginnings.items():
        node = flow.nodes[id]
        if node.kind not in (CHAT, ROUTER) or len(found) > 1:
            continue
        begun = flow.nodes[next(iter(found))].config
        given = {key: begun[key] for key in _SETTINGS if begun.get(key) is not None}
        own = {key: value for key, value in node.config.items() if value is not None}
        if given:
            flow.nodes[id] = replace(node, config={**given, **own})


def wire(flow: HifideFlow, notes: Notes) -> Wired:
    """Wire a flow whose portals are bridged; unknown ports are noted as problems."""
    made = Wired()
    for id, node in flow.nodes.items():
        if node.kind == CHAT:
            _wire_prompt(flow, id, made, notes)
    prompted = {*made.behind.values()}
    for edge in flow.edges:
        source, output, port = edge.source, _output(flow, edge, notes), _input(flow, edge, notes)
        if output is None or port is None or (edge.target in prompted and edge.input in _PROMPT):
            continue
        kinds = flow.nodes[source].kind, flow.nodes[edge.target].kind
        if output == "context" and kinds[0] == WAITING and kinds[1] not in (CHAT, WAITING):
            source, output = _user_message(flow, source, made), "out"
        made.add(source, output, edge.target, port, path=edge.path)
    return made


def _wire_prompt(flow: HifideFlow, id: str, made: Wired, notes: Notes) -> None:
    """Wire the prompt of a chat: from its edges, else from the last output of its conversation."""
    edges = [edge for edge in flow.edges_into(id) if edge.input in _MESSAGES]
    contexts = flow.edges_into(id, "context")
    if not edges and not contexts:
        needed = "context, data or message"
        notes.problem(flow.nodes[id].path, INPUT_UNCONNECTED(f"node {id!r} (chat)", ports=needed))
        return
    ports = {edge.input for edge in edges}
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
    kind = KINDS.get(node.kind)
    return kind is not None and (edge.output in kind.texts or node.kind == ROUTER)


def _user_message(flow: HifideFlow, source: str, made: Wired) -> str:
    """Return the inserted node that makes the message of the user the current output of the conversation."""
    id = flow.free(f"{source}_said")
    if id not in made.between:
        made.between[id] = {"type": "hifide.said"}
        made.add(source, "context", id, "context")
        made.add(source, "out", id, "text")
    return id


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
        place = f"node {node.id!r} ({node.kind})"
        unknown = PORT_UNKNOWN(place, direction=what, port=port, available=sorted(ports), near=port)
        notes.problem(edge.path, unknown)
    return ports.get(port)


def _routes(node: Node) -> dict[str, str]:
    if node.kind != ROUTER:
        return {}
    routes = node.config.get("routes")
    names = [name for name in routes if isinstance(name, str)] if isinstance(routes, dict) else []
    data = {f"{name}-data": route_name(name) for name in names}
    return {**data, **{f"{name}-context": f"{route_name(name)}_context" for name in names}}


def route_name(intent: str) -> str:
    """Return the native name of a route: its name with invalid characters replaced."""
    found = re.sub(r"\W", "_", intent)
    return found if found.isidentifier() else f"route_{found}"
