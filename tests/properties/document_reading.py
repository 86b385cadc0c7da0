"""What a flow document says, without running it: what a port reads, who reads a node, what is demanded."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from dataflow.document.flow import (
    BlockPart,
    FlowDocument,
    FlowNode,
    LoopNode,
    LoopPart,
    MapNode,
    Node,
    TypeNode,
)
from dataflow.document.sources import ConstantSource, Source
from dataflow.failure import takes_failure
from dataflow.ports import DONE

__all__ = ["AFTER", "In", "Read", "demanded", "inputs_of", "is_enabled", "parted", "reads_of", "signature_of", "sources_of"]

AFTER: Final = "$after"
#: Who reads what the next round of a loop begins with.
NEXT: Final = "$next"
_JOINS: Final = ("merge", "gather", "race", "fallback", "each", "collect", "all", "source")

Functions = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class In:
    """An input port."""

    required: bool = True
    many: bool = False
    takes_failure: bool = False


@dataclass(frozen=True, slots=True)
class Read:
    """A use of a port of a node, and by whom: a node of the same block, NEXT, or None for anything else."""

    node: str
    port: str
    reader: str | None = None
    takes_failure: bool = False


@cache
def signature_of(function: Callable[..., Any]) -> dict[str, tuple[inspect.Parameter, Any]]:
    """Return the parameters of a node's function with their types."""
    hints = typing.get_type_hints(function, include_extras=True)
    return {n: (p, hints[n]) for n, p in inspect.signature(function).parameters.items()}


def _is_required(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty and parameter.kind is not parameter.VAR_POSITIONAL


def inputs_of(node: Node, functions: Functions) -> dict[str, In]:
    """Return the input ports of a node."""
    ports: dict[str, In]
    match node:
        case TypeNode(type="control.if" | "control.switch"):
            ports = {"value": In()}
        case TypeNode(type=type):
            ports = {
                name: In(
                    _is_required(parameter), parameter.kind is parameter.VAR_POSITIONAL, takes_failure(hint)
                )
                for name, (parameter, hint) in signature_of(functions[type]).items()
            }
        case FlowNode(flow=FlowDocument(inputs=inputs)):
            ports = {name: In("default" not in part.model_fields_set) for name, part in inputs.items()}
        case LoopNode(loop=loop):
            ports = {name: In(required=False) for name in loop.carry}
        case MapNode(map=part):
            ports = {name: In() for name in part.over}
        case _:
            raise NotImplementedError(node)
    return {**ports, AFTER: In(many=True)}


def is_enabled(node: Node) -> bool:
    """Tell whether a node is not switched off (S4.7); such a node is settled without being run."""
    return not isinstance(node, TypeNode | FlowNode) or node.policy.enabled


def sources_of(block: BlockPart, id: str) -> dict[str, list[Source]]:
    """Return what each connected port of a node reads: what stands with the node, then the edges (S5.1)."""
    wired: dict[str, list[Source]] = {}
    node = block.nodes[id]
    match node:
        case TypeNode() | FlowNode():
            for port, given in node.inputs.items():
                wired[port] = list(given) if isinstance(given, list) else [given]
        case LoopNode(loop=loop):
            wired = {name: [carry.first] for name, carry in loop.carry.items()}
        case MapNode(map=part):
            wired = {name: [source] for name, source in part.over.items()}
    for edge in block.edges:
        if edge.target == id:
            wired.setdefault(edge.target_port, []).append(f"{edge.source}.{edge.source_port}")
    if node.after:
        wired[AFTER] = [f"{other}.{DONE}" for other in node.after]
    return wired


def parted(reference: str) -> tuple[str, str]:
    """Part a reference into node and port; the ids of random flows need no encoding."""
    node, _, port = reference.partition(".")
    return node, port or "out"


def _references(source: Any) -> Iterator[str]:
    """Go through the ports that a source names, at any depth."""
    if isinstance(source, str):
        yield source
    elif isinstance(source, list):
        for part in source:
            yield from _references(part)
    elif source is not None and not isinstance(source, ConstantSource):
        for name in _JOINS:
            yield from _references(getattr(source, name, None))


def reads_of(block: BlockPart, functions: Functions) -> Iterator[Read]:
    """Go through all uses of ports in a block and the blocks inside it, the ends of a loop's rounds included."""
    for id, node in block.nodes.items():
        inputs = inputs_of(node, functions)
        for port, sources in sources_of(block, id).items():
            for reference in _references(sources):
                yield Read(*parted(reference), id, inputs[port].takes_failure)
        inner = node.loop if isinstance(node, LoopNode) else node.map if isinstance(node, MapNode) else None
        for read in reads_of(inner, functions) if inner is not None else ():
            yield Read(read.node, read.port, id, read.takes_failure)
    for reference in _references(list(block.outputs.values())):
        yield Read(*parted(reference))
    if isinstance(block, LoopPart):
        for reference in _references([part for part in (block.until, block.while_) if part is not None]):
            yield Read(*parted(reference))
        for reference in _references([carry.next for carry in block.carry.values()]):
            yield Read(*parted(reference), NEXT)


def demanded(block: BlockPart, functions: Functions) -> list[str]:
    """List the nodes that a frame demands at once: with `until`, not those that only next values need (S6.1)."""
    if not isinstance(block, LoopPart) or block.until is None:
        return list(block.nodes)
    readers: dict[str, set[str | None]] = {id: set() for id in block.nodes}
    for read in reads_of(block, functions):
        if read.node in readers:
            readers[read.node].add(read.reader)
    later = {id for id, found in readers.items() if found}
    while needed := {id for id in later if readers[id] - later - {NEXT}}:
        later -= needed
    return [id for id, node in block.nodes.items() if id not in later or not is_enabled(node)]
