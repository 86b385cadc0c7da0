"""Collect the arguments of a firing, and read its return value as ports."""

from __future__ import annotations

from types import CoroutineType
from typing import TYPE_CHECKING, Any, assert_never, get_origin

from dataflow.base.copies import own_copy
from dataflow.compiler.plan import Call
from dataflow.core.config_parts import config_copy
from dataflow.core.inputs import note_secrets
from dataflow.core.ports import CONTEXT, SKIP, NodeOutput, Signal
from dataflow.core.signature import Shape
from dataflow.core.states import Errored, is_dead
from dataflow.diagnostics.runs import (
    BRANCHES_TAKEN,
    COROUTINE_RETURNED,
    FAILURE_RETURNED,
    PORT_LEFT_OUT,
    PORT_UNDECLARED,
    RESULT_MISMATCH,
)
from dataflow.errors import NodeFailed, ValueMismatch
from dataflow.types.validation import check_output, check_value

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from dataflow.compiler.plan import Feed, PlanNode
    from dataflow.core.nodetype import NodeType
    from dataflow.scheduler.frames import Frame

__all__ = [
    "argument",
    "bind",
    "check_status",
    "checked",
    "exits_taken",
    "inputs_of",
    "is_live",
    "note_secrets_in",
    "outputs_given",
    "outputs_of",
    "refuse_coroutines",
]


def bind(frame: Frame, node: PlanNode, call: Call) -> tuple[list[Any], Mapping[str, Any]]:
    """Return the positional and keyword arguments; raises NodeFailed if a checked value does not fit."""
    if call.direct is not None and node.index not in frame.dead_inputs:
        values, shared = frame.values, frame.plan.shared
        return [own_copy(values[slot]) if shared[slot] else values[slot] for slot in call.direct], {}
    if call.copied is not None:
        return _with_own_config(frame, node, call, call.copied)
    return _bound(frame, node, call)


def _with_own_config(
    frame: Frame, node: PlanNode, call: Call, slot: int
) -> tuple[list[Any], Mapping[str, Any]]:
    """Return the arguments with a copy of the config, so that each firing sees it as it was given (S1.2)."""
    positional, keywords = _bound(frame, node, call)
    config = frame.values[slot]
    own = config_copy(config)
    return [own if value is config else value for value in positional], {
        name: own if value is config else value for name, value in keywords.items()
    }


def _bound(frame: Frame, node: PlanNode, call: Call) -> tuple[list[Any], Mapping[str, Any]]:
    positional = [argument(frame, node, given) for given in call.positional]
    if call.star is not None:
        positional += argument(frame, node, call.star)
    keywords = {name: argument(frame, node, given) for name, given in call.keywords.items()}
    raw = call.type.parameters.raw
    return positional, keywords if raw is None else _of_raw_node(raw, keywords)


def inputs_of(frame: Frame, node: PlanNode, call: Call) -> Mapping[str, Any]:
    """Return copies of the inputs of a firing, by port; nothing if a checked value does not fit."""
    parameters = call.type.parameters
    try:
        positional, keywords = bind(frame, node, call)
    except NodeFailed:
        return {}  # the firing itself fails with it
    if parameters.raw is not None:
        context = {CONTEXT: keywords[CONTEXT]} if CONTEXT in keywords else {}
        given = {**keywords["inputs"], **context}
    else:
        given = {**dict(zip(parameters.positional, positional, strict=False)), **keywords}
        if parameters.star is not None:
            given[parameters.star] = positional[len(parameters.positional) :]
    return {name: own_copy(value) for name, value in given.items() if name != parameters.config_name}


def _of_raw_node(parameters: Sequence[str], keywords: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a raw node: its ports as one mapping, its context, its config (S1.3)."""
    given: dict[str, Any] = {"inputs": keywords, CONTEXT: keywords.pop(CONTEXT, None)}
    if "config" in parameters:
        given["config"] = keywords.pop("config")
    return {name: given[name] for name in parameters}


def argument(frame: Frame, node: PlanNode, given: Feed | int) -> Any:
    """Return the argument of a parameter; raises NodeFailed if a checked value does not fit."""
    if isinstance(given, int):
        return own_copy(frame.values[given])
    values = [_token(frame, slot) for slot in given.slots if is_live(frame.values[slot], given)]
    if not values and not (given.many and given.required):
        return own_copy(given.default)
    if given.is_signal:
        values = [Signal()] * len(values)
    elif given.check is not None:
        values = [checked(node, given, value) for value in values]
    return values if given.many else values[0]


def is_live(token: Any, feed: Feed) -> bool:
    """Return whether a port takes a token as a value."""
    return not is_dead(token) or (feed.takes_failure and type(token) is Errored)


def _token(frame: Frame, slot: int) -> Any:
    token = frame.values[slot]
    if type(token) is Errored:
        return token.failure
    return own_copy(token) if frame.plan.shared[slot] else token


def checked(node: PlanNode, feed: Feed, value: Any) -> Any:
    """Return a value as it enters a port that checks it; raises NodeFailed if it does not fit."""
    try:
        return check_value(value, feed.check)
    except ValueMismatch as mismatch:
        raise NodeFailed(node.id, mismatch.diagnostics[0].within(f".{feed.port}")) from None


def check_status(node: str, result: Any) -> NodeOutput:
    """Return the result of a raw node; raises NodeFailed if it is or reports a failure."""
    if not isinstance(result, NodeOutput):
        raise NodeFailed(node, RESULT_MISMATCH(expected="NodeOutput", found=type(result).__name__))
    match result.status:
        case "success" | "paused":
            return result
        case "error":
            raise NodeFailed(node, FAILURE_RETURNED(reason=result.metadata.get("error", "it gave no reason")))
        case _:
            assert_never(result.status)


def outputs_of(node: str, node_type: NodeType, result: Any) -> Mapping[str, Any]:
    """Return a value for each output port, or SKIP if it was left out; raises NodeFailed."""
    match node_type.shape:
        case Shape.SINGLE | Shape.PIECES:
            given: Mapping[str, Any] = {"out": result}
        case Shape.FIELDS:
            given = _fields(node, node_type, result)
        case Shape.KEYS | Shape.PORTS:
            given = _keys(node, node_type, result)
        case Shape.RAW:
            given = _raw(node, node_type, result)
    refuse_coroutines(node, given)
    missing = [
        name
        for name, port in node_type.outputs.items()
        if given.get(name, SKIP) is SKIP and not port.conditional
    ]
    if missing:
        name = next((name for name in missing if name != "out"), "out")  # `out` is missing because a field is
        declaration = _conditional(node_type.shape)
        raise NodeFailed(node, PORT_LEFT_OUT(f".{name}", port=name, declaration=declaration))
    taken = exits_taken(node_type, given)
    if len(taken) > 1:
        raise NodeFailed(node, BRANCHES_TAKEN(outputs=" and ".join(map(repr, taken))))
    return given


def outputs_in(node: PlanNode, result: Any) -> Mapping[str, Any]:
    """Return the outputs in the result of a node, which may have paused; raises NodeFailed."""
    call = node.action
    assert isinstance(call, Call), "only calls are fired by the engine"
    is_paused = call.type.shape is Shape.RAW and result.status == "paused"
    return (outputs_given if is_paused else outputs_of)(node.id, call.type, result)


def check_outputs(node: PlanNode, outputs: Mapping[str, Any]) -> None:
    """Check what a node gives against the types of its ports and of their readers; raises NodeFailed."""
    call = node.action
    assert isinstance(call, Call), "only calls are fired by the engine"
    for name, value in outputs.items():
        if value is SKIP:
            continue
        for kind in (call.type.outputs[name].type, *(node.demands or {}).get(name, ())):
            try:
                check_output(value, kind)
            except ValueMismatch as mismatch:
                problem = RESULT_MISMATCH(expected=mismatch.expected, found=mismatch.found)
                raise NodeFailed(node.id, problem.within(f".{name}{mismatch.place}")) from None


def note_secrets_in(node: PlanNode, call: Call, values: Mapping[str, Any], classes: Collection[type]) -> None:
    """Have the secrets of pydantic in the values of output ports masked from now on.

    Values are searched only where the types of the ports have such secrets.
    """
    found = values if call.gives_secrets else {n: v for n, v in values.items() if type(v) in classes}
    if found:
        note_secrets({f"{node.id}.{name}": value for name, value in found.items()})


def refuse_coroutines(node: str, given: Mapping[str, Any]) -> None:
    """Raise NodeFailed for a value that is a coroutine: nobody awaits it (S1.3)."""
    found = [name for name, value in given.items() if type(value) is CoroutineType]
    for name in found:
        given[name].close()
    if found:
        raise NodeFailed(node, COROUTINE_RETURNED(f".{found[0]}", called=given[found[0]].__qualname__))


def exits_taken(node_type: NodeType, given: Mapping[str, Any]) -> list[str]:
    """Return the branch outputs that have values: at most one, if the node follows its declaration."""
    exits = [
        port.exit
        for name, port in node_type.outputs.items()
        if port.exit is not None and given.get(name, SKIP) is not SKIP
    ]
    return [*dict.fromkeys(exits)]


def outputs_given(node: str, node_type: NodeType, result: NodeOutput) -> Mapping[str, Any]:
    """Return the outputs of a raw node that pauses, with its context; raises NodeFailed."""
    given = _raw(node, node_type, result)
    refuse_coroutines(node, given)
    return given


def _fields(node: str, node_type: NodeType, result: Any) -> dict[str, Any]:
    if type(result) is CoroutineType:
        return {"out": result}
    if result is SKIP:
        return {}
    declared = get_origin(node_type.result) or node_type.result
    assert isinstance(declared, type), "a result with fields is a class"
    if not isinstance(result, declared):
        raise NodeFailed(node, RESULT_MISMATCH(expected=declared.__name__, found=type(result).__name__))
    given = {name: getattr(result, name) for name in node_type.outputs if name != "out"}
    whole = SKIP if any(value is SKIP for value in given.values()) else result
    return {"out": whole, **given}


def _keys(node: str, node_type: NodeType, result: Any) -> dict[str, Any]:
    hidden = "" if node_type.shape is Shape.PORTS else "out"
    if type(result) is CoroutineType:
        return {"out": result}
    if result is SKIP:
        return {}
    if not isinstance(result, dict):
        ports = [name for name in node_type.outputs if name != hidden]
        problem = RESULT_MISMATCH(
            expected="a dict of its ports", found=type(result).__name__, available=ports
        )
        raise NodeFailed(node, problem)
    _refuse_undeclared(node, result, node_type.outputs, hidden)
    if node_type.shape is Shape.PORTS:
        return result
    left_out = any(result.get(name, SKIP) is SKIP for name in node_type.outputs if name != hidden)
    return {"out": SKIP if left_out else result, **result}


def _raw(node: str, node_type: NodeType, result: NodeOutput) -> dict[str, Any]:
    _refuse_undeclared(node, result.outputs, node_type.outputs, CONTEXT)
    return {**result.outputs, CONTEXT: SKIP if result.context is None else result.context}


def _refuse_undeclared(node: str, given: Mapping[str, Any], declared: Mapping[str, Any], hidden: str) -> None:
    """Raise NodeFailed for a port that is not declared, or is the hidden one, which no result names."""
    unknown = [name for name in given if name not in declared or name == hidden]
    if unknown:
        name, available = unknown[0], [port for port in declared if port != hidden]
        raise NodeFailed(node, PORT_UNDECLARED(f".{name}", port=str(name), available=available))


def _conditional(shape: Shape) -> str:
    """Return how an optional port of a node with this shape is declared."""
    return "Port(..., conditional=True)" if shape in (Shape.PORTS, Shape.RAW) else "Maybe[...]"
