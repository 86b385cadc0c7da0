"""Provisions: what the settings of a flow's nodes ask of its run, and what no run gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.base.markers import MISSING
from dataflow.compiler.graph import CallAction
from dataflow.compiler.plan import nested_plan
from dataflow.core.policy import NO_POLICY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dataflow.compiler.graph import Action, Vertex
    from dataflow.core.policy import Reach
    from dataflow.core.wiring import Nested

__all__ = ["has_limits", "has_settings", "memos", "named_limits", "unused", "with_settings"]


def with_settings(vertices: Iterable[Vertex]) -> Iterator[Vertex]:
    """Go through those with settings, or with a flow that may have some: most have neither."""
    return (vertex for vertex in vertices if has_settings(vertex.action))


def has_settings(action: Action) -> bool:
    """Tell whether what a node does has settings, or is a flow that may have some."""
    return isinstance(action, CallAction) and (action.policy is not NO_POLICY or action.type.flow is not None)


def has_limits(vertices: Iterable[Vertex]) -> bool:
    """Tell whether a node has a limit, or one of a flow in the flow."""
    return any(
        action.policy.limit not in (MISSING, None) or (flow is not None and nested_plan(flow).has_limits)
        for _, action, flow in _calls(vertices)
    )


def named_limits(vertices: Iterable[Vertex]) -> Iterator[tuple[str, str]]:
    """Pair each node with the name of its limit, where the flow itself or its run must set it (S15.1)."""
    for node, action, flow in _calls(vertices):
        if isinstance(action.policy.limit, str):
            yield node, action.policy.limit
        if flow is not None:
            known = flow.settings.limits or {}
            inner = nested_plan(flow).named_limits
            yield from ((f"{node}/{path}", limit) for path, limit in inner if limit not in known)


def memos(vertices: Iterable[Vertex]) -> frozenset[Reach]:
    """Tell how far outcomes of nodes are remembered, of those of flows in the flow too (S13.1)."""
    found: set[Reach] = set()
    for _, action, flow in _calls(vertices):
        if flow is not None:
            found |= nested_plan(flow).memos
        elif action.memo is not None:
            found.add(action.memo.reach)
    return frozenset(found)


def unused(vertices: Iterable[Vertex]) -> Iterator[str]:
    """Name the settings that have no effect where they stand: they count for whole runs."""
    for node, _, flow in _calls(vertices):
        if flow is not None:
            yield from nested_plan(flow).unused_policies
            if flow.settings.max_concurrency is not None:
                yield f"max_concurrency of the flow of node {node!r}"
            if not flow.settings.keep:
                yield f"keep of the flow of node {node!r}"
            if flow.settings.memo is not None:
                yield f"memo of the flow of node {node!r}"
            if flow.settings.telemetry is not None:
                yield f"telemetry of the flow of node {node!r}"


def _calls(vertices: Iterable[Vertex]) -> Iterator[tuple[str, CallAction, Nested | None]]:
    for vertex in vertices:
        if isinstance(vertex.action, CallAction):
            yield vertex.id, vertex.action, vertex.action.type.flow
