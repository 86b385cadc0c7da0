"""Flights: of those who need the same outcome at once, one computes it and the others wait (S13.1)."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from dataflow.base.backend import new_event, waker

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Flights", "Waiting"]


class _Flight:
    """A computation that others wait for, and what it came to."""

    __slots__ = ("outcome", "wake")

    def __init__(self) -> None:
        self.outcome: Any = None
        self.wake: list[Callable[[], None]] = []


class Waiting:
    """What somebody has who is not the first to need an outcome."""

    __slots__ = ("_flight", "_has_landed")

    def __init__(self, flight: _Flight) -> None:
        """Be told of the end; the caller keeps the flight from ending meanwhile."""
        self._flight = flight
        self._has_landed = new_event()
        flight.wake.append(waker(self._has_landed.set))

    async def outcome(self) -> Any:
        """Wait for what the one who computes comes to; None if that is nothing to go on with."""
        await self._has_landed.wait()
        return self._flight.outcome


class Flights:
    """Who is computing what, by key; any number of threads and event loops may use it at once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._flying: dict[str, _Flight] = {}

    def join(self, key: str) -> Waiting | None:
        """Take the lead, and return None; or wait, if somebody has it. Who leads has to `land`."""
        with self._lock:
            flight = self._flying.get(key)
            if flight is not None:
                return Waiting(flight)
            self._flying[key] = _Flight()
            return None

    def land(self, key: str, outcome: Any = None) -> None:
        """Give up the lead, and tell those who wait what came of it: None lets the next of them lead."""
        with self._lock:
            flight = self._flying.pop(key)
            flight.outcome = outcome
        for wake in flight.wake:
            wake()
