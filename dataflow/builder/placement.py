"""Place nodes in a block, and connect the values given for their ports (S1.2)."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from dataflow.builder.blocks import source_of
from dataflow.builder.sources import Placeholder, PortRef, literally, ports_within
from dataflow.core.nodetype import VALUE, config_problems, opaque_type
from dataflow.core.ports import DONE, ERROR
from dataflow.core.wiring import (
    NO_META,
    Edge,
    Many,
    PlacedNode,
    Reference,
    Rounds,
    flows_within,
    parse_reference,
    problem_of_subflow,
    wrong_limit,
)
from dataflow.diagnostics.arguments import ARGUMENT_NOT_AVAILABLE
from dataflow.diagnostics.wiring import (
    CONFIG_IS_PORT,
    DECLARED_TWICE,
    EDGE_OPTION_UNKNOWN,
    EDGE_OPTION_UNUSED,
    FLOW_IN_ITSELF,
    GIVEN_TWICE,
    NESTED_TOO_DEEP,
    SIGNAL_REQUIRED,
    STEP_NOT_HERE,
    TOO_MANY_ARGUMENTS,
    VALUES_IN_LIST,
)
from dataflow.errors import ArgumentInvalid, FlowInvalid
from dataflow.maximums import maximum

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dataflow.builder.blocks import OpenBlock
    from dataflow.builder.sources import Step
    from dataflow.core.nodetype import NodeType
    from dataflow.core.policy import Policy
    from dataflow.core.wiring import Nested, Wiring
    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = [
    "MOST_NESTED",
    "branch",
    "configured",
    "connect",
    "feed",
    "id_for",
    "is_too_deep",
    "order_after",
    "place",
    "place_flow",
    "wire",
]

#: The options of an edge that concern loops, with their possible values; `limit` is checked separately.
ROUNDS: Final[Mapping[str, tuple[object, ...]]] = MappingProxyType(
    {
        "feedback": (True, False),
        "limit": (),
        "on_limit": ("exit", "fail"),
        "each_round": (True, False),
        "leave": ("last", "all"),
    }
)
#: The maximum depth of nested subflows, the same as in documents.
MOST_NESTED: Final = maximum("NESTED_FLOWS", 100)


def id_for(block: OpenBlock, explicit: str | None, base: str) -> str:
    """Take the requested id, or the next free one; an id used twice is a problem."""
    if explicit is None:
        return block.new_id(base)
    if block.take_id(explicit):
        return explicit
    block.problem(DECLARED_TWICE(explicit))
    return block.new_id(explicit)


def place(block: OpenBlock, node_type: NodeType, base: str, explicit: str | None = None) -> PlacedNode:
    """Place a node of the type without connecting it."""
    id = block.new_id(base) if explicit is None else id_for(block, explicit, base)
    placed = PlacedNode(id, (), NO_META, node_type)
    block.block.nodes[id] = placed
    block.wiring.calls.note((*block.path, "nodes", id), above=2)  # for each node, so it has to be fast
    block.changed()
    return placed


def branch(
    block: OpenBlock, id: str, base: str, explicit: str | None, value: object, **settings: Any
) -> PlacedNode:
    """Place a branch and connect its value."""
    placed = configured(block, id, base, explicit, **settings)
    feed(block, placed, VALUE, (value,))
    return placed


def configured(block: OpenBlock, id: str, base: str, explicit: str | None, **settings: Any) -> PlacedNode:
    """Place a node of a built-in type with a config of these settings.

    Invalid settings are a problem like any other.
    """
    from dataflow.builder.builtin import BUILT_IN  # its configs are pydantic models, which load slowly

    node_type = BUILT_IN[id]
    config = node_type.parameters.config
    assert config is not None, "each of the built-in types has one"
    placed = place(block, node_type, base, explicit)
    try:
        placed.config = config(**settings)
    except ValidationError as error:
        for problem in config_problems(error, config):
            block.problem(problem.problem.within(placed.id))
        placed.type = opaque_type(node_type.id)
    return placed


def place_flow(
    block: OpenBlock,
    flow: Nested,
    policy: Policy,
    explicit: str | None,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> PlacedNode:
    """Place a subflow and connect it; its problems become problems of the flow around it (S1.1)."""
    if any(inner is block.wiring for inner in flows_within(flow.wiring)):
        block.problem(FLOW_IN_ITSELF(flow.name))
        return place(block, opaque_type(flow.name), flow.name, explicit)
    if is_too_deep(flow.wiring):
        block.problem(NESTED_TOO_DEEP(flow.name, expected=f"at most {MOST_NESTED} levels"))
        return place(block, opaque_type(flow.name), flow.name, explicit)
    try:
        node_type = flow.node_type
    except FlowInvalid as invalid:
        for problem in invalid.problems:
            block.problem(problem_of_subflow(flow.name, problem, flow.wiring.file))
        return place(block, opaque_type(flow.name), flow.name, explicit)
    placed = place(block, node_type, flow.name, explicit)
    placed.type, placed.policy = flow, policy
    block.wiring.nested.append(flow)
    wire(block, placed, node_type, args, kwargs)
    return placed


def is_too_deep(wiring: Wiring) -> bool:
    """Return whether subflows are nested so deep that one more level is refused."""
    level, depth = [wiring], 0
    while level and depth < MOST_NESTED:
        level = list({id(inner.wiring): inner.wiring for flow in level for inner in flow.nested}.values())
        depth += 1
    return bool(level)


def wire(
    block: OpenBlock,
    placed: PlacedNode,
    node_type: NodeType,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> None:
    """Connect the arguments that a node was added with, bound by position and by name as in a call."""
    parameters = node_type.parameters
    positional = parameters.positional
    given = kwargs
    if args and positional:
        by_position = dict(zip(positional, args, strict=False))
        for name in (name for name in by_position if name in kwargs):
            block.problem(GIVEN_TWICE(f"{placed.id}.{name}", what="the port", port=name))
        given = {**by_position, **kwargs}
    for name, value in given.items():
        if name == parameters.config_name:
            _configure(block, placed, name, value)
        elif name == parameters.star and isinstance(value, list | tuple) and ports_within(value):
            block.problem(
                VALUES_IN_LIST(f"{placed.id}.{name}", port=name, found=f"a {type(value).__name__} of ports")
            )
        else:
            feed(block, placed, name, (value,))
    rest = args[len(positional) :] if args else ()
    if rest and parameters.star is not None:
        feed(block, placed, parameters.star, rest)
    elif rest and not node_type.is_opaque:
        block.problem(TOO_MANY_ARGUMENTS(placed.id, expected=f"at most {len(positional)}", found=len(args)))


def _configure(block: OpenBlock, placed: PlacedNode, name: str, value: object) -> None:
    if isinstance(value, Placeholder):
        block.problem(CONFIG_IS_PORT(placed.id, name=name, found=f"the port {value!r}"))
    else:
        placed.config = value


def feed(block: OpenBlock, placed: PlacedNode, port: str, values: Sequence[object]) -> None:
    """Connect a port: plain ports become edges, other sources are kept with the node."""
    edges: list[Edge] = []
    for value in values:
        if not isinstance(value, PortRef) or value._block is not block:  # noqa: SLF001 - as in blocks
            break
        edges.append(Edge(value._reference, placed.id, port, None, NO_META))  # noqa: SLF001 - as above
    else:  # ports of this block, as most are
        block.block.edges += edges
        return
    operands = [literally(value) for value in values]
    sources = tuple(source_of(block, operand, f"{placed.id}.{port}") for operand in operands)
    plain = [source for source in sources if isinstance(source, Reference)]
    if len(plain) == len(sources):
        block.block.edges += [Edge(source, placed.id, port) for source in plain]
    else:
        placed.give(port, sources[0] if len(sources) == 1 else Many(sources))


def order_after(block: OpenBlock, step: Step[Any], signals: Iterable[object]) -> None:
    """Start a node of the block only after these signals."""
    id = step._id  # noqa: SLF001 - as in blocks
    placed = block.block.nodes.get(id) if step._block is block else None  # noqa: SLF001 - as above
    if placed is None:
        block.problem(STEP_NOT_HERE(f"{id}.after"))
        return
    block.note("nodes", id, "after")
    for signal in signals:
        block.changed()
        source = source_of(block, literally(signal), f"{id}.after")
        if isinstance(source, Reference) and source.port in (DONE, ERROR):
            placed.after = placed.after or []
            placed.after.append(source.node if source.port == DONE else f"{source.node}.{ERROR}")
        else:
            block.problem(SIGNAL_REQUIRED(f"{id}.after", found=repr(signal)))


def connect(block: OpenBlock, source: str, target: str, options: Mapping[str, Any]) -> None:
    """Add an edge by the names of its ports, which are looked up when the flow is checked."""
    place, wrong = f"{source} -> {target}", set()
    for name, problem in _wrong_options(options):
        wrong.add(name)
        block.problem(problem.within(place))
    rounds = Rounds(
        **{name: given for name, given in options.items() if name in ROUNDS and name not in wrong}
    )
    try:
        start, end = parse_reference(source), parse_reference(target)
    except ArgumentInvalid as error:
        block.problem(error.problem.within(place))
        return
    edge = Edge(start, end.node, end.port, options.get("id"), options.get("meta") or {})
    edge.rounds = None if rounds == Rounds() else rounds
    block.block.edges.append(edge)
    block.note("nodes", end.node, "inputs", end.port)
    block.changed()


def _wrong_options(options: Mapping[str, Any]) -> Iterator[tuple[str, Diagnostic]]:
    """Yield the name of each invalid option of an edge with its problem."""
    known = ("id", "meta", *ROUNDS)
    for unknown in sorted(options.keys() - set(known)):
        yield unknown, EDGE_OPTION_UNKNOWN(option=unknown, available=known)
    for name in ("limit", "on_limit"):
        if name in options and options.get("feedback") is not True:
            yield name, EDGE_OPTION_UNUSED(option=name)
    if "limit" in options and (problem := wrong_limit(options["limit"])) is not None:
        yield "limit", problem
    for name, values in ROUNDS.items():
        given = options.get(name)
        if (
            values
            and name in options
            and not any(type(given) is type(value) and given == value for value in values)
        ):
            yield name, ARGUMENT_NOT_AVAILABLE(name=name, found=repr(given), available=values)
