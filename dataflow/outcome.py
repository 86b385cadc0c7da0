"""What a node function returned, as values of its output ports (S3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_origin

from dataflow.errors import NodeFailed, choices
from dataflow.ports import SKIP
from dataflow.signature import Shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.nodetype import NodeType

__all__ = ["outputs_of"]


def outputs_of(node: str, node_type: NodeType, result: Any) -> Mapping[str, Any]:
    """Give each output port its value, or SKIP if it was left out; raises NodeFailed."""
    match node_type.shape:
        case Shape.SINGLE | Shape.PIECES:
            given: Mapping[str, Any] = {"out": result}
        case Shape.FIELDS:
            given = _fields(node, node_type, result)
        case Shape.KEYS | Shape.PORTS:
            given = _keys(node, node_type, result)
    missing = [
        name
        for name, port in node_type.outputs.items()
        if given.get(name, SKIP) is SKIP and not port.conditional
    ]
    if missing:
        name = next((name for name in missing if name != "out"), "out")  # `out` lacks since a field does
        raise NodeFailed(
            node,
            f"left out its output port {name!r}, which it always has to give; "
            f"declare it as Maybe[...] if it may be left out ({choices(node_type.outputs)})",
        )
    return given


def _fields(node: str, node_type: NodeType, result: Any) -> dict[str, Any]:
    if result is SKIP:
        return {}
    declared = get_origin(node_type.result) or node_type.result
    assert isinstance(declared, type), "a result with fields is a class"
    if not isinstance(result, declared):
        raise NodeFailed(node, f"returned {type(result).__name__}, declared is {declared.__name__}")
    given = {name: getattr(result, name) for name in node_type.outputs if name != "out"}
    whole = SKIP if any(value is SKIP for value in given.values()) else result
    return {"out": whole, **given}


def _keys(node: str, node_type: NodeType, result: Any) -> dict[str, Any]:
    ports = [name for name in node_type.outputs if name != "out" or node_type.shape is Shape.PORTS]
    if result is SKIP:
        return {}
    if not isinstance(result, dict):
        raise NodeFailed(
            node, f"returned {type(result).__name__}, expected a dict of its ports; {choices(ports)}"
        )
    unknown = [name for name in result if name not in ports]
    if unknown:
        raise NodeFailed(node, f"returned the undeclared output port {unknown[0]!r}; {choices(ports)}")
    if node_type.shape is Shape.PORTS:
        return result
    left_out = any(result.get(name, SKIP) is SKIP for name in ports)
    return {"out": SKIP if left_out else result, **result}
