"""Leaving: what a map gives when its items have ended, lists and what maps over edges read (S7.1, S7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataflow.compiler.plan import MapOf
from dataflow.core.states import Errored, Skip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.compiler.plan import PlanNode
    from dataflow.scheduler.frames import Frame, OpenedMap

__all__ = ["arrivals_of", "list_or_error", "lists_of", "natural_order", "passed_on"]


def lists_of(action: MapOf) -> list[int]:
    """List the slots of the map's owner that its lists go to."""
    return [own for slots in action.body.collects.values() for own in slots]


def passed_on(frame: Frame, node: PlanNode) -> frozenset[int]:
    """Tell which outputs of a map others hear of item by item: none where a failure takes some back."""
    assert isinstance(node.action, MapOf), "only a map has items"
    if not frame.plan.indexed or node.action.options.on_error != "fail":
        return frozenset()
    return frame.plan.indexed.intersection(node.outputs.values())


def list_or_error(frame: Frame, node: PlanNode, opened: OpenedMap, own: int) -> Any:
    """Make what an output of a map settles to: a list without skips, or the first error in it.

    What a map over edges reads is a list of pairs, index and value; they are lists, which are stored as they
    are.
    """
    tokens = opened.collected[own]
    kinds = {id(kind) for kind in map(type, tokens)}  # a class need not have a hash
    if id(Errored) in kinds:
        return next(token for token in tokens if type(token) is Errored)
    if own in frame.plan.indexed:
        return _indexed(node, own, opened.names, tokens)
    return [token for token in tokens if type(token) is not Skip] if id(Skip) in kinds else tokens


def _indexed(node: PlanNode, own: int, names: Sequence[str | int], tokens: Sequence[Any]) -> list[list[Any]]:
    assert isinstance(node.action, MapOf), "only a map has items"
    body = node.action.body
    from_inside = body.indexed.intersection(body.collects)  # what a map inside gives, index and all
    is_inmost = not any(own in body.collects[slot] for slot in from_inside)
    return [
        arrival
        for name, token in zip(names, tokens, strict=True)
        if type(token) is not Skip
        for arrival in arrivals_of(name, token, is_inmost=is_inmost)
    ]


def arrivals_of(name: str | int, token: Any, *, is_inmost: bool) -> list[list[Any]]:
    """Tell what an item of a map brings: a value, or the arrivals of a map inside it, indexed further.

    Where a failure stands for a failed item (S7.2), it does for all of them.
    """
    if is_inmost or type(token) is not list:
        return [[str(name), token]]
    return [[f"{name}.{index}", value] for index, value in token]


def natural_order(index: str) -> list[tuple[int, int, str]]:
    """Sort indexes by their numbers, part for part, and keys as text."""
    parts = index.split(".")
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]
