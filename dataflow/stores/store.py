"""The protocol of stores, which keep runs with their journals, and errors that all stores share (S12.1).

All methods block, and several threads of the engine call them concurrently. A method that fails raises
StoreError and changes nothing. A method that takes the id of a run raises StoreError if it does not exist.
"""

from __future__ import annotations

import hashlib
import json
import pkgutil
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final, Protocol

from dataflow.base.scalars import finite_number
from dataflow.base.wording import conceal, has_secrets
from dataflow.diagnostics.runs import ANSWER_NOT_JSON, ASK_UNKNOWN
from dataflow.diagnostics.stores import (
    ANSWER_SECRET,
    ANSWER_TOO_LATE,
    BLOB_MISSING,
    ENTRY_DAMAGED,
    RUN_MISSING,
)
from dataflow.errors import AnswerRefused, ArgumentInvalid, RunTaken, StoreError, ValueMismatch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from os import PathLike

    from dataflow.stores.outcomes import OutcomeTable

__all__ = [
    "ASK_ENDED",
    "ASK_KINDS",
    "NOTHING",
    "Answer",
    "Batch",
    "Hold",
    "Record",
    "Store",
    "StoredAsk",
    "StoredRun",
    "already_answered",
    "checked_blob",
    "missing_run",
    "refuse_secrets",
    "refuse_unfit",
    "unknown_ask",
]

#: The kinds of records that open an ask, and that close it for answers (S11.2).
ASK_OPENED: Final = "ask_opened"
ASK_ENDED: Final = ("ask_answered", "ask_closed")
ASK_KINDS: Final = (ASK_OPENED, *ASK_ENDED)


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a journal: an event, with its time and its data as a JSON object."""

    seq: int
    kind: str
    path: str
    data: str


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run without its journal. `status` is a status of runs, or `interrupted`.

    `target` names its flow, as FILE of the command line; "" if unknown.
    """

    id: str
    flow: str
    target: str
    status: str
    created: datetime  # UTC
    updated: datetime  # when the last batch was committed, UTC


@dataclass(frozen=True, slots=True)
class StoredAsk:
    """An open ask of a run. `data` is that of its `ask_opened`."""

    run: str
    id: str
    data: str
    is_answered: bool = False  # an answer is pending


@dataclass(frozen=True, slots=True)
class Answer:
    """A pending answer, to be taken by the owner of its run. `value` is JSON, `by` the user that answered."""

    ask: str
    value: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """Changes of a run that are committed atomically."""

    records: Sequence[Record] = ()
    # by SHA-256 in hex, including blobs that other runs have
    blobs: Mapping[str, bytes] = field(default_factory=dict)
    status: str | None = None  # of the run from now on
    taken: Sequence[str] = ()  # asks whose pending answers the owner has taken


#: A batch without changes.
NOTHING: Final = Batch()


class Hold(Protocol):
    """The ownership of a run; it ends with the process, however the process ends."""

    def release(self) -> None:
        """Release the run; a second call does nothing."""


class Store(ABC):
    """A place that keeps runs. Runs, threads and event loops may use one object concurrently.

    Errors name the store by its `str`. A store that caches outcomes of firings has a table,
    `outcomes`.
    """

    outcomes: OutcomeTable | None = None

    @abstractmethod
    def begin(self, run: StoredRun, batch: Batch = NOTHING) -> Hold:
        """Add a new run with its first batch in one transaction, durable when this returns, and own it.

        A method that fails leaves no run. The engine always passes a batch, with the record of the start.
        """

    @abstractmethod
    def hold(self, run: str) -> Hold:
        """Own an existing run; raises RunTaken if it is owned, also by this process."""

    @abstractmethod
    def commit(self, run: str, batch: Batch, *, unless_answered: bool = False) -> Sequence[Answer]:
        """Write a batch in one transaction, durable when this returns, and return the answers pending then.

        With `unless_answered` nothing is written if an answer is pending that the batch does not take: so a
        run that is released as paused overlooks no answer. Only the owner calls it. Each blob that a run
        needs is part of one of its own batches, since another run that has it may be deleted.
        """

    @abstractmethod
    def answer(self, run: str, *answers: Answer) -> None:
        """Add pending answers, all of them or none.

        Raises AnswerRefused if an answer to the same ask is pending, or if the journal has an `ask_answered`
        or `ask_closed` at its path and no later `ask_opened`; also for a value with a known secret, and for
        one that its ask cannot take: that is not JSON or not in the form of the schema of the ask, or, unless
        the run is running, that names an ask which was never opened.
        """

    @abstractmethod
    def runs(self) -> Sequence[StoredRun]:
        """List all runs, the newest first; a running one without an owner is `interrupted`."""

    @abstractmethod
    def find(self, run: str) -> StoredRun:
        """Return one run as `runs` does; raises StoreError, which lists available runs."""

    @abstractmethod
    def inbox(self, run: str) -> Sequence[Answer]:
        """List the pending answers of a run: those that its owner has not taken yet."""

    def asks(self) -> Sequence[StoredAsk]:
        """List the open asks of all runs, the newest run first, each run's in the order in which they opened.

        Reads every journal; a store with an index overrides it.
        """
        return [ask for run in self.runs() for ask in self._asks_of(run.id)]

    def _asks_of(self, run: str) -> Iterator[StoredAsk]:
        opened: dict[str, str] = {}
        for record in self.records(run):
            if record.kind in ASK_KINDS:
                opened.pop(record.path, None)
            if record.kind == ASK_OPENED:
                opened[record.path] = record.data
        answered = {answer.ask for answer in self.inbox(run)} if opened else ()
        return (StoredAsk(run, ask, data, ask in answered) for ask, data in opened.items())

    @abstractmethod
    def records(self, run: str, after: int = 0) -> Iterator[Record]:
        """Read the journal of a run in order, starting with the record that follows the seq `after`."""

    @abstractmethod
    def blob(self, sha256: str) -> bytes:
        """Return a blob; raises StoreError if it is missing, or its content does not have its hash."""

    @abstractmethod
    def delete(self, run: str) -> None:
        """Delete a run with its journal and the blobs that only it has; raises RunTaken if it is owned."""

    def delete_all(self, runs: Sequence[str]) -> Sequence[str]:
        """Delete runs and return their ids; runs that are owned, or do not exist, are left out.

        Deletes one run after the other; a store that can delete several in one transaction overrides it.
        Raises StoreError.
        """
        return [run for run in runs if self._delete(run)]

    def _delete(self, run: str) -> bool:
        try:
            self.delete(run)
        except RunTaken:
            return False
        except StoreError:
            if any(there.id == run for there in self.runs()):
                raise
            return False  # it was deleted meanwhile
        return True

    @staticmethod
    def sqlite(path: str | PathLike[str], *, memo_bytes: int = 1_000_000_000) -> Store:
        """Return the store in an SQLite file, which is created on the first write.

        The cached outcomes in it take at most `memo_bytes` with their blobs: the least recently used ones are
        deleted first.
        """
        return _made("dataflow.stores.sqlite:SqliteStore", path, memo_bytes=memo_bytes)

    @staticmethod
    def memory() -> Store:
        """Return a store in memory, which lasts as long as the object, for tests."""
        return _made("dataflow.stores.memory:MemoryStore")


def _made(kind: str, *place: str | PathLike[str], **options: int) -> Store:
    """Return a store of a class given by name, as it imports this module and is loaded on first use."""
    store: Store = pkgutil.resolve_name(kind)(*place, **options)
    return store


def missing_run(store: str, run: str, there: Sequence[str]) -> StoreError:
    """Return the error for a run that does not exist, which lists some that do."""
    return StoreError(store, RUN_MISSING(run=run, available=there))


def refuse_secrets(answers: Iterable[Answer]) -> None:
    """Raise AnswerRefused for an answer with a secret, which would be pending in clear (S12.4)."""
    for answer in answers:
        if has_secrets() and _has_secret(answer.value):
            raise AnswerRefused(answer.ask, ANSWER_SECRET())


def _has_secret(written: str) -> bool:
    """Return whether a text has a known secret, also in a text of the JSON that it is."""
    from dataflow.secrets.known import redacted  # most processes have no secret

    try:
        value = json.loads(written)
    except (ValueError, RecursionError):  # is reported when the answer is taken
        value = written
    return redacted(value) is not value or conceal(written) != written


def refuse_unfit(answer: Answer, opened: str) -> None:
    """Raise AnswerRefused for an answer that is not JSON, or not in the form that its ask requires.

    `opened` is the data of its `ask_opened`, "" if there is none yet. The owner checks the type, too.
    """
    from dataflow.types.schemas import JsonSchema  # loads a library
    from dataflow.types.validation import check_value

    try:
        value = json.loads(answer.value, parse_float=finite_number)
    except (ValueError, RecursionError) as error:
        raise AnswerRefused(answer.ask, ANSWER_NOT_JSON(error=error)) from error
    try:
        form: Any = Annotated[Any, JsonSchema.of(_decoded(json.loads(opened)["schema"]))]
    except (LookupError, ValueError, RecursionError, ArgumentInvalid):  # its owner knows more of it
        return
    try:
        check_value(value, form)
    except ValueMismatch as mismatch:
        raise AnswerRefused(answer.ask, mismatch.problem) from None


def _decoded(schema: Any) -> Any:
    """Decode a stored schema; raises LookupError if a part of it is stored elsewhere."""
    if isinstance(schema, list):
        return [_decoded(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$" in schema:
        raise LookupError(schema["$"])
    return {key.removeprefix("$"): _decoded(part) for key, part in schema.items()}


def unknown_ask(ask: str, available: Sequence[str]) -> AnswerRefused:
    """Return the error for an answer to an ask that a run has not opened."""
    return AnswerRefused(ask, ASK_UNKNOWN(available=available))


def already_answered(ask: str) -> AnswerRefused:
    """Return the error for an answer to an ask that is answered or closed."""
    return AnswerRefused(ask, ANSWER_TOO_LATE())


def checked_blob(store: str, sha256: str, data: bytes | None) -> bytes:
    """Return a blob; raises StoreError if it was not found, or does not have the hash that names it."""
    if data is None:
        raise StoreError(store, BLOB_MISSING(name=sha256))
    if hashlib.sha256(data).hexdigest() != sha256:
        raise StoreError(store, ENTRY_DAMAGED(what="blob", name=sha256, why="its checksum differs"))
    return data
