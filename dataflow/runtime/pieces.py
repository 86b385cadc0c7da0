"""A stream of the pieces of one port, or of its value if there are none (S3.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataflow.base.copies import separate
from dataflow.compiler.addresses import address_of
from dataflow.compiler.plan import Call, LoopOf
from dataflow.core.events import EventKind, Stream
from dataflow.core.signature import Shape
from dataflow.core.states import LET_GO, UNSETTLED, is_dead, value_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from dataflow.compiler.addresses import RootPort
    from dataflow.compiler.plan import PlanNode
    from dataflow.core.events import Event, Reporter
    from dataflow.scheduler.frames import Frame

__all__ = ["PieceStream"]


class PieceStream:
    """An async iterator over the pieces of a port of the root frame, as they come.

    It listens to the events of the run, and looks at the port whenever something has happened: when the
    port has settled the stream ends, with the value if no piece came. While there is something to be told
    the port may have settled with pieces that are among it.
    """

    __slots__ = (
        "__weakref__", "_has_pieces", "_is_inside", "_is_list", "_path", "_pieces", "_port", "_reporter",
        "_root", "_slot",
    )  # fmt: skip

    def __init__(self, root: Frame, slot: int, port: RootPort, reporter: Reporter) -> None:
        node = port.node
        self._reporter = reporter
        self._pieces: Stream[Any] = Stream()
        self._has_pieces = False
        self._root = root
        self._slot = slot
        self._port = port.port
        self._path = None if node is None else root.path_of(node)
        self._is_inside = False  # of a loop that feedback edges have made: it has a path in each round
        while node is not None and (inside := _inside(node, slot)) is not None:
            self._is_inside = True
            node, self._port, slot = inside
            if not node.names_frame:
                self._path = f"{self._path}/{node.label}"
        self._is_list = (  # its value is the list of its pieces
            node is not None and isinstance(node.action, Call) and node.action.type.shape is Shape.PIECES
        )
        self.settled()

    def put(self, event: Event) -> None:
        """Take what an event tells of the port."""
        path = address_of(event.path) if self._is_inside and event.path is not None else event.path
        if path == self._path:
            if event.kind is EventKind.PIECES_VOID:  # what comes now is of another attempt
                self._has_pieces = False
            elif event.kind is EventKind.PIECE and event.data["port"] == self._port:
                self._has_pieces = True
                self._pieces.put(separate(event.data["piece"]))
            elif event.kind is EventKind.NODE_FINISHED:
                self._look()
        self.settled()

    def settled(self) -> None:
        """End the stream if the port has settled, and all of it was told."""
        if not self._reporter.is_behind:
            self._look()

    def _look(self) -> None:
        token = self._root.values[self._slot]
        if token is UNSETTLED or self._pieces.has_ended:
            return
        if not is_dead(token) and token is not LET_GO and not self._has_pieces:
            value: Any = separate(value_of(token))
            for piece in value if self._is_list and isinstance(value, list) else [value]:
                self._pieces.put(piece)
        self._pieces.close()

    def close(self) -> None:
        """End the stream: the run has ended."""
        self._look()
        self._pieces.close()

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        return await anext(self._pieces)


def _inside(node: PlanNode, slot: int) -> tuple[PlanNode, str, int] | None:
    """Return what makes the last value that leaves a loop of feedback edges: its node, port and slot."""
    loop = node.action
    if not isinstance(loop, LoopOf) or not loop.feedback or slot in loop.alls:
        return None
    found = loop.results[slot] if slot in loop.results else loop.shown.get(slot)
    outputs = ((maker, port, own) for maker in loop.body.nodes for port, own in maker.outputs.items())
    return next((made for made in outputs if made[2] == found), None)
