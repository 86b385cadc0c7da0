"""The parts of a HiFide file, and reading them: nodes and edges, their kinds and spellings."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import PartReader, describe_value, foreign, free_name, get_mapping, unique_ids

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.authoring import DocumentPath, JsonDict, Notes

__all__ = [
    "CACHE",
    "CHAT",
    "KINDS",
    "MISSING",
    "NEW",
    "PORTALS",
    "ROUTER",
    "START",
    "TOOLS",
    "WAITING",
    "Edge",
    "HifideFlow",
    "Node",
    "is_of_a_kind",
    "kind_of_node",
    "port_name",
    "read_flow",
    "spelled_type",
]
START: Final = "defaultContextStart"
CHAT: Final = "llmRequest"
NEW: Final = "newContext"
TOOLS: Final = "tools"
ROUTER: Final = "intentRouter"
WAITING: Final = "userInput"
CACHE: Final = "cache"
PORTALS: Final = ("portalInput", "portalOutput")
#: The exit of a cache without a value.
MISSING: Final = "missing"
#: The keys of the ports of an edge, in both forms of edges.
_OUTPUTS: Final = ("sourceHandle", "sourceOutput")
_INPUTS: Final = ("targetHandle", "targetInput")
#: The keys of a node that are kept for drawing it.
_DRAWN: Final = ("label", "position", "expanded")
#: The kinds of nodes by their names in lower case without blanks, - and _.
_KINDS: Final = {
    "defaultcontextstart": "defaultContextStart",
    "userinput": "userInput",
    "llmrequest": "llmRequest",
    "chat": "llmRequest",
    "tools": "tools",
    "manualinput": "manualInput",
    "newcontext": "newContext",
    "injectmessages": "injectMessages",
    "intentrouter": "intentRouter",
    "cache": "cache",
    "portalinput": "portalInput",
    "portaloutput": "portalOutput",
    "readfile": "readFile",
}
_PORTS: Final = {
    "context": ("", "context", "contextin", "contextout", "ctx", "ctxin", "ctxout"),
    "data": ("data", "datain", "dataout", "value", "output"),
    "tools": ("tools", "toolsin", "toolsout"),
}
_BY_SPELLING: Final = {spelling: name for name, spellings in _PORTS.items() for spelling in spellings}
_BLANKS: Final = re.compile(r"[\s_-]+")
_PREFIX: Final = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the file; `drawn` is kept for drawing it."""

    id: str
    kind: str
    config: dict[str, Any]
    path: DocumentPath
    config_path: DocumentPath
    drawn: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge between ports of the file, whose names are normalised."""

    source: str
    output: str
    target: str
    input: str
    path: DocumentPath = ()


@dataclass(slots=True)
class HifideFlow:
    """The nodes by their ids, and the edges."""

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)

    def edges_into(self, node: str, port: str | None = None) -> list[Edge]:
        """Return the edges that lead into a node, or into one port of it."""
        return [edge for edge in self.edges if edge.target == node and port in (None, edge.input)]

    def free(self, name: str) -> str:
        """Return a name that no node of the file has."""
        return free_name(name, self.nodes)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of nodes.

    type: the native node type
    inputs, outputs: the native ports by those of the file
    texts: the outputs of the file that always are strings
    """

    type: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    texts: frozenset[str] = frozenset()


_CONTEXT: Final = {"context": "context"}
#: The ports of the node types of this format.
_OWN: Final = {"context": "conversation"}
_BOTH: Final = {"context": "conversation", "data": "data"}
KINDS: Final[Mapping[str, Kind]] = {
    START: Kind("agent.context", {"systemInstructionsIn": "system"}, {"context": "out"}),
    WAITING: Kind(
        "control.user_input",
        _CONTEXT,
        {"context": "context", "data": "out", "message": "out"},
        frozenset({"data", "message"}),
    ),
    CHAT: Kind(
        "agent.agent",
        {"context": "context", "data": "prompt", "message": "prompt", "tools": "tools"},
        {"context": "context", "data": "text", "result": "text", "response": "text"},
        frozenset({"data", "result", "response"}),
    ),
    TOOLS: Kind("agent.tools", {}, {"tools": "tools", "toolNames": "tool_names"}),
    "manualInput": Kind("hifide.manual_input", _BOTH, _BOTH, frozenset({"data"})),
    NEW: Kind("hifide.new_context", {**_BOTH, "systemInstructionsIn": "system"}, _BOTH),
    "injectMessages": Kind(
        "hifide.inject_messages",
        {**_OWN, "userMessage": "user", "assistantMessage": "assistant"},
        _OWN,
    ),
    ROUTER: Kind("agent.intent_router", {"context": "context", "data": "prompt"}, _CONTEXT),
    CACHE: Kind("hifide.cache", _BOTH, _BOTH),
    "portalInput": Kind("", _BOTH, {}),
    "portalOutput": Kind("", {}, _BOTH),
    "readFile": Kind("control.read_text", {}, {"data": "out"}, frozenset({"data"})),
}


def read_flow(data: Any, notes: Notes) -> HifideFlow:
    """Read the content of a file; every problem is noted."""
    flow = HifideFlow()
    if not isinstance(data, dict):
        found = describe_value(data)
        wrong = foreign.FOREIGN_FILE_INVALID(system="HiFide", expected="a mapping", found=found)
        notes.problem((), wrong)
        return flow
    file = PartReader(notes, data)
    nodes, edges = file.entries("nodes", "node", needed=True), file.entries("edges")
    if data.get("nodes") == []:
        notes.problem(("nodes",), foreign.FOREIGN_FLOW_EMPTY(expected="at least one node"))
    known = unique_ids(nodes)
    for node in nodes:
        _add_node(flow, node)
    for edge in edges:
        _add_edge(flow, known, edge)
    return flow


def _add_node(flow: HifideFlow, part: PartReader) -> None:
    id = "" if part.missing("id") else part.string("id")
    if not id or id in flow.nodes:
        return
    given = part.part
    spelled = spelled_type(given)
    kind = None if spelled is None else kind_of_node(spelled)
    if kind is None:
        part.problem(
            foreign.FOREIGN_KEY_MISSING(key="nodeType", available=KINDS)
            if spelled is None
            else foreign.FOREIGN_CHOICE_UNKNOWN(key="node type", value=spelled, available=KINDS, near=spelled)
        )
        return
    inner = "config" not in given and "config" in get_mapping(given, "data")
    config = (part.mapping("data") if inner else part).mapping("config")
    drawn: JsonDict = {key: given[key] for key in _DRAWN if key in given}
    flow.nodes[id] = Node(id, kind, config.part, part.path, config.path, drawn)


def _add_edge(flow: HifideFlow, known: set[str], part: PartReader) -> None:
    source, target = part.endpoint(("source",), "from", known), part.endpoint(("target",), "to", known)
    output, port = _port(part, _OUTPUTS), _port(part, _INPUTS)
    if source not in flow.nodes or target not in flow.nodes:
        return
    edge = Edge(source, _normalised(flow, source, output), target, _normalised(flow, target, port), part.path)
    _check_kind(edge, part.part, part.notes)
    if not any(_ends(edge) == _ends(other) for other in flow.edges_into(target)):
        flow.edges.append(edge)


def _port(part: PartReader, keys: tuple[str, str]) -> str:
    """Return the port that an edge names, in either form of edges."""
    return part.string(next((key for key in keys if part.part.get(key) is not None), keys[0]))


def _normalised(flow: HifideFlow, node: str, port: str) -> str:
    """Normalise the name of a port, except of a node type of a pack."""
    return port_name(port) if flow.nodes[node].kind in KINDS or not port else port


def _ends(edge: Edge) -> tuple[str, str, str, str]:
    return edge.source, edge.output, edge.target, edge.input


def _check_kind(edge: Edge, given: dict[str, Any], notes: Notes) -> None:
    said = get_mapping(given, "metadata").get("isContextEdge")
    carries = edge.input == "context"
    if isinstance(said, bool) and said != carries:
        notes.remark(
            edge.target,
            f"the edge from {edge.source!r} has isContextEdge {str(said).lower()}",
            f"its ports decide: it carries {'the context' if carries else 'a value'}",
        )


def _plain(text: str) -> str:
    return _BLANKS.sub("", text).lower()


def spelled_type(node: dict[str, Any]) -> str | None:
    """Return the type of a node as its file spells it, None if it has none.

    It is under `nodeType`, in the node or its `data`, under `type` or `kind`, or a prefix of the id.
    """
    for found in (
        node.get("nodeType"),
        get_mapping(node, "data").get("nodeType"),
        node.get("type"),
        node.get("kind"),
    ):
        if isinstance(found, str) and found.strip():
            return found.strip()
    id = node.get("id")
    prefix = _PREFIX.match(id) if isinstance(id, str) else None
    return prefix[0] if prefix and _plain(prefix[0]) in _KINDS else None


def is_of_a_kind(node: dict[str, Any]) -> bool:
    """Return whether a node is of a kind of HiFide, and not of one of Clickweave."""
    if (
        "node_type" in node or "params" in node
    ):  # a node of Clickweave, whose id or `kind` may be like one of HiFide
        return False
    spelled = spelled_type(node)
    return spelled is not None and _plain(spelled) in _KINDS


def kind_of_node(spelled: str) -> str | None:
    """Return the kind of a spelled type: one of HiFide, or a node type of a pack, whose id has a dot."""
    return _KINDS.get(_plain(spelled), spelled if "." in spelled else None)


def port_name(spelled: str) -> str:
    """Normalise the name of a port; unknown names are kept."""
    return _BY_SPELLING.get(_plain(spelled), spelled)
