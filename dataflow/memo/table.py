"""The memo in memory, with single-flight: concurrent requests for one key share one computation."""

from __future__ import annotations

from collections import OrderedDict
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dataflow.base.backend import new_event, waker
from dataflow.core.policy import check_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from dataflow.scheduler.hits import Hit


__all__ = ["Entry", "MemoStats", "ProcessMemo", "SingleFlight", "Waiting", "process_memo"]

#: How many outcomes a table holds at most unless it is told otherwise.
MOST: Final = 10_000


class _Call:
    """A computation that others wait for, and what it came to."""

    __slots__ = ("outcome", "wake")

    def __init__(self) -> None:
        self.outcome: Any = None
        self.wake: list[Callable[[], None]] = []


class Waiting:
    """What somebody has who is not the first to need an outcome."""

    __slots__ = ("_flight", "_has_landed")

    def __init__(self, flight: _Call) -> None:
        """Be told of the end; the caller keeps the flight from ending meanwhile."""
        self._flight = flight
        self._has_landed = new_event()
        flight.wake.append(waker(self._has_landed.set))

    async def outcome(self) -> Any:
        """Wait for what the one who computes comes to; None if that is nothing to go on with."""
        await self._has_landed.wait()
        return self._flight.outcome


class SingleFlight:
    """Who is computing what, by key; any number of threads and event loops may use it at once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._flying: dict[str, _Call] = {}

    def join(self, key: str) -> Waiting | None:
        """Take the lead, and return None; or wait, if somebody has it. Who leads has to `land`."""
        with self._lock:
            flight = self._flying.get(key)
            if flight is not None:
                return Waiting(flight)
            self._flying[key] = _Call()
            return None

    def land(self, key: str, outcome: Any = None) -> None:
        """Give up the lead, and tell those who wait what came of it: None lets the next of them lead."""
        with self._lock:
            flight = self._flying.pop(key)
            flight.outcome = outcome
        for wake in flight.wake:
            wake()


class Entry(NamedTuple):
    """What a table knows of one fingerprint: the node type, the parts that it is made of, the outcome."""

    type: str
    parts: Mapping[str, str]
    hit: Hit

    @property
    def created(self) -> datetime:
        """When it was remembered (UTC)."""
        return self.hit.outcome.origin.created


class MemoStats(NamedTuple):
    """How many outcomes a table holds, and how many asks it has spared a call, or not; each counts once."""

    entries: int
    hits: int
    misses: int


class ProcessMemo:
    """A table of outcomes; runs, threads and event loops may share one, `using(memo=)` gives it to a run.

    It holds at most `most` outcomes: those that were not asked for the longest go first.
    """

    def __init__(self, *, most: int = MOST) -> None:
        check_whole("most", most, 1)
        self.flights = SingleFlight()
        self._most = most
        self._lock = Lock()
        self._entries: OrderedDict[str, Entry] = OrderedDict()  # by key, what was asked for last at the end
        self._by_type: dict[str, dict[str, None]] = {}  # the keys of each node type, the newest at the end
        self._hits = self._misses = 0

    def __repr__(self) -> str:
        return f"ProcessMemo(most={self._most})"

    def recall(self, key: str, since: datetime | None = None, *, is_counted: bool = True) -> Entry | None:
        """Return what is known under a key, unless it was remembered before a time.

        Whoever looks once more is not counted again; if it is there then, `count_as_hit` is to follow.
        """
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or (since is not None and entry.created < since):
                self._misses += is_counted
                return None
            self._hits += is_counted
            self._entries.move_to_end(key)
            return entry

    def count_as_hit(self) -> None:
        """Count an ask as a hit that was counted as a miss: what it needs has come meanwhile."""
        with self._lock:
            self._misses -= 1
            self._hits += 1

    def remember(self, key: str, entry: Entry) -> None:
        """Remember an outcome in place of what was known under its key."""
        with self._lock:
            self._drop(key)
            self._entries[key] = entry
            self._by_type.setdefault(entry.type, {})[key] = None
            while len(self._entries) > self._most:
                self._drop(next(iter(self._entries)))

    def newest(self, node_type: str, most: int) -> Sequence[tuple[str, Entry]]:
        """List some of what is known of a node type by its keys, what was remembered last first."""
        with self._lock:
            keys = list(islice(reversed(self._by_type.get(node_type, {})), most))
            return [(key, self._entries[key]) for key in keys]

    def stats(self) -> MemoStats:
        """Tell how much is remembered, and how often it helped."""
        with self._lock:
            return MemoStats(len(self._entries), self._hits, self._misses)

    def clear(self, node_type: str | None = None) -> int:
        """Forget the outcomes of a node type, by its id, or all; returns how many there were."""
        with self._lock:
            keys = list(self._entries if node_type is None else self._by_type.get(node_type, ()))
            for key in keys:
                self._drop(key)
            return len(keys)

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            keys = self._by_type[entry.type]
            del keys[key]
            if not keys:
                del self._by_type[entry.type]


#: The table of `memo="process"` for all runs that are given no other.
process_memo: Final = ProcessMemo()
