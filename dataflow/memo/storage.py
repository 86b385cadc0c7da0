"""Outcomes in a store: how one is written, found again, and read as far as somebody needs it (S13.1)."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from dataflow.base.failure import text_of_error
from dataflow.core.states import Remembered
from dataflow.errors import SecretMissing, StoreError, ValueRefused
from dataflow.memo.table import SingleFlight
from dataflow.scheduler.hits import MOST_CANDIDATES, Candidate, Origin, Outcome, why_missed
from dataflow.stores import StoredOutcome
from dataflow.values.classes import unstorable
from dataflow.values.digests import NoDigest, digest
from dataflow.values.reader import Reader
from dataflow.values.refusals import UnknownClass
from dataflow.values.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from dataflow.core.nodetype import NodeType
    from dataflow.memo.fingerprints import Fingerprint
    from dataflow.stores import OutcomeTable, Store
    from dataflow.values.classes import Classes
    from dataflow.values.writer import Json

__all__ = ["Found", "StoredMemo"]

#: What the codec calls values that are stored beside the others.
BESIDE: Final = frozenset({"text", "blob", "history"})
_TEXT: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode

_flights: Final[WeakKeyDictionary[OutcomeTable, SingleFlight]] = WeakKeyDictionary()
_noting: Final = Lock()


def _flights_of(table: OutcomeTable) -> SingleFlight:
    """Return who computes what that goes into a table, for all runs of this process."""
    with _noting:
        found = _flights.get(table)
        if found is None:
            found = _flights[table] = SingleFlight()
        return found


@dataclass(frozen=True, slots=True)
class Found:
    """What looking into a store came to: an outcome, or the reason why there is none."""

    outcome: Outcome | None = None
    written: Mapping[str, Json] = field(default_factory=dict)  # the outputs as the codec wrote them
    reason: str = ""
    problem: str = ""  # something is wrong with the store, which has to be told


class StoredMemo:
    """What a run remembers in a store, which may be another than the one it lives in itself.

    All methods block but those that say otherwise. `run` is the id of a run that lives in the same store.
    """

    def __init__(self, store: Store, table: OutcomeTable, classes: Classes, run: str) -> None:
        self.flights = _flights_of(table)
        self._store = store
        self._table = table
        self._classes = classes
        self._run = run
        self._reader = Reader(classes, store.blob, str(store))
        self._reading = Lock()
        self._ruled_out: dict[NodeType, str] = {}

    def reason_against(self, node_type: NodeType) -> str:
        """Tell why outcomes of a node type cannot be stored, if their ports tell; does not block."""
        known = self._ruled_out.get(node_type)
        if known is None:
            told = ((port.name, unstorable(port.type)) for port in node_type.outputs.values())
            known = next(
                (f"port {name!r} cannot be stored: {why}" for name, why in told if why is not None), ""
            )
            self._ruled_out[node_type] = known
        return known

    def look(
        self, mark: Fingerprint, node_type: str, unread: Collection[str], now: datetime, ttl: float | None
    ) -> Found:
        """Look an outcome up. Values that are stored beside it stay where they are on the ports `unread`."""
        try:
            stored = self._table.recall(mark.key, now, self._run)
            if stored is not None and (ttl is None or now - stored.created <= timedelta(seconds=ttl)):
                return self._read(stored, unread)
            known = [
                Candidate(one.key, json.loads(one.parts), one.created)
                for one in self._table.newest(node_type, MOST_CANDIDATES)
            ]
            if stored is not None:  # whether or not it is among the newest
                known = [Candidate(stored.key, mark.parts, stored.created)]
            return Found(reason=why_missed(mark.key, mark.parts, known, now, ttl))
        except SecretMissing as missing:
            return Found(reason=f"it is stored with a secret: {missing}")
        except Exception as error:  # noqa: BLE001 - a store is somebody's code; the node is called instead
            if isinstance(error.__cause__, UnknownClass):  # whose flow has it can read it
                return Found(reason=f"what is stored cannot be read here: {error.__cause__}")
            return Found(reason="what is stored cannot be read", problem=self._dropped(mark.key, error))

    def keep(self, mark: Fingerprint, node_type: str, outcome: Outcome, place: str, ttl: float | None) -> str:
        """Store an outcome; returns why it cannot be, which is empty if it is.

        Raises StoreError where the store fails.
        """
        blobs: dict[str, bytes] = {}
        writer = Writer(self._classes, blobs.__setitem__)
        try:
            outputs = {
                port: writer.write(value, f"{place}.{port}") for port, value in outcome.outputs.items()
            }
            metadata = writer.write(dict(outcome.metadata), f"metadata of {place}")
        except ValueRefused as refused:
            return str(refused)
        run, path, created = outcome.origin
        told = {
            "outputs": outputs,
            "digests": {port: made.hex() for port, made in outcome.digests.items()},
            "metadata": metadata,
            "run": run,
            "path": path,
            "begun": sorted(outcome.begun),
        }
        expires = None if ttl is None else created + timedelta(seconds=ttl)
        stored = StoredOutcome(
            mark.key, node_type, _TEXT(dict(mark.parts)), _TEXT(told), created, expires, sorted(blobs)
        )
        try:
            is_stored = self._table.remember(stored, blobs)
        except StoreError:
            raise
        except Exception as error:
            raise StoreError(str(self._store), f"{type(error).__name__}: {text_of_error(error)}") from error
        return "" if is_stored else "it is larger than all that the store may remember"

    def digests_of(self, outputs: Mapping[str, Any]) -> Mapping[str, bytes]:
        """Digest outputs, as far as they have a digest."""
        digests = {}
        for port, value in outputs.items():
            try:
                digests[port] = digest(value)
            except NoDigest:  # those who read it are told why
                continue
        return digests

    def _read(self, stored: StoredOutcome, unread: Collection[str]) -> Found:
        told = json.loads(stored.data)
        written: Mapping[str, Json] = told["outputs"]
        digests = {port: bytes.fromhex(made) for port, made in told["digests"].items()}
        begun = frozenset(told.get("begun", ()))  # the hit is another then, and nothing of it stays there
        what = f"an outcome of {told['path']} of run {told['run']}"
        outputs = {
            port: Remembered(partial(self._late_value, stored.key, data, what))
            if port in unread and port in digests and not begun and _may_stay(data)
            else self._value(data, what)
            for port, data in written.items()
        }
        metadata = self._value(told["metadata"], what)
        origin = Origin(told["run"], told["path"], stored.created)
        return Found(Outcome(outputs, metadata, origin, digests, begun), written)

    def _value(self, data: Json, what: str) -> Any:
        with self._reading:
            return self._reader.read(data, what)

    def _late_value(self, key: str, data: Json, what: str) -> Any:
        """Read a value of an outcome that has been taken for known; raises StoreError if it is not there."""
        try:
            return self._value(data, what)
        except StoreError as error:
            with suppress(Exception):  # whoever looks for it next finds that it is damaged
                self._table.forget(key)
            reason = f"{error.reason}; what was remembered is dropped: run the flow again"
            raise StoreError(error.store, reason) from error

    def _dropped(self, key: str, error: Exception) -> str:
        """Drop an outcome that cannot be read; returns what is to be told."""
        text = (
            str(error) if isinstance(error, StoreError) else f"{type(error).__name__}: {text_of_error(error)}"
        )
        try:
            self._table.forget(key)
        except Exception as further:  # noqa: BLE001 - as above
            return f"{text}; nor can it be dropped: {text_of_error(further)}"
        return text


def _may_stay(data: Json) -> bool:
    """Tell whether reading a value takes what is stored beside it, and no secret, which may be missing."""
    todo = [data]
    kinds: set[object] = set()
    for one in todo:  # grows while it is walked
        if isinstance(one, dict):
            kinds.add(one.get("$"))
            todo.extend(one.values())
        elif isinstance(one, list):
            todo.extend(one)
    return "secret" not in kinds and not kinds.isdisjoint(BESIDE)
