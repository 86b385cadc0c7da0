"""The static checks of conversations: several in one port are merged on purpose (S10.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.compiler.graph import CallAction, Graph, Join, JoinAction, Vertex
from dataflow.compiler.together import Together
from dataflow.core.ports import PortKind, kind_of
from dataflow.types.agreement import is_any, type_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from dataflow.compiler.graph import Spot, Terminal

__all__ = ["check_contexts"]


def check_contexts(
    graph: Graph, ordered: Sequence[Vertex], type_of: Callable[[Terminal], object], routed: Iterable[object]
) -> None:
    """Check what is merged, and refuse ports in which two conversations could come together.

    `routed` are the vertices whose failures are wired.
    """
    together: Together | None = None
    for vertex in ordered:
        if isinstance(vertex.action, JoinAction) and vertex.action.how is not None:
            for told in _no_contexts(vertex, type_of):
                graph.problem(told, vertex.spot)
        if isinstance(vertex.action, CallAction) and not vertex.action.has_context:
            continue
        for reader, wires in _meetings(vertex, type_of):
            together = together or Together(ordered, routed)
            if (pair := together.first_pair(wires)) is not None:
                graph.problem(
                    f"{reader} could get two conversations, from {pair[0].label} and from {pair[1].label}; "
                    "make one of them with merge_contexts",
                    reader,
                )


def _no_contexts(join: Vertex, type_of: Callable[[Terminal], object]) -> Iterator[str]:
    for wire in join.inputs["sources"].wires:
        found = type_of(wire)
        if not is_any(found) and kind_of(found) is not PortKind.CONTEXT:
            yield f"merge_contexts reads {wire.label}, which is {type_name(found)}; expected ExecutionContext"


def _meetings(vertex: Vertex, type_of: Callable[[Terminal], object]) -> Iterator[tuple[Spot, list[Terminal]]]:
    """Go through the ports into which several conversations lead."""
    match vertex.action:
        case CallAction():
            for given in vertex.inputs.values():
                if len(given.wires) > 1 and given.port is not None and given.port.kind is PortKind.CONTEXT:
                    yield vertex.spot_of(given.name, given.steps), given.wires
        case JoinAction(mode=Join.GATHER):
            wires = vertex.inputs["sources"].wires
            contexts = [wire for wire in wires if kind_of(type_of(wire)) is PortKind.CONTEXT]
            if len(contexts) > 1:
                label = f"gather({', '.join(wire.label for wire in wires)})"
                yield vertex.spot._replace(label=label), contexts
        case _:
            return
