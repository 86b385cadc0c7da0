"""What a node function returned, as values of its output ports (S3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never, get_origin

from dataflow.base.wording import choices
from dataflow.core.ports import CONTEXT, SKIP, NodeOutput
from dataflow.core.signature import Shape
from dataflow.errors import NodeFailed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dataflow.core.nodetype import NodeType

__all__ = ["check_status", "exits_taken", "outputs_given", "outputs_of"]


def check_status(node: str, result: Any) -> NodeOutput:
    """Return what a raw node returned, unless that is a failure; raises NodeFailed."""
    if not isinstance(result, NodeOutput):
        raise NodeFailed(node, f"returned {type(result).__name__}; expected a NodeOutput")
    match result.status:
        case "success" | "paused":
            return result
        case "error":
            raise NodeFailed(node, f"failed: {result.metadata.get('error', 'it told no reason')}")
        case _:
            assert_never(result.status)


def outputs_of(node: str, node_type: NodeType, result: Any) -> Mapping[str, Any]:
    """Give each output port its value, or SKIP if it was left out; raises NodeFailed."""
    match node_type.shape:
        case Shape.SINGLE | Shape.PIECES:
            given: Mapping[str, Any] = {"out": result}
        case Shape.FIELDS:
            given = _fields(node, node_type, result)
        case Shape.KEYS | Shape.PORTS:
            given = _keys(node, node_type, result)
        case Shape.RAW:
            given = _raw(node, node_type, result)
    missing = [
        name
        for name, port in node_type.outputs.items()
        if given.get(name, SKIP) is SKIP and not port.conditional
    ]
    if missing:
        name = next((name for name in missing if name != "out"), "out")  # `out` lacks since a field does
        declared = _conditional(node_type.shape)
        raise NodeFailed(
            node,
            f"left out its output port {name!r}, which it always has to give; "
            f"declare it as {declared} if it may be left out",
        )
    taken = exits_taken(node_type, given)
    if len(taken) > 1:
        names = " and ".join(map(repr, taken))
        raise NodeFailed(node, f"gave values on the exits {names}; expected those of one")
    return given


def exits_taken(node_type: NodeType, given: Mapping[str, Any]) -> list[str]:
    """List the exits on whose ports there are values: one at most, if the node kept to what it is."""
    exits = [
        port.exit
        for name, port in node_type.outputs.items()
        if port.exit is not None and given.get(name, SKIP) is not SKIP
    ]
    return [*dict.fromkeys(exits)]


def outputs_given(node: str, node_type: NodeType, result: NodeOutput) -> Mapping[str, Any]:
    """Return what a raw node that pauses gives by port, and its context; raises NodeFailed."""
    return _raw(node, node_type, result)


def _fields(node: str, node_type: NodeType, result: Any) -> dict[str, Any]:
    if result is SKIP:
        return {}
    declared = get_origin(node_type.result) or node_type.result
    assert isinstance(declared, type), "a result with fields is a class"
    if not isinstance(result, declared):
        raise NodeFailed(node, f"returned {type(result).__name__}; expected {declared.__name__}")
    given = {name: getattr(result, name) for name in node_type.outputs if name != "out"}
    whole = SKIP if any(value is SKIP for value in given.values()) else result
    return {"out": whole, **given}


def _keys(node: str, node_type: NodeType, result: Any) -> dict[str, Any]:
    ports = [name for name in node_type.outputs if name != "out" or node_type.shape is Shape.PORTS]
    if result is SKIP:
        return {}
    if not isinstance(result, dict):
        raise NodeFailed(
            node, f"returned {type(result).__name__}; expected a dict of its ports, {choices(ports)}"
        )
    _refuse_undeclared(node, result, ports)
    if node_type.shape is Shape.PORTS:
        return result
    left_out = any(result.get(name, SKIP) is SKIP for name in ports)
    return {"out": SKIP if left_out else result, **result}


def _raw(node: str, node_type: NodeType, result: NodeOutput) -> dict[str, Any]:
    _refuse_undeclared(node, result.outputs, [name for name in node_type.outputs if name != CONTEXT])
    return {**result.outputs, CONTEXT: SKIP if result.context is None else result.context}


def _refuse_undeclared(node: str, given: Mapping[str, Any], ports: Sequence[str]) -> None:
    unknown = [name for name in given if name not in ports]
    if unknown:
        raise NodeFailed(node, f"returned the undeclared output port {unknown[0]!r}; {choices(ports)}")


def _conditional(shape: Shape) -> str:
    """Say how a port of a node that returns this is declared to be one that may be left out."""
    return "Port(..., conditional=True)" if shape in (Shape.PORTS, Shape.RAW) else "Maybe[...]"
