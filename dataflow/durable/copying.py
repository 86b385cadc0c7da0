"""Copying: what of the journal of a run becomes that of its fork (S13.5). Pure, but for reading blobs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dataflow.core.events import EventKind
from dataflow.core.states import LoopEnd, NodeState
from dataflow.stores.store import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from dataflow.durable.past import Past, PastFiring
    from dataflow.durable.reaching import Reached

__all__ = ["Copying", "blobs_in"]

#: What is told of a run as a whole: a fork has that of its own.
OF_RUN: Final = frozenset(
    {EventKind.RUN_STARTED, EventKind.RUN_PAUSED, EventKind.RUN_RESUMED, EventKind.RUN_FINISHED}
)
#: Warnings that are of the sitting in which they were given.
OF_SITTING: Final = frozenset({"torn_record", "answer_refused"})
#: What tells how often a flow node was attempted: its frames have names by that.
ATTEMPTS: Final = frozenset({EventKind.NODE_STARTED, EventKind.ATTEMPT_FAILED})
#: What stands of an ask that is answered otherwise.
ASKED: Final = frozenset({EventKind.NODE_STARTED, EventKind.ATTEMPT_FAILED, EventKind.ASK_OPENED})
#: The ends of a firing after which it runs again.
AGAIN: Final = frozenset({None, NodeState.CANCELLED})
#: The ends of a firing that are followed by another when it runs again.
UNSETTLED: Final = frozenset({NodeState.FAILED, NodeState.TIMED_OUT, NodeState.CANCELLED, NodeState.NOT_RUN})
#: The stored values that name a blob.
WITH_BLOBS: Final = ("text", "blob", "history")


@dataclass(frozen=True, slots=True)
class Copying:
    """Chooses the records that a fork takes over.

    past: of the run that is forked
    reach: what the changes reach
    forgotten: what does not stand besides, since the flow was edited or what failed is done again
    failures: firings whose failures nothing has handled
    answers: what is told of the asks that are answered otherwise, by path
    time: that of the fork, as records have it
    """

    past: Past
    reach: Reached
    time: str
    forgotten: Collection[str] = ()
    failures: Collection[str] = ()
    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    warnings: Sequence[str] = ()  # of changed code

    def copied(self, records: Iterable[Record], started: Mapping[str, Any]) -> Iterator[Record]:
        """Yield the journal of the fork, numbered anew: that it has started, then what stands."""
        yield _record(1, EventKind.RUN_STARTED.value, "", started)
        seq = 1
        for seq, text in enumerate(self.warnings, 2):
            warning = {"code": "code_changed", "text": text, "time": self.time}
            yield _record(seq, EventKind.WARNING.value, "", warning)
        records = list(records)
        over = _over(records)
        last_asked = {one.path: one.seq for one in records if one.kind == EventKind.ASK_OPENED}
        for record in records:
            data = _data_of(record)
            is_over = record.seq <= over.get(record.path, 0) and not self._counts_attempts(record)
            if data is None or is_over or not self._stands(record, data):
                continue
            seq += 1
            yield Record(seq, record.kind, record.path, self._text(record, data))
            if record.path in self.answers and record.seq == last_asked.get(record.path):
                seq += 1
                yield _record(seq, EventKind.ASK_ANSWERED.value, record.path, self.answers[record.path])

    def _counts_attempts(self, record: Record) -> bool:
        """Tell whether a record tells how often a flow node was attempted."""
        firing = self.past.firings.get(record.path)
        return firing is not None and firing.is_opener and record.kind in ATTEMPTS

    def _text(self, record: Record, data: dict[str, Any]) -> str:
        """Return the text of a record; the time of an open ask begins anew."""
        if record.kind == EventKind.ASK_OPENED and record.path in self.past.open_asks:
            return json.dumps({**data, "time": self.time}, ensure_ascii=False)
        return record.data

    def _stands(self, record: Record, data: Mapping[str, Any]) -> bool:
        kind, path = record.kind, record.path
        if kind in OF_RUN or (kind == EventKind.WARNING and data["code"] in OF_SITTING):
            return False
        if self.reach.has_whole(path):
            return False
        if path in self.answers:
            return kind in ASKED
        firing = self.past.firings.get(path)
        if firing is None:
            return not self.reach.has(path) and path not in self.forgotten
        if firing.is_opener:
            return self._stands_of_opener(kind, path, firing, data)
        return not (path in self.reach.paths or path in self.forgotten or self._runs_again(firing, kind))

    def _runs_again(self, firing: PastFiring, kind: str) -> bool:
        """Tell whether a record is of what has not settled: a fork begins it anew, an ask stays asked."""
        if firing.failed_at in self.failures:
            return True
        if firing.state not in AGAIN:
            return False
        return firing.ask is None or kind == EventKind.NODE_FINISHED

    def _stands_of_opener(self, kind: str, path: str, firing: PastFiring, data: Mapping[str, Any]) -> bool:
        """Tell whether a record of a loop, map or flow node stands: what is inside may without it."""
        if kind in ATTEMPTS:
            return True
        if path in self.forgotten:
            return False
        match kind:
            case EventKind.LOOP_ROUND:
                count: int = data["round"]
                return count < self.reach.rounds.get(path, count + 1)
            case EventKind.LOOP_EXITED:
                return path not in self.reach.rounds and data["reason"] != LoopEnd.FAILED
            case EventKind.MAP_OPENED:
                return True
            case _:
                return path not in self.reach.paths and not self._runs_again(firing, kind)


def _over(records: Iterable[Record]) -> dict[str, int]:
    """Tell by path up to which record all is over: it was forgotten, or has settled otherwise, later."""
    over: dict[str, int] = {}
    settled: dict[str, int] = {}
    for record in records:
        if record.kind == EventKind.RUN_RESUMED:
            over.update(dict.fromkeys((_data_of(record) or {}).get("forgotten", ()), record.seq))
        elif record.kind == EventKind.NODE_FINISHED and (data := _data_of(record)) is not None:
            if record.path in settled:
                over[record.path] = settled.pop(record.path)
            if data["state"] not in UNSETTLED:
                settled[record.path] = record.seq
    return over


def _data_of(record: Record) -> dict[str, Any] | None:
    """Read the data of a record; None if it was cut off."""
    try:
        data = json.loads(record.data)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _record(seq: int, kind: str, path: str, data: Mapping[str, Any]) -> Record:
    return Record(seq, kind, path, json.dumps(data, ensure_ascii=False, separators=(",", ":")))


def blobs_in(records: Iterable[Record], read: Callable[[str], bytes]) -> dict[str, bytes]:
    """Read the blobs that records name, and those that histories go on from, by their SHA-256."""
    found: dict[str, bytes] = {}
    for record in records:
        todo: list[Any] = [json.loads(record.data)] if '"$"' in record.data else []
        while todo:
            part = todo.pop()
            if isinstance(part, list):
                todo += part
            elif isinstance(part, dict):
                name, value = part.get("$"), part.get("v")
                if name in WITH_BLOBS and isinstance(value, str) and value not in found:
                    found[value] = read(value)
                    if name == "history":
                        stored = json.loads(found[value])
                        needed = (stored["before"], stored.get("of"))
                        todo += [stored["items"], *({"$": "history", "v": digest} for digest in needed)]
                todo += part.values()
    return found
