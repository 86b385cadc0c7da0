"""Replacement: a flow with another function or subflow at one node, and the same layout (S13.4)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from dataflow.builder.builder import Builder
from dataflow.builder.declare import Node
from dataflow.builder.sources import Step
from dataflow.compiler.plan import Call, FlowOf, LoopOf, MapOf
from dataflow.core.nodetype import NodeType, derive
from dataflow.core.wiring import LoopBlock, MapBlock, PlacedNode, encode
from dataflow.diagnostics.runs import (
    NODE_IN_SUBFLOW,
    NODE_NOT_ADDRESSED,
    NODE_UNKNOWN,
    NODE_WITHOUT_FUNCTION,
    PORTS_DIFFERENT,
    STEP_OF_OTHER_FLOW,
)
from dataflow.errors import DataflowError, FlowInvalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dataflow.compiler.plan import PlanNode, ScopePlan
    from dataflow.core.wiring import Block, Nested, Placed, Wiring

__all__ = ["address_in", "check_layout", "places_in", "type_of", "with_replaced"]


def address_in(wiring: Wiring, node: object) -> tuple[str, ...]:
    """Return the ids of the blocks around a node, and its own id; raises DataflowError for other objects."""
    match node:
        case Step():
            block = node._block  # noqa: SLF001 - hidden from users, not from the engine
            if block.wiring is not wiring:
                expected, found = f"flow {wiring.name!r}", f"flow {block.wiring.name!r}"
                raise DataflowError(STEP_OF_OTHER_FLOW(node._id, expected=expected, found=found))  # noqa: SLF001 - as above
            around = [outer.loop.id for outer in block.around() if outer.loop is not None]
            return (*reversed(around), node._id)  # noqa: SLF001 - as above
        case str():
            return tuple(unquote(part) for part in node.split("/"))
        case _:
            raise DataflowError(NODE_NOT_ADDRESSED(found=type(node).__name__))


def with_replaced(wiring: Wiring, address: Sequence[str], kind: NodeType | Nested) -> Wiring:
    """Return the flow with another function or subflow at a node; raises DataflowError."""
    blocks: list[tuple[Block, str, LoopBlock | MapBlock]] = []
    block, path = wiring.block, "/".join(address)
    for id in address[:-1]:
        around = _placed(block, id, path)
        if not isinstance(around, LoopBlock | MapBlock):
            raise DataflowError(NODE_IN_SUBFLOW(path, around=id))
        blocks.append((block, id, around))
        block = around.body
    placed = _placed(block, address[-1], path)
    if not isinstance(placed, PlacedNode):
        raise DataflowError(NODE_WITHOUT_FUNCTION(path))
    new: Placed = replace(placed, type=kind)
    body = replace(block, nodes={**block.nodes, address[-1]: new})
    for outer, id, around in reversed(blocks):
        body = replace(outer, nodes={**outer.nodes, id: replace(around, body=body)})
    nested = wiring.nested if isinstance(kind, NodeType) else [*wiring.nested, kind]
    return replace(wiring, block=body, nested=nested)


def type_of(function: object) -> NodeType | Nested:
    """Return what a node runs: the type of a function, or a flow; raises FlowInvalid."""
    match function:
        case Builder():
            flow: Any = function
            return flow  # type: ignore[no-any-return]  # every builder that is finished is one
        case Node():
            return function.type
        case _:
            given: Any = function
            return derive(given)


def places_in(plan: ScopePlan, id: str) -> list[int]:
    """Return the nodes of the root that a node of the flow's own block is, or is inside of.

    It is inside of a map opened by `each`, or of a loop made by feedback edges.
    """
    own = [node.index for node in plan.nodes if node.is_visible and node.id == id]
    return own or [node.index for node in plan.nodes if _has_inside(node, id)]


def _has_inside(node: PlanNode, id: str) -> bool:
    return any(inner.id == id and inner.is_visible for inner in _all_inside(_body(node)))


def _all_inside(nodes: Iterable[PlanNode]) -> Iterator[PlanNode]:
    """Yield nodes, then the nodes of the blocks among them, breadth first."""
    todo = list(nodes)
    for one in todo:  # grows while it is walked
        yield one
        todo += _body(one)


def _body(node: PlanNode) -> Sequence[PlanNode]:
    return node.action.body.nodes if isinstance(node.action, LoopOf | MapOf) else ()


def _placed(block: Block, id: str, address: str) -> Placed:
    placed = block.nodes.get(id)
    if placed is None:
        raise DataflowError(NODE_UNKNOWN(address, available=map(encode, block.nodes)))
    return placed


def check_layout(
    flow: str, address: Sequence[str], kind: NodeType | Nested, old: ScopePlan, new: ScopePlan
) -> None:
    """Raise FlowInvalid if a function has other ports than the one that it replaces."""
    if _layout_of(old) == _layout_of(new):
        return
    made = kind if isinstance(kind, NodeType) else kind.node_type
    expected, found = _ports_of(old, address[-1]), _written(made.inputs, made.outputs)
    raise FlowInvalid(flow, [PORTS_DIFFERENT("/".join(address), expected=expected, found=found)])


def _written(inputs: Iterable[str], outputs: Iterable[str]) -> str:
    return f"{', '.join(inputs) or 'nothing'} -> {', '.join(outputs) or 'nothing'}"


def _ports_of(plan: ScopePlan, id: str) -> str:
    """Return the ports of the first node with an id, which unnamed maps and loops may contain, as text."""
    actions = (node.action for node in _all_inside(plan.nodes) if node.id == id)
    action = next(action for action in actions if isinstance(action, Call | FlowOf))
    if isinstance(action, Call):
        return _written(action.type.inputs, action.type.outputs)
    return _written(action.plan.wiring.inputs, action.plan.outputs)


def _layout_of(plan: ScopePlan) -> Any:
    nodes = [
        (node.id, dict(node.outputs), [(feed.port, feed.slots, feed.is_lazy) for feed in node.feeds])
        for node in plan.nodes
    ]
    return nodes, plan.names, plan.readers, plan.waits, plan.parameters, plan.exports, plan.deferred
