"""Write the native document of a HiFide flow: nodes, caches, edges and outputs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import PartReader, foreign, qualified_model, write_edge, write_source
from dataflow_formats.hifide.config import CONFIGS, offered, selected
from dataflow_formats.hifide.diagnostics import CACHE_EMPTY, INPUT_UNCONNECTED, PATH_OUTSIDE, ROUTES_CLASH
from dataflow_formats.hifide.edges import route_name
from dataflow_formats.hifide.file import CACHE, CHAT, KINDS, MISSING, NEW, ROUTER, START, TOOLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.authoring import JsonDict, Notes
    from dataflow_formats.hifide.config import Available, Model, Router, Selected
    from dataflow_formats.hifide.edges import NativeEdge, Wired
    from dataflow_formats.hifide.file import HifideFlow, Node

__all__ = ["document", "node_of", "read_lazily"]

#: The default model of a conversation.
FALLBACK: Final = "openai/gpt-4o"
#: The input with the messages before the flow begins.
HISTORY: Final = "history"


def document(data: JsonDict, flow: HifideFlow, nodes: JsonDict, edges: Sequence[NativeEdge]) -> JsonDict:
    """Return the document of a flow with its written nodes and its edges."""
    start = next((id for id, node in flow.nodes.items() if node.kind == START), None)
    inputs = {} if start is None else {HISTORY: {"type": "array", "default": []}}
    written = [_edge(edge) for edge in edges]
    if start is not None:
        written.insert(0, write_edge("$in", HISTORY, start, "messages"))
    kept = {key: data[key] for key in ("description", "version") if key in data}
    name = data.get("name")
    return {
        "dataflow": 1,
        **({"name": name} if isinstance(name, str) and name else {}),
        "using": {"errors": "continue"},
        "inputs": inputs,
        "nodes": nodes,
        "edges": written,
        "outputs": _outputs(flow, edges),
        **({"meta": {"hifide": kept}} if kept else {}),
    }


def _outputs(flow: HifideFlow, edges: Sequence[NativeEdge]) -> JsonDict:
    """Return the values of the nodes that nothing reads, except in loops without an end."""
    read = {edge.source for edge in edges}
    endless = {edge.target for edge in edges if edge.feedback or edge.each_round}
    found = {}
    for id, node in flow.nodes.items():
        kind = KINDS.get(node.kind)
        port = "out" if kind is None else kind.outputs.get("data")
        if id not in read and id not in endless and port:
            found[id] = write_source(id, port)
    return found


def _edge(edge: NativeEdge) -> JsonDict:
    feedback = {"feedback": True, "limit": None} if edge.feedback else {}
    each_round = {"each_round": True} if edge.each_round else {}
    return write_edge(edge.source, edge.source_port, edge.target, edge.target_port, **feedback, **each_round)


def node_of(node: Node, edges: Sequence[NativeEdge], tools: Available, notes: Notes) -> JsonDict:
    """Return the native node of a node of the file, without its edges."""
    if node.kind not in KINDS:
        return {"type": node.kind, **({"config": node.config} if node.config else {}), **_meta(node)}
    given: Any = None
    if node.kind in CONFIGS:
        part = PartReader(notes, node.config, node.config_path, f"node {node.id!r}")
        given = part.checked(CONFIGS[node.kind])
        if given is None:
            return {}
    into = [edge for edge in edges if edge.target == node.id]
    config = _config(node, given, into, tools, notes)
    written: JsonDict = {"type": KINDS[node.kind].type}
    if node.kind == "readFile":
        return {**written, "values": {"path": _inside(node, given.path, notes)}, **_meta(node)}
    return {**written, **({"config": config} if config else {}), **_meta(node)}


def read_lazily(flow: HifideFlow, made: Wired, notes: Notes) -> None:
    """Add a companion to each cache, which reads its data lazily if the cache has no value.

    Data of a cache that is read although no edge leads to it is noted as a problem.
    """
    for node in flow.nodes.values():
        if node.kind == CACHE:
            _add_keeping(flow, node, made, notes)


def _add_keeping(flow: HifideFlow, node: Node, made: Wired, notes: Notes) -> None:
    id = flow.free(f"{node.id}_kept")
    read = any(edge.target == node.id and edge.target_port == "data" for edge in made.edges)
    if not read:
        _check_empty(node, made, notes)
    made.between[id] = {
        "type": "hifide.keep",
        "config": {"name": node.id, **({"wired": ["data"]} if read else {}), **_keeping(node)},
    }
    made.behind[id] = node.id
    edges = made.edges
    made.edges = [
        replace(edge, target=id) if (edge.target, edge.target_port) == (node.id, "data") else edge
        for edge in edges
    ]
    made.edges += [replace(edge, source=id) for edge in edges if edge.source == node.id]
    made.add(node.id, MISSING, id, MISSING)


def _check_empty(node: Node, made: Wired, notes: Notes) -> None:
    """Note the readers of the data of a cache without an edge to its data."""
    for edge in made.edges:
        if (edge.source, edge.source_port) == (node.id, "data"):
            reader = made.behind.get(edge.target, edge.target)
            notes.problem(edge.path, CACHE_EMPTY(f"node {node.id!r}", reader=reader))


def _keeping(node: Node) -> JsonDict:
    """Return the config of a cache that keeps nothing; other problems of its config are noted elsewhere."""
    return {"is_kept": False} if node.config.get("ttl") == 0 else {}


def _meta(node: Node) -> JsonDict:
    return {"meta": {"hifide": node.drawn}} if node.drawn else {}


def _config(node: Node, given: Any, into: Sequence[NativeEdge], tools: Available, notes: Notes) -> JsonDict:
    wired = {"wired": list(dict.fromkeys(edge.target_port for edge in into))}
    match node.kind:
        case kind if kind == START:
            return {"model": _model(node, given, notes) or FALLBACK, **_system(given), "clean_tail": True}
        case kind if kind == NEW:
            return {**wired, "model": _model(node, given, notes) or FALLBACK, **_system(given)}
        case kind if kind == CHAT:
            alone = not any(edge.target_port == "context" for edge in into)
            model = _model(node, given, notes) or (FALLBACK if alone else "")
            return {**({"model": model} if model else {}), **_sampling(given)}
        case kind if kind == ROUTER:
            return {**_router(node, given, into, notes), **_sampling(given)}
        case kind if kind == TOOLS:
            _remark_on_tools(node, given, tools, notes)
            return offered(given, tools)
        case "manualInput":
            return {**wired, **({"message": given.message} if given.message else {})}
        case "injectMessages":
            if given.injection_mode == "append":
                notes.remark(node.id, "puts its messages at the end", "they stand at the head")
            texts = {"user": given.static_user_message, "assistant": given.static_assistant_message}
            return {
                **wired,
                "id": given.id or node.id,
                **{name: text for name, text in texts.items() if text},
            }
        case kind if kind == CACHE:
            stamp = {} if given.invalidate is None else {"invalidate": given.invalidate}
            return {**wired, "name": node.id, "ttl": given.ttl, **stamp}
        case _:
            return {}


def _model(node: Node, given: Model, notes: Notes) -> str:
    if not given.model:
        return ""
    name = given.model if not given.provider or "/" in given.model else f"{given.provider}/{given.model}"
    found = qualified_model(name)
    if found is None:
        unknown = foreign.FOREIGN_MODEL_UNKNOWN(
            f"node {node.id!r}", expected="`provider` and `model`", found=repr(given.model)
        )
        notes.problem((*node.config_path, "model"), unknown)
    return found or ""


def _system(given: Model) -> JsonDict:
    return {"system": given.system_instructions} if given.system_instructions else {}


def _sampling(given: Model) -> JsonDict:
    found = {"temperature": given.temperature, "reasoning_effort": given.reasoning_effort}
    return {name: value for name, value in found.items() if value is not None}


def _router(node: Node, given: Router, into: Sequence[NativeEdge], notes: Notes) -> JsonDict:
    alone = not any(edge.target_port == "context" for edge in into)
    if not any(edge.target_port == "prompt" for edge in into):
        notes.problem(node.path, INPUT_UNCONNECTED(f"node {node.id!r} (intentRouter)", ports="data"))
    names = [route_name(name) for name in given.routes]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        notes.problem((*node.config_path, "routes"), ROUTES_CLASH(f"node {node.id!r}", name=name))
    model = _model(node, given, notes) or (FALLBACK if alone else "")
    routes = dict(zip(names, given.routes.values(), strict=True))
    return {**({"model": model} if model else {}), "routes": routes}


def _remark_on_tools(node: Node, given: Selected, tools: Available, notes: Notes) -> None:
    names = [reference.rpartition(":")[2].rpartition(".")[2] for reference in tools.functions]
    if tools.servers or not isinstance(given.tools, list):
        if not names and not tools.servers:
            notes.remark(node.id, "offers the tools of the application", "none are named besides the file")
        return
    found = selected(given, names)
    for name in given.tools:
        if (
            isinstance(name, str)
            and name not in found
            and not selected(given.model_copy(update={"tools": [name]}), names)
        ):
            notes.remark(
                node.id, f"offers the tool {name!r} where there is one", "there is none of this name"
            )


def _inside(node: Node, path: str, notes: Notes) -> str:
    found = PurePosixPath(path.replace("\\", "/"))
    if found.is_absolute() or ".." in found.parts or ":" in found.parts[0]:
        notes.problem((*node.config_path, "path"), PATH_OUTSIDE(f"node {node.id!r}", path=path))
    return path
