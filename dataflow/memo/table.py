"""The memo in memory, with single-flight: concurrent requests for one key share one computation."""

from __future__ import annotations

from collections import OrderedDict
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dataflow.base.backend import new_event, threadsafe_callback
from dataflow.core.limits import check_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from dataflow.scheduler.hits import Hit

__all__ = ["Entry", "MemoStats", "ProcessMemo", "SingleFlight", "process_memo"]

#: How many outcomes a table keeps by default.
MOST: Final = 10_000


class Entry(NamedTuple):
    """A cached outcome: its node type, the parts of its cache key, and the hit."""

    type: str
    parts: Mapping[str, str]
    hit: Hit

    @property
    def created(self) -> datetime:
        """When it was cached (UTC)."""
        return self.hit.outcome.origin.created


class MemoStats(NamedTuple):
    """The number of cached outcomes, and of requests that hit or missed, each counted once."""

    entries: int
    hits: int
    misses: int


class ProcessMemo:
    """A cache of outcomes in memory; `using(memo=)` gives it to a run.

    Runs, threads and event loops may share one. It keeps at most `most` outcomes and evicts the least
    recently used.
    """

    def __init__(self, *, most: int = MOST) -> None:
        check_whole("most", most, 1)
        self.calls = SingleFlight()
        self._most = most
        self._lock = Lock()
        self._entries: OrderedDict[str, Entry] = OrderedDict()  # by key, the most recently used last
        self._by_type: dict[str, dict[str, None]] = {}  # the keys of each node type, the newest last
        self._hits = self._misses = 0

    def __repr__(self) -> str:
        return f"ProcessMemo(most={self._most})"

    def recall(self, key: str, since: datetime | None = None, *, is_counted: bool = True) -> Entry | None:
        """Return the entry of a key, unless it was cached before a time.

        Pass `is_counted=False` to look again, and call `count_as_hit` if there is an entry then.
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
        """Count a request as a hit that was counted as a miss: the outcome has arrived meanwhile."""
        with self._lock:
            self._misses -= 1
            self._hits += 1

    def remember(self, key: str, entry: Entry) -> None:
        """Cache an outcome, replacing that of an equal key."""
        with self._lock:
            self._drop(key)
            self._entries[key] = entry
            self._by_type.setdefault(entry.type, {})[key] = None
            while len(self._entries) > self._most:
                self._drop(next(iter(self._entries)))

    def newest(self, node_type: str, most: int) -> Sequence[tuple[str, Entry]]:
        """Return the newest entries of a node type with their keys, newest first."""
        with self._lock:
            keys = list(islice(reversed(self._by_type.get(node_type, {})), most))
            return [(key, self._entries[key]) for key in keys]

    def stats(self) -> MemoStats:
        """Return the size of the cache, and its hits and misses."""
        with self._lock:
            return MemoStats(len(self._entries), self._hits, self._misses)

    def clear(self, node_type: str | None = None) -> int:
        """Remove the outcomes of a node type, by its id, or all; return how many there were."""
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


class SingleFlight:
    """The running computations by key; safe to use from any number of threads and event loops."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: dict[str, _Call] = {}

    def join(self, key: str) -> Waiting | None:
        """Take the lead and return None, or a waiter if the key has a leader. A leader has to `land`."""
        with self._lock:
            call = self._running.get(key)
            if call is not None:
                return Waiting(call)
            self._running[key] = _Call()
            return None

    def land(self, key: str, outcome: Any = None) -> None:
        """Give up the lead and wake the waiters with the outcome; None lets the next of them lead."""
        with self._lock:
            call = self._running.pop(key)
            call.outcome = outcome
        for wake in call.wake:
            wake()


class Waiting:
    """A waiter for a computation that another caller leads."""

    __slots__ = ("_call", "_has_landed")

    def __init__(self, call: _Call) -> None:
        """Register with the computation, which the caller keeps from ending meanwhile."""
        self._call = call
        self._has_landed = new_event()
        call.wake.append(threadsafe_callback(self._has_landed.set))

    async def outcome(self) -> Any:
        """Wait for the outcome; None if the computation gave none."""
        await self._has_landed.wait()
        return self._call.outcome


class _Call:
    """A running computation with its waiters, and its outcome."""

    __slots__ = ("outcome", "wake")

    def __init__(self) -> None:
        self.outcome: Any = None
        self.wake: list[Callable[[], None]] = []


#: The table of `memo="process"` for all runs without a table of their own.
process_memo: Final = ProcessMemo()
