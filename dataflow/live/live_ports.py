"""The ports of a live session: what they hold in a revision, and who waits for them (S13.4)."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from dataflow.base.backend import new_event
from dataflow.core.states import value_of
from dataflow.errors import DataflowError, Paused
from dataflow.live.live_results import snapshot
from dataflow.live.read_digests import digest_of
from dataflow.runtime.result import special_token

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dataflow.compiler.addresses import RootPort
    from dataflow.live.live_engine import LiveEngine

__all__ = ["LivePorts", "Seen"]


class Seen(NamedTuple):
    """What a slot held in one revision, with its digest."""

    token: Any
    digest: object


class _Waiter:
    """Somebody who waits for a port of the root; one who is patient also waits for answers."""

    __slots__ = ("is_patient", "port", "seen", "woken")

    def __init__(self, port: RootPort, *, is_patient: bool) -> None:
        self.port = port
        self.woken = new_event()  # another each time it waits
        self.is_patient = is_patient
        self.seen: Seen | None = None


class LivePorts:
    """Looks at the ports of the root, and lets others wait until they have settled."""

    def __init__(self, engine: LiveEngine) -> None:
        self._engine = engine
        self._waiters: dict[int, list[_Waiter]] = {}  # by node of the root

    def maker(self, port: RootPort) -> int | None:
        """Return the node of the root that a port is of, None for what stands from the start."""
        if port.slot is None:
            return None if port.node is None else port.node.index
        return self._engine.freshness.links.makers.get(port.slot)

    def is_fresh(self, port: RootPort) -> bool:
        """Tell whether a port has settled for the inputs of now."""
        maker = self.maker(port)
        return maker is None or self._engine.freshness.is_fresh(maker)

    @contextmanager
    def wanting(self, ports: Sequence[RootPort]) -> Iterator[None]:
        """Have ports settle, in each revision that begins while the block runs."""
        makers = [maker for maker in map(self.maker, ports) if maker is not None]
        wanted = self._engine.freshness.wanted
        for maker in makers:  # `update` of a counter takes ten times as long
            wanted[maker] += 1
        try:
            self._engine.step(self._engine.freshness.demand)
            yield
        finally:
            for maker in makers:
                wanted[maker] -= 1
                if not wanted[maker]:
                    del wanted[maker]

    def look(self, port: RootPort) -> Seen:
        """Return what a port holds now."""
        root, digests = self._engine.scheduler.root, self._engine.reusing.digests
        if port.slot is not None:
            return Seen(value_of(root.values[port.slot]), digests.of(root, port.slot))
        assert port.node is not None, "only ports of nodes have no slot"
        token = special_token(root, port.node, port.port)
        return Seen(token, digest_of(token))

    async def settled(self, port: RootPort, *, is_patient: bool = False) -> Seen:
        """Wait until a port has settled for the inputs of now, or those of a later revision.

        Raises Paused if that takes an answer, unless one is patient; DataflowError if the session is over.
        """
        self._engine.check()
        maker = self.maker(port)
        if maker is None or self._engine.freshness.is_fresh(maker):
            return self.look(port)
        waiter = _Waiter(port, is_patient=is_patient)
        self._waiters.setdefault(maker, []).append(waiter)
        try:
            with self.wanting([port]):
                while (
                    waiter.seen is None
                    and self._engine.over is None
                    and (is_patient or not self._engine.is_idle)
                ):
                    if waiter.woken.is_set():
                        waiter.woken = new_event()
                    await waiter.woken.wait()  # meanwhile it may have been answered, or changed, once more
        finally:
            left = [one for one in self._waiters.pop(maker, ()) if one is not waiter]
            if left:
                self._waiters[maker] = left
        self._engine.check()
        if waiter.seen is not None:
            return waiter.seen
        if self._engine.scheduler.asking.open:
            raise Paused(snapshot(self._engine.scheduler, "paused"))
        raise DataflowError(f"internal error: nothing is running and port {port.port!r} never settled")

    async def settled_together(self, ports: Sequence[RootPort]) -> list[Seen]:
        """Wait until ports have settled for the inputs of one revision; see `settled`."""
        if len(ports) == 1:
            return [await self.settled(ports[0])]
        with self.wanting(ports):
            while True:
                for port in ports:
                    await self.settled(port)
                if all(map(self.is_fresh, ports)):  # else the next revision has begun meanwhile
                    return list(map(self.look, ports))

    def show(self, index: int) -> None:
        """Show a node that has settled to those who wait for it; an interruption is told as the end."""
        if index not in self._waiters or self._engine.scheduler.interruption is not None:
            return
        for waiter in self._waiters.pop(index):
            waiter.seen = self.look(waiter.port)
            waiter.woken.set()

    def wake(self) -> None:
        """Wake those who wait for what can no longer come by itself; the patient ones only at the end."""
        for waiters in self._waiters.values():
            for waiter in waiters:
                if self._engine.over is not None or not waiter.is_patient:
                    waiter.woken.set()
