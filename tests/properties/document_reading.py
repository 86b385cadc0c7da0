"""What a flow document says, without running it; maps that `each` opens, as maps in block form (S7.1)."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import dataflow.formats.native.document as d
from dataflow.base.failure import takes_failure
from dataflow.core.ports import DONE, LAZY
from dataflow.formats.native.parts import (
    ConstantSource,
    FallbackSource,
    MergeSource,
    RaceSource,
    Source,
)

AFTER: Final = "$after"
#: Who reads what the next round of a loop begins with.
NEXT: Final = "$next"
_JOINS: Final = ("merge", "gather", "race", "fallback", "each", "every", "collect", "all", "source")

Functions = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class In:
    required: bool = True
    many: bool = False
    takes_failure: bool = False
    lazy: bool = False


@dataclass(frozen=True, slots=True)
class Read:
    """A use of a port by the `port` of a node of the same block, by NEXT, or by anything else (None)."""

    node: str
    name: str
    reader: str | None = None
    port: In = In()
    race: RaceSource | None = None
    early: bool = False  # the reader may settle without it, as through a join


@cache
def signature_of(function: Callable[..., Any]) -> dict[str, tuple[inspect.Parameter, Any]]:
    """Return the parameters of a node's function with their types."""
    hints = typing.get_type_hints(function, include_extras=True)
    return {
        name: (parameter, hints[name]) for name, parameter in inspect.signature(function).parameters.items()
    }


@cache
def _ports_of(function: Callable[..., Any]) -> dict[str, In]:
    ports = {}
    for name, (parameter, hint) in signature_of(function).items():
        many = parameter.kind is parameter.VAR_POSITIONAL
        is_lazy = LAZY in getattr(hint, "__metadata__", ())
        ports[name] = In(
            parameter.default is parameter.empty and not many, many, takes_failure(hint), is_lazy
        )
    return ports


def inputs_of(node: d.Node, functions: Functions) -> dict[str, In]:
    """Return the input ports of a node; the first values of a loop and the lists of a map are such ports."""
    ports: dict[str, In]
    match node:
        case d.TypeNode(type="control.if" | "control.switch"):
            ports = {"value": In()}
        case d.TypeNode(type="control.ask"):
            ports = {"show": In(required=False)}
        case d.TypeNode(type=type):
            ports = _ports_of(functions[type])
        case d.FlowNode(flow=d.FlowDocument(inputs=inputs)):
            ports = {name: In("default" not in part.model_fields_set) for name, part in inputs.items()}
        case d.LoopNode(loop=loop):
            ports = {name: In(required=False) for name in loop.carry}
        case d.MapNode(map=part):
            ports = {name: In() for name in part.over}
        case _:
            raise NotImplementedError(node)
    return {**ports, AFTER: In(many=True)}


def is_enabled(node: d.Node) -> bool:
    return not isinstance(node, d.TypeNode | d.FlowNode) or node.policy.enabled


def is_lifted(node: d.Node) -> bool:
    """Tell whether a map stands for an `each`, so that one of its nodes has the path of the item."""
    return node.meta.get("lifted") is True


def sources_of(block: d.BlockPart, id: str) -> dict[str, list[Source]]:
    """Return what each connected port of a node reads: what stands with the node, then the edges (S5.1)."""
    wired: dict[str, list[Source]] = {}
    node = block.nodes[id]
    match node:
        case d.TypeNode() | d.FlowNode():
            for port, given in node.inputs.items():
                wired[port] = list(given) if isinstance(given, list) else [given]
        case d.LoopNode(loop=loop):
            wired = {name: [carry.first] for name, carry in loop.carry.items()}
        case d.MapNode(map=part):
            wired = {name: [source] for name, source in part.over.items()}
    for edge in block.edges:
        if edge.target == id:
            wired.setdefault(edge.target_port, []).append(f"{edge.source}.{edge.source_port}")
    if node.after:
        wired[AFTER] = [f"{other}.{DONE}" for other in node.after]
    return wired


def parted(reference: str) -> tuple[str, str]:
    node, _, port = reference.partition(".")
    return node, port or "out"


def body_of(node: d.Node) -> d.BlockPart | None:
    return node.loop if isinstance(node, d.LoopNode) else node.map if isinstance(node, d.MapNode) else None


def _reads(source: Any, read: Read) -> Iterator[Read]:
    """Go through the ports that a source names, at any depth; `read` says by whom."""
    if isinstance(source, str):
        node, name = parted(source)
        yield replace(read, node=node, name=name)
    elif isinstance(source, list):
        for part in source:
            yield from _reads(part, read)
    elif source is not None and not isinstance(source, ConstantSource):
        if isinstance(source, MergeSource | FallbackSource | RaceSource):
            read = replace(read, early=True, race=source if isinstance(source, RaceSource) else read.race)
        if isinstance(source, FallbackSource):  # the second is asked for only if the first is a skip
            first, second = source.fallback
            yield from _reads(first, read)
            yield from _reads(second, replace(read, port=replace(read.port, lazy=True)))
            return
        for name in _JOINS:
            yield from _reads(getattr(source, name, None), read)


def reads_of(block: d.BlockPart, functions: Functions) -> Iterator[Read]:
    """Go through all uses of ports in a block and the blocks inside it, the ends of a loop's rounds too."""
    for id, node in block.nodes.items():
        inputs = inputs_of(node, functions)
        for port, sources in sources_of(block, id).items():
            yield from _reads(sources, Read("", "", id, inputs[port]))
        inner = body_of(node)
        if inner is not None:
            within = list(reads_of(inner, functions))
            lazy = _later(inner, by_node(within), waits=False)
            for read in within:  # what is read through a lazy port is read lazily, in any scope (S8.1)
                used = replace(read.port, lazy=True) if read.reader in lazy else read.port
                yield replace(read, reader=id, port=used, early=True)  # awaited only by who reads it (S2.4)
    ends: list[Any] = list(block.outputs.values())
    if isinstance(block, d.LoopPart):
        ends += [block.until, block.while_]
        yield from _reads([carry.next for carry in block.carry.values()], Read("", "", NEXT))
    yield from _reads(ends, Read("", ""))


def by_node(reads: Iterable[Read]) -> dict[str, list[Read]]:
    found: dict[str, list[Read]] = {}
    for read in reads:
        found.setdefault(read.node, []).append(read)
    return found


def demanded(block: d.BlockPart, reads: Mapping[str, list[Read]], next_too: bool = False) -> list[str]:
    """List the nodes that a frame demands: not those of which every use is a lazy port (S8.1).

    With `until`, those that only next values need are demanded once another round follows (S6.1).
    """
    lazy = _later(block, reads, waits=False)
    if next_too or not isinstance(block, d.LoopPart) or block.until is None:
        return [id for id in block.nodes if id not in lazy]
    later = _later(block, reads, waits=True)
    return [id for id, node in block.nodes.items() if id not in (later if is_enabled(node) else lazy)]


def switched_off(block: d.BlockPart, reads: Mapping[str, list[Read]], next_too: bool = False) -> list[str]:
    """List the nodes that are switched off and of which a frame demands what they read."""
    waits = not next_too and isinstance(block, d.LoopPart) and block.until is not None
    later = _later(block, reads, waits=waits)
    return [id for id, node in block.nodes.items() if not is_enabled(node) and id not in later]


def behind(block: d.BlockPart, reads: Mapping[str, list[Read]], sources: list[Any]) -> set[str]:
    """Name the nodes of a block that stand behind some sources, however far."""
    needed = {read.node for source in sources for read in _reads(source, Read("", ""))}
    while more := {id for id in block.nodes if any(r.reader in needed for r in reads.get(id, ()))} - needed:
        needed |= more
    return needed


def _later(block: d.BlockPart, reads: Mapping[str, list[Read]], waits: bool) -> set[str]:
    """Return the nodes of which no use is demanded at once."""
    left = {id for id in block.nodes if reads.get(id)}
    waiting = {NEXT} if waits else set()
    while now := {
        id for id in left if any(not (r.port.lazy or r.reader in left | waiting) for r in reads[id])
    }:
        left -= now
    return left


#: The sources that open maps.
OPENING: Final = {"each", "every"}


def lifted(document: Mapping[str, Any]) -> dict[str, Any]:
    block = _inside(document)
    for id in list(block["nodes"]):
        node = block["nodes"].get(id, {})  # it may have gone into a map meanwhile
        ports = [port for port, given in _inputs(node) if isinstance(given, dict) and OPENING & given.keys()]
        if ports:
            block = _lift(block, id, ports[0])
    return block


def _inside(block: Mapping[str, Any]) -> dict[str, Any]:
    nodes = {}
    for id, node in block["nodes"].items():
        kind = next((kind for kind in ("loop", "map", "flow") if kind in node), None)
        nodes[id] = dict(node) if kind is None else {**node, kind: lifted(node[kind])}
    return {**block, "nodes": nodes}


def _inputs(node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from node.get("inputs", {}).items()


def _lift(block: dict[str, Any], head: str, port: str) -> dict[str, Any]:
    """Put a node, and those that read it without collecting it, into a map with the node's id.

    Another call of `each` over the list is in it too, if both have the same share or a node reads both.
    """
    nodes, edges = block["nodes"], block["edges"]
    item = dict(nodes[head]["inputs"][port])
    members = _readers(block, head)
    for id, name in _calls(block, item):
        given, readers = nodes[id]["inputs"][name], _readers(block, id)
        is_shared = "share" in item and item["share"] == given.get("share")
        if (id, name) == (head, port) or is_shared or readers & members:
            members |= readers
            nodes[id] = {**nodes[id], "inputs": {**nodes[id]["inputs"], name: "$item.item"}}
    over = item if "every" in item else item.pop("each")
    item.pop("share", None)
    part = {
        "over": {"item": over},
        **(item if over is not item else {}),
        "nodes": {id: nodes[id] for id in nodes if id in members},
        "edges": [edge for edge in edges if edge["target"] in members],
        "outputs": {member: member for member in nodes if member in members},
    }
    left: dict[str, Any] = {}
    for id, node in nodes.items():
        if id == head:
            left[id] = {"map": part, "meta": {"lifted": True}}
        elif id not in members:
            left[id] = _collected(node, head, members)
    return {**block, "nodes": left, "edges": [edge for edge in edges if edge["target"] not in members]}


def _calls(block: dict[str, Any], item: dict[str, Any]) -> list[tuple[str, str]]:
    """List the ports that read what an item is read from."""
    over = {key: item[key] for key in OPENING & item.keys()}
    return [
        (id, port)
        for id, node in block["nodes"].items()
        for port, given in _inputs(node)
        if isinstance(given, dict) and {key: given[key] for key in OPENING & given.keys()} == over
    ]


def _readers(block: dict[str, Any], head: str) -> set[str]:
    """Name a node, and those that read it without collecting it, however far."""
    found = {head}
    while (
        more := {
            id
            for id, node in block["nodes"].items()
            for wired in (
                [given for _, given in _inputs(node)],
                [edge["source"] for edge in block["edges"] if edge["target"] == id],
            )
            if any(member in wired for member in found)
        }
        - found
    ):
        found |= more
    return found


def _collected(node: dict[str, Any], head: str, members: set[str]) -> dict[str, Any]:
    """Let what collects from the map read its list."""
    inputs = {
        port: f"{head}.{given['collect']}"
        if isinstance(given, dict) and given.get("collect") in members
        else given
        for port, given in _inputs(node)
    }
    return {**node, "inputs": inputs} if inputs else node
