"""Calling a node function: its arguments, its context, its pieces (S14.5)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from dataflow.binding import bind
from dataflow.current import CURRENT, Firing
from dataflow.errors import NodeFailed, choices
from dataflow.events import EventKind
from dataflow.isolation import as_coroutine, isolated
from dataflow.node_output import NodeOutput
from dataflow.outcome import check_status
from dataflow.plan import Call
from dataflow.separation import separate
from dataflow.signature import Shape
from dataflow.states import RUNNING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextvars import Context

    from dataflow.events import Reporter
    from dataflow.frames import Frame
    from dataflow.plan import PlanNode

__all__ = ["CurrentFiring", "call"]


class CurrentFiring:
    """What `this_firing` finds in the context of a firing, also after the firing has ended."""

    __slots__ = ("_frame", "_index", "_reporter")

    def __init__(self, reporter: Reporter, frame: Frame, index: int) -> None:
        self._reporter = reporter
        self._frame = frame
        self._index = index

    def this_firing(self) -> Firing:
        return Firing(self._reporter.run, self._path(), 1, self.emit)

    def emit(self, piece: object, port: str) -> None:
        """Report a piece, unless the firing has ended and the piece comes too late; raises NodeFailed."""
        node = self._frame.plan.nodes[self._index]
        assert isinstance(node.action, Call), "only calls fire"
        ports = node.action.type.outputs
        if port not in ports:
            raise NodeFailed(
                node.id, f"gave out a piece of port {port!r}, which it does not have; {choices(ports)}"
            )
        if self._reporter.is_listening:
            self._reporter.in_loop(partial(self._report, {"port": port, "piece": separate(piece)}))

    def _report(self, data: dict[str, Any]) -> None:
        if self._reporter.is_listening and self._frame.states[self._index] == RUNNING:
            self._reporter.emit(EventKind.PIECE, self._path(), data)

    def _path(self) -> str:
        return self._frame.path_of(self._frame.plan.nodes[self._index])


async def call(
    frame: Frame,
    node: PlanNode,
    action: Call,
    current: CurrentFiring,
    context: Context,
    suspended: Callable[[], None],
) -> Any:
    """Call the function of a firing in a context of its own; `suspended` is called when it first waits."""
    positional, keywords = bind(frame, node, action)
    context.run(CURRENT.set, current)
    called = context.run(action.type.call, *positional, **keywords)
    if action.type.shape is Shape.PIECES:
        called = _read_pieces(current, called)
    result = await isolated(as_coroutine(called), context, suspended)
    if action.type.shape is Shape.RAW:
        _record(frame, node, result)
        return check_status(node.id, result)
    return result


def _record(frame: Frame, node: PlanNode, result: Any) -> None:
    """Keep a copy of the metadata of a raw node's firing, whatever its status (S3.2)."""
    if isinstance(result, NodeOutput) and result.metadata:
        frame.metadata[node.index] = separate(dict(result.metadata))


async def _read_pieces(current: CurrentFiring, pieces: AsyncIterator[Any]) -> list[Any]:
    """Read an async-generator node to its end, reporting each piece (S3.5)."""
    found = []
    async for piece in pieces:
        found.append(piece)
        current.emit(piece, "out")
    return found
