"""Drawing a flow as Mermaid, DOT or plain text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dataflow.wiring import (
    Collect,
    Each,
    Fallback,
    Gather,
    Literally,
    LoopBlock,
    Many,
    MapBlock,
    Merge,
    PlacedNode,
    Reference,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataflow.wiring import Block, Placed, Source, Wiring

__all__ = ["dot", "mermaid", "outline"]


@dataclass(slots=True)
class Arrow:
    """An edge to draw: from whose port, to whom, and how it is labelled."""

    source: Reference
    target: str
    label: str


@dataclass(slots=True)
class Group:
    """The nodes of a block and the groups inside it."""

    id: str
    label: str
    nodes: list[tuple[str, str]] = field(default_factory=list)  # id and label
    groups: list[Group] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)


def _references(source: Source | Many) -> Iterator[tuple[Reference, str]]:
    """Go through the ports that a source reads, with the words around them."""
    match source:
        case Reference():
            yield source, ""
        case Literally():
            return
        case Each(inner):
            yield from ((reference, f"each {words}".strip()) for reference, words in _references(inner))
        case Collect(inner):
            yield from ((reference, f"collect {words}".strip()) for reference, words in _references(inner))
        case Fallback(first, default):
            for part in (first, default):
                yield from (
                    (reference, f"fallback {words}".strip()) for reference, words in _references(part)
                )
        case Merge(sources) | Gather(sources) | Many(sources):
            word = type(source).__name__.lower() if not isinstance(source, Many) else ""
            for part in sources:
                yield from ((reference, f"{word} {words}".strip()) for reference, words in _references(part))


def _group(id: str, label: str, block: Block) -> Group:
    group = Group(id, label)
    for placed in block.nodes.values():
        _add(group, placed)
    for edge in block.edges:
        group.arrows.append(_arrow(edge.source, edge.target, "", edge.target_port))
    return group


def _add(group: Group, placed: Placed) -> None:
    match placed:
        case PlacedNode(id=id, type=node_type, inputs=inputs):
            group.nodes.append((id, node_type if isinstance(node_type, str) else node_type.id))
            for port, source in inputs.items():
                group.arrows += [
                    _arrow(reference, id, words, port) for reference, words in _references(source)
                ]
        case LoopBlock(id=id, carries=carries, body=body, limit=limit):
            inner = _group(id, f"loop {id}, limit {limit}", body)
            group.groups.append(inner)
            for name, carried in carries.items():
                group.arrows += [
                    _arrow(reference, id, words, name) for reference, words in _references(carried.first)
                ]
                if carried.next is not None:
                    inner.arrows += [
                        _arrow(r, id, f"next {words}", name) for r, words in _references(carried.next)
                    ]
        case MapBlock(id=id, over=over, body=body):
            group.groups.append(_group(id, f"map {id}", body))
            for name, source in over.items():
                group.arrows += [
                    _arrow(reference, id, words, name) for reference, words in _references(source)
                ]
    group.arrows += [Arrow(Reference(node, "$done"), placed.id, "after") for node in placed.after]


def _arrow(source: Reference, target: str, words: str, port: str) -> Arrow:
    start = "" if source.port == "out" else source.port
    label = f"{words} {start}→{port}".strip() if start else f"{words} →{port}".strip()
    return Arrow(source, target, label)


def _whole(wiring: Wiring) -> Group:
    group = _group("", wiring.name, wiring.block)
    for name, source in wiring.block.outputs.items():
        group.nodes.append((f"output {name}", "output"))
        group.arrows += [_arrow(r, f"output {name}", words, name) for r, words in _references(source)]
    return group


class _Ids:
    """Short ids for names that may hold any character."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def of(self, name: str) -> str:
        return self.known.setdefault(name, f"n{len(self.known)}")

    def of_source(self, reference: Reference) -> str:
        return self.of(
            f"{reference.node}.{reference.port}" if reference.node.startswith("$") else reference.node
        )


def _everything(group: Group) -> list[Group]:
    groups = [group]
    for inner in groups:  # grows while it is walked
        groups.extend(inner.groups)
    return groups


def _quoted(text: str) -> str:
    return (
        text.replace("&", "&amp;")
        .replace('"', "&quot;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\n", " ")
    )


def mermaid(wiring: Wiring) -> str:
    """Draw as a Mermaid flowchart."""
    whole, ids = _whole(wiring), _Ids()
    lines = ["flowchart TD"]
    lines += [f'  {ids.of(f"$in.{name}")}(["{_quoted(name)}"])' for name in wiring.inputs]

    def draw(group: Group, indent: str) -> None:
        for id, _ in group.nodes:
            lines.append(f'{indent}{ids.of(id)}["{_quoted(id)}"]')
        for inner in group.groups:
            lines.append(f'{indent}subgraph {ids.of(inner.id)}["{_quoted(inner.label)}"]')
            draw(inner, indent + "  ")
            lines.append(f"{indent}end")

    draw(whole, "  ")
    for group in _everything(whole):
        for arrow in group.arrows:
            start, end = ids.of_source(arrow.source), ids.of(arrow.target)
            lines.append(f'  {start} -->|"{_quoted(arrow.label)}"| {end}')
    return "\n".join(lines) + "\n"


def dot(wiring: Wiring) -> str:
    """Draw as a Graphviz digraph."""
    whole, ids = _whole(wiring), _Ids()
    lines = [f"digraph {_dot_text(wiring.name)} {{", "  node [shape=box];"]
    lines += [f"  {ids.of(f'$in.{name}')} [label={_dot_text(name)}, shape=oval];" for name in wiring.inputs]

    def draw(group: Group, indent: str) -> None:
        for id, _ in group.nodes:
            lines.append(f"{indent}{ids.of(id)} [label={_dot_text(id)}];")
        for inner in group.groups:
            lines.append(f"{indent}subgraph cluster_{ids.of(inner.id)} {{ label={_dot_text(inner.label)};")
            lines.append(f"{indent}  {ids.of(inner.id)} [shape=point];")
            draw(inner, indent + "  ")
            lines.append(f"{indent}}}")

    draw(whole, "  ")
    for group in _everything(whole):
        for arrow in group.arrows:
            start, end = ids.of_source(arrow.source), ids.of(arrow.target)
            lines.append(f"  {start} -> {end} [label={_dot_text(arrow.label)}];")
    return "\n".join([*lines, "}"]) + "\n"


def _dot_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'


def outline(wiring: Wiring) -> str:
    """Draw as indented text: each node with its type and where its ports come from."""
    lines = [f"flow {wiring.name}"]
    for name, given in wiring.inputs.items():
        required = "" if repr(given.default) == "MISSING" else f" = {given.default!r}"
        lines.append(f"  input {name}{required}")

    def draw(group: Group, indent: str) -> None:
        sources: dict[str, list[str]] = {}
        for arrow in group.arrows:
            sources.setdefault(arrow.target, []).append(f"{arrow.source} ({arrow.label})")
        for id, label in group.nodes:
            read = f" <- {', '.join(sources[id])}" if id in sources else ""
            lines.append(f"{indent}{id} [{label}]{read}")
        for inner in group.groups:
            read = f" <- {', '.join(sources[inner.id])}" if inner.id in sources else ""
            lines.append(f"{indent}{inner.label}{read}")
            draw(inner, indent + "  ")

    draw(_whole(wiring), "  ")
    return "\n".join(lines) + "\n"
