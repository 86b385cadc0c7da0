"""The memo in a store: write, find and read outcomes, large values only when they are needed (S13.1)."""

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
from dataflow.diagnostics.runs import MEMO_FAILED, OUTCOME_DROPPED
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
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from dataflow.core.nodetype import NodeType
    from dataflow.diagnostics.diagnostic import Diagnostic
    from dataflow.memo.fingerprints import Fingerprint
    from dataflow.stores import OutcomeTable, Store
    from dataflow.values.classes import Classes
    from dataflow.values.writer import Json

__all__ = ["StoredMemo", "problem_in"]

#: The kinds of encoded values that are stored as blobs.
BESIDE: Final = frozenset({"text", "blob", "history"})
_TEXT: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode

_calls: Final[WeakKeyDictionary[OutcomeTable, SingleFlight]] = WeakKeyDictionary()
_noting: Final = Lock()


class StoredMemo:
    """The cache of a run in a store, which may be another one than the run itself is stored in.

    All methods block unless stated otherwise. `run` is the id of a run in the same store, else empty.
    """

    def __init__(self, store: Store, table: OutcomeTable, classes: Classes, run: str) -> None:
        self.calls = _calls_of(table)
        self._store = store
        self._table = table
        self._classes = classes
        self._run = run
        self._reader = Reader(classes, store.blob, str(store))
        self._reading = Lock()
        self._ruled_out: dict[NodeType, str] = {}

    def reason_against(self, node_type: NodeType) -> str:
        """Return why outcomes of a node type cannot be stored, as far as its ports show; does not block."""
        known = self._ruled_out.get(node_type)
        if known is None:
            refusals = ((port.name, unstorable(port.type)) for port in node_type.outputs.values())
            known = next((str(why.within(name)) for name, why in refusals if why is not None), "")
            self._ruled_out[node_type] = known
        return known

    def look(
        self,
        cache_key: Fingerprint,
        node_type: str,
        unread: Collection[str],
        now: datetime,
        ttl: float | None,
    ) -> Found:
        """Look up an outcome. Values stored as blobs are not read for the ports `unread`."""
        try:
            stored = self._table.recall(cache_key.key, now, self._run)
            if stored is not None and (ttl is None or now - stored.created <= timedelta(seconds=ttl)):
                return self._read(stored, unread)
            known = [
                Candidate(one.key, json.loads(one.parts), one.created)
                for one in self._table.newest(node_type, MOST_CANDIDATES)
            ]
            if stored is not None:  # whether or not it is among the newest
                known = [Candidate(stored.key, cache_key.parts, stored.created)]
            return Found(reason=why_missed(cache_key.key, cache_key.parts, known, now, ttl))
        except SecretMissing as missing:
            return Found(reason=f"it is stored with a secret: {missing}")
        except Exception as error:  # noqa: BLE001 - a store is foreign code; the node is called instead
            if isinstance(error.__cause__, UnknownClass):  # a flow with the class can read it
                return Found(reason=f"what is stored cannot be read here: {error.__cause__}")
            problems = (problem_in(error), *self._dropped(cache_key.key))
            return Found(reason="what is stored cannot be read", problems=problems)

    def keep(
        self, cache_key: Fingerprint, node_type: str, outcome: Outcome, place: str, ttl: float | None
    ) -> str:
        """Store an outcome; return why it cannot be stored, or an empty string if it is.

        Raises StoreError if the store fails.
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
        data = {
            "outputs": outputs,
            "digests": {port: made.hex() for port, made in outcome.digests.items()},
            "metadata": metadata,
            "run": run,
            "path": path,
            "begun": sorted(outcome.begun),
        }
        expires = None if ttl is None else created + timedelta(seconds=ttl)
        stored = StoredOutcome(
            cache_key.key,
            node_type,
            _TEXT(dict(cache_key.parts)),
            _TEXT(data),
            created,
            expires,
            sorted(blobs),
        )
        try:
            is_stored = self._table.remember(stored, blobs)
        except StoreError:
            raise
        except Exception as error:
            raise StoreError(str(self._store), problem_in(error)) from error
        return "" if is_stored else "it is larger than all that the store may remember"

    def digests_of(self, outputs: Mapping[str, Any]) -> Mapping[str, bytes]:
        """Hash outputs, as far as they have a content hash."""
        digests = {}
        for port, value in outputs.items():
            try:
                digests[port] = digest(value)
            except NoDigest:  # reported where it is read
                continue
        return digests

    def _read(self, stored: StoredOutcome, unread: Collection[str]) -> Found:
        read = json.loads(stored.data)
        written: Mapping[str, Json] = read["outputs"]
        digests = {port: bytes.fromhex(made) for port, made in read["digests"].items()}
        # a hit continues these under other ids, so no value stays in the store
        begun = frozenset(read.get("begun", ()))
        what = f"an outcome of {read['path']} of run {read['run']}"
        outputs = {
            port: Remembered(partial(self._late_value, stored.key, data, what))
            if port in unread and port in digests and not begun and _may_stay(data)
            else self._value(data, what)
            for port, data in written.items()
        }
        metadata = self._value(read["metadata"], what)
        origin = Origin(read["run"], read["path"], stored.created)
        return Found(Outcome(outputs, metadata, origin, digests, begun), written)

    def _value(self, data: Json, what: str) -> Any:
        with self._reading:
            return self._reader.read(data, what)

    def _late_value(self, key: str, data: Json, what: str) -> Any:
        """Read a value that has stayed in the store; raises StoreError if it is missing or corrupt."""
        try:
            return self._value(data, what)
        except StoreError as error:
            with suppress(Exception):  # the next lookup finds that it is corrupt
                self._table.forget(key)
            raise StoreError(error.store, OUTCOME_DROPPED(what=what)) from error

    def _dropped(self, key: str) -> list[Diagnostic]:
        """Drop an outcome that cannot be read; return the problem if the store fails again."""
        try:
            self._table.forget(key)
        except Exception as error:  # noqa: BLE001 - as above
            return [problem_in(error)]
        return []


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a lookup in a store: an outcome, or the reason why there is none."""

    outcome: Outcome | None = None
    written: Mapping[str, Json] = field(default_factory=dict)  # the encoded outputs
    reason: str = ""
    problems: Sequence[Diagnostic] = ()  # of the store, to be reported


def problem_in(error: Exception) -> Diagnostic:
    """Return the problem of an error that a store has raised."""
    if isinstance(error, StoreError) and error.diagnostics:
        return error.diagnostics[0]
    return MEMO_FAILED(error=f"{type(error).__name__}: {text_of_error(error)}")


def _calls_of(table: OutcomeTable) -> SingleFlight:
    """Return the running computations for a table, shared by all runs of this process."""
    with _noting:
        found = _calls.get(table)
        if found is None:
            found = _calls[table] = SingleFlight()
        return found


def _may_stay(data: Json) -> bool:
    """Return whether an encoded value has blobs, and no secret, which may be missing."""
    todo = [data]
    kinds: set[object] = set()
    for one in todo:  # grows while it is walked
        if isinstance(one, dict):
            kinds.add(one.get("$"))
            todo.extend(one.values())
        elif isinstance(one, list):
            todo.extend(one)
    return "secret" not in kinds and not kinds.isdisjoint(BESIDE)
