"""Draw a flow as Mermaid, DOT or plain text.

The graph definition is converted to groups of shapes with arrows between them, which each language writes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dataflow.base.wording import visible
from dataflow.core.nodetype import NodeType
from dataflow.core.ports import DONE
from dataflow.core.wiring import (
    CARRY,
    INPUT,
    ITEM,
    PARAMETERS,
    All,
    Collect,
    Each,
    Every,
    Fallback,
    Gather,
    Literally,
    LoopBlock,
    Many,
    MapBlock,
    Merge,
    MergeContexts,
    PlacedNode,
    Race,
    Reference,
    signal_of,
)
from dataflow.expressions.expression import ExpressionOf

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dataflow.core.policy import EachOptions
    from dataflow.core.wiring import Block, LoopTest, Nested, Rounds, Source, Wiring

__all__ = ["dot", "mermaid", "outline"]


@dataclass(slots=True, eq=False)
class Shape:
    """Something to draw: a node, an input, an output, a loop variable or an item."""

    label: str
    is_round: bool = False
    type: str = ""


@dataclass(slots=True)
class Arrow:
    """An edge to draw; its source is None if it does not exist."""

    source: Shape | Group | None
    target: Shape | Group
    label: str


@dataclass(slots=True, eq=False)
class Group:
    """A block: its shapes by name, and the groups inside it. Names are looked up outwards."""

    id: str
    label: str
    around: Group | None = None
    outputs: Mapping[str, Source] = field(default_factory=dict)
    how: str = ""  # how its outputs are made of those of its iterations
    names: dict[tuple[str, str], Shape | Group] = field(default_factory=dict)
    arrows: list[Arrow] = field(default_factory=list)

    def find(self, reference: Reference) -> Shape | Group | None:
        name = (reference.node, reference.port) if reference.node in PARAMETERS else ("", reference.node)
        group: Group | None = self
        while group is not None:
            if name in group.names:
                return group.names[name]
            group = group.around
        return None


def mermaid(wiring: Wiring) -> str:
    """Draw as a Mermaid flowchart."""
    whole, ids = _draw(wiring), _Ids()
    lines = ["flowchart TD"]

    def draw(group: Group, indent: str) -> None:
        for inner in group.names.values():
            if isinstance(inner, Group):
                lines.append(f'{indent}subgraph {ids.of(inner)}["{_quoted(inner.label)}"]')
                draw(inner, indent + "  ")
                lines.append(f"{indent}end")
            else:
                opening, closing = ("([", "])") if inner.is_round else ("[", "]")
                lines.append(f'{indent}{ids.of(inner)}{opening}"{_quoted(inner.label)}"{closing}')

    draw(whole, "  ")
    lines += [
        f'  {ids.of(arrow.source)} -->|"{_quoted(arrow.label)}"| {ids.of(arrow.target)}'
        for arrow in _drawable(whole)
    ]
    return "\n".join(lines) + "\n"


def dot(wiring: Wiring) -> str:
    """Draw as a Graphviz digraph; an edge of a loop or map ends at a point inside its cluster."""
    whole, ids = _draw(wiring), _Ids()
    lines = [f"digraph {_dot_text(wiring.name)} {{", "  node [shape=box];"]

    def draw(group: Group, indent: str) -> None:
        for inner in group.names.values():
            if isinstance(inner, Group):
                lines.append(f"{indent}subgraph cluster_{ids.of(inner)} {{ label={_dot_text(inner.label)};")
                lines.append(f"{indent}  {ids.of(inner)} [shape=point];")
                draw(inner, indent + "  ")
                lines.append(f"{indent}}}")
            else:
                shape = ", shape=oval" if inner.is_round else ""
                lines.append(f"{indent}{ids.of(inner)} [label={_dot_text(inner.label)}{shape}];")

    draw(whole, "  ")
    lines += [
        f"  {ids.of(arrow.source)} -> {ids.of(arrow.target)} [label={_dot_text(arrow.label)}];"
        for arrow in _drawable(whole)
    ]
    return "\n".join([*lines, "}"]) + "\n"


def outline(wiring: Wiring) -> str:
    """Draw as indented text: each node with its type and its sources."""
    whole = _draw(wiring)
    reads: dict[int, list[str]] = {}
    for arrow in (arrow for group in _groups(whole) for arrow in group.arrows):
        source = "?" if arrow.source is None else _short(arrow.source)
        reads.setdefault(id(arrow.target), []).append(f"{source} {arrow.label}")
    lines = [_one_line(f"flow {wiring.name}")]

    def draw(group: Group, indent: str) -> None:
        for (kind, _), inner in group.names.items():
            read = f"  <- {', '.join(reads[id(inner)])}" if id(inner) in reads else ""
            if isinstance(inner, Group):
                lines.append(_one_line(f"{indent}{inner.label}{read}"))
                draw(inner, indent + "  ")
            else:
                lines.append(
                    _one_line(f"{indent}{inner.label} [{inner.type or kind.removeprefix('$')}]{read}")
                )

    draw(whole, "  ")
    return "\n".join(lines) + "\n"


def _groups(whole: Group) -> list[Group]:
    groups = [whole]
    for group in groups:  # grows during the iteration
        groups.extend(inner for inner in group.names.values() if isinstance(inner, Group))
    return groups


def _drawable(whole: Group) -> list[Arrow]:
    return [arrow for group in _groups(whole) for arrow in group.arrows if arrow.source is not None]


def _short(drawn: Shape | Group) -> str:
    return drawn.id if isinstance(drawn, Group) else drawn.label


class _Ids:
    """Short ids for shapes and groups, since names may contain any character."""

    def __init__(self) -> None:
        self._known: dict[int, str] = {}

    def of(self, drawn: Shape | Group | None) -> str:
        return self._known.setdefault(id(drawn), f"n{len(self._known)}")


def _quoted(text: str) -> str:
    escaped = _one_line(text).replace("&", "&amp;").replace('"', "&quot;")
    return escaped.replace("<", "&lt;").replace(">", "&gt;")


def _dot_text(text: str) -> str:
    escaped = _one_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _one_line(text: str) -> str:
    return visible(text).replace("\n", " ")


def _references(source: Source | Many) -> Iterator[tuple[Reference, str]]:
    """Yield the ports that a source reads, each with a description of how it is read."""
    match source:
        case Reference():
            yield source, ""
        case Literally():
            return
        case Each(inner, options):
            given = _options(options)
            word = f"each ({', '.join(given)})" if given else "each"
            yield from ((reference, f"{word} {words}".strip()) for reference, words in _references(inner))
        case Collect(inner) | All(inner):
            word = type(source).__name__.lower()
            yield from ((reference, f"{word} {words}".strip()) for reference, words in _references(inner))
        case Fallback(first, default):
            for part in (first, default):
                yield from (
                    (reference, f"fallback {words}".strip()) for reference, words in _references(part)
                )
        case (
            Merge(sources)
            | Gather(sources)
            | Race(sources)
            | Every(sources)
            | MergeContexts(sources)
            | Many(sources)
        ):
            word = {Many: "", MergeContexts: "merge contexts"}.get(
                type(source), type(source).__name__.lower()
            )
            for part in sources:
                yield from ((reference, f"{word} {words}".strip()) for reference, words in _references(part))


def _draw(wiring: Wiring) -> Group:
    """Convert a graph definition to shapes and arrows."""
    whole = Group("", wiring.name)
    for name in wiring.inputs:
        whole.names[INPUT, name] = Shape(name, is_round=True, type="input")
    _declare(whole, wiring.block)
    _connect(whole, wiring.block)
    for name, source in wiring.block.outputs.items():
        output = whole.names["$out", name] = Shape(name, is_round=True, type="output")
        _arrows(whole, whole, source, output, name)
    return whole


def _declare(group: Group, block: Block) -> None:
    for placed in block.nodes.values():
        match placed:
            case PlacedNode(id=id, type=node_type):
                group.names["", id] = Shape(_with_decision(id, placed.config), type=_type_name(node_type))
            case LoopBlock(id=id, carries=carries, body=body, limit=limit, test=test):
                ends = [_limit(limit) + " or fail" * (placed.on_limit == "fail")]
                ends += [] if test is None else [_test(test)]
                inner = group.names["", id] = Group(id, ", ".join([f"loop {id}", *ends]), group, body.outputs)
                inner.names |= {(CARRY, name): Shape(name, is_round=True) for name in carries}
                _declare(inner, body)
            case MapBlock(id=id, over=over, body=body):
                label = ", ".join([f"map {id}", *_options(placed.options)])
                inner = group.names["", id] = Group(id, label, group, body.outputs, how="collect")
                inner.names |= {(ITEM, name): Shape(name, is_round=True) for name in over}
                _declare(inner, body)


def _with_decision(id: str, config: Any) -> str:
    """Return the id of a node with the function or expression that decides, as in `when` and `switch`."""
    for name in ("predicate", "condition", "pick"):
        found = config.get(name) if isinstance(config, dict) else getattr(config, name, None)
        if found is not None:
            decides = _function(found)
            return id if decides == id else f"{id}: {decides}"
    return id


def _test(test: LoopTest) -> str:
    """Return the test of a loop, such as `until is_short(draft)`."""
    read = ", ".join(_text(reference) for reference, _ in _references(test.source))
    return f"{test.kind} {read if test.function is None else f'{_function(test.function)}({read})'}"


def _text(reference: Reference) -> str:
    if reference.node in PARAMETERS:
        return reference.port
    return reference.node if reference.port == "out" else f"{reference.node}.{reference.port}"


def _options(options: EachOptions) -> list[str]:
    """Return the options of a map that are given."""
    words = [] if options.key is None else [f"key {_function(options.key)}"]
    words += [] if options.max_concurrency is None else [f"at most {options.max_concurrency}"]
    return words if options.on_error == "fail" else [*words, f"on error {options.on_error}"]


def _function(function: Any) -> str:
    """Return an expression, or the name of a function without its module."""
    if isinstance(function, ExpressionOf):
        return function.source
    name = function if isinstance(function, str) else getattr(function, "name", None)
    return str(name or getattr(function, "__name__", type(function).__name__)).rpartition(":")[2]


def _limit(limit: int | None) -> str:
    return "no limit" if limit is None else f"limit {limit}"


def _type_name(node_type: NodeType | Nested | str) -> str:
    if isinstance(node_type, str):
        return node_type
    return node_type.id if isinstance(node_type, NodeType) else f"flow {node_type.name}"


def _connect(group: Group, block: Block) -> None:
    for edge in block.edges:
        if (target := group.names.get(("", edge.target))) is not None:
            _arrows(group, group, edge.source, target, edge.target_port + _of_rounds(edge.rounds))
    for placed in block.nodes.values():
        shape = group.names["", placed.id]
        match placed:
            case PlacedNode(inputs=inputs):
                for port, source in inputs.items():
                    _arrows(group, group, source, shape, port)
            case LoopBlock(carries=carries, body=body):
                assert isinstance(shape, Group), "a loop is drawn as a group"
                for name, carried in carries.items():
                    _arrows(group, group, carried.first, shape.names[CARRY, name], "first")
                    if carried.next is not None:
                        _arrows(shape, shape, carried.next, shape.names[CARRY, name], "next")
                _connect(shape, body)
            case MapBlock(over=over, body=body):
                assert isinstance(shape, Group), "a map is drawn as a group"
                for name, source in over.items():
                    _arrows(group, group, source, shape.names[ITEM, name], "each")
                _connect(shape, body)
        for signal in map(signal_of, placed.after):
            label = "after" if signal.port == DONE else "after $error"
            group.arrows.append(Arrow(group.find(signal), shape, label))


def _of_rounds(rounds: Rounds | None) -> str:
    """Describe the options of an edge that concern a loop, which is drawn flat."""
    if rounds is None:
        return ""
    if rounds.feedback:
        return f" (feedback, {_limit(rounds.limit)})"
    words = ["each round"] * rounds.each_round + ["all"] * (rounds.leave == "all")
    return f" ({', '.join(words)})"


def _arrows(into: Group, names: Group, source: Source | Many, target: Shape | Group, port: str) -> None:
    todo = [(names, reference, words) for reference, words in _references(source)]
    for group, reference, words in todo:  # grows while it is walked
        found = group.find(reference)
        if isinstance(found, Group) and reference.port in found.outputs:  # what is inside gives it
            inside = _references(found.outputs[reference.port])
            todo += [
                (found, inner, " ".join(filter(None, (words, found.how, more)))) for inner, more in inside
            ]
            continue
        start = "" if reference.port == "out" or reference.node in PARAMETERS else reference.port
        label = " ".join(part for part in (words, f"{start} →", port) if part.strip()).replace("  ", " ")
        into.arrows.append(Arrow(found, target, label.strip()))
