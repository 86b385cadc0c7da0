"""Binding: the arguments of a firing from the values of its frame (S3.4, S4.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataflow.base.copies import separate
from dataflow.core.ports import CONTEXT, Signal
from dataflow.core.states import Errored, is_dead
from dataflow.errors import NodeFailed, ValueMismatch
from dataflow.types.validation import check_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dataflow.compiler.plan import Call, Feed, PlanNode
    from dataflow.scheduler.frames import Frame

__all__ = ["argument", "bind", "checked", "inputs_of", "is_live"]


def bind(frame: Frame, node: PlanNode, call: Call) -> tuple[list[Any], Mapping[str, Any]]:
    """Return the positional and keyword arguments; raises NodeFailed if a checked value does not fit."""
    if call.direct is not None and node.index not in frame.odd:
        values, shared = frame.values, frame.plan.shared
        return [separate(values[slot]) if shared[slot] else values[slot] for slot in call.direct], {}
    positional = [argument(frame, node, given) for given in call.positional]
    if call.star is not None:
        positional += argument(frame, node, call.star)
    keywords = {name: argument(frame, node, given) for name, given in call.keywords.items()}
    raw = call.type.parameters.raw
    return positional, keywords if raw is None else _of_raw_node(raw, keywords)


def inputs_of(frame: Frame, node: PlanNode, call: Call) -> Mapping[str, Any]:
    """Return copies of what a firing is given, by port; nothing if a checked value does not fit."""
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
    return {name: separate(value) for name, value in given.items() if name != parameters.config_name}


def _of_raw_node(parameters: Sequence[str], keywords: dict[str, Any]) -> dict[str, Any]:
    """Give a raw node what it takes: its ports as one mapping, its context, its config (S1.3)."""
    given: dict[str, Any] = {"inputs": keywords, CONTEXT: keywords.pop(CONTEXT, None)}
    if "config" in parameters:
        given["config"] = keywords.pop("config")
    return {name: given[name] for name in parameters}


def argument(frame: Frame, node: PlanNode, given: Feed | int) -> Any:
    """Return what a parameter is given; raises NodeFailed if a checked value does not fit."""
    if isinstance(given, int):
        return separate(frame.values[given])
    values = [_token(frame, slot) for slot in given.slots if is_live(frame.values[slot], given)]
    if not values and not (given.many and given.required):
        return separate(given.default)
    if given.is_signal:
        values = [Signal()] * len(values)
    elif given.check is not None:
        values = [checked(node, given, value) for value in values]
    return values if given.many else values[0]


def is_live(token: Any, feed: Feed) -> bool:
    """Tell whether a port takes a token as a value."""
    return not is_dead(token) or (feed.takes_failure and type(token) is Errored)


def _token(frame: Frame, slot: int) -> Any:
    token = frame.values[slot]
    if type(token) is Errored:
        return token.failure
    return separate(token) if frame.plan.shared[slot] else token


def checked(node: PlanNode, feed: Feed, value: Any) -> Any:
    """Return a value as it enters a port that checks it; raises NodeFailed if it does not fit."""
    try:
        return check_value(value, feed.check)
    except ValueMismatch as mismatch:
        raise NodeFailed(
            node.id, f"got a value on port {feed.port!r} that does not fit: {mismatch}"
        ) from None
