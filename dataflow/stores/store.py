"""The protocol of stores: what a run needs of the place it lives in (S12.1).

All methods block, and threads of the engine call them, several at once. What fails raises StoreError and
changes nothing. Whatever takes the id of a run raises StoreError where there is no such run.
"""

from __future__ import annotations

import pkgutil
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from os import PathLike

    from dataflow.stores.outcomes import OutcomeTable

__all__ = ["Answer", "Batch", "Hold", "Record", "Store", "StoredAsk", "StoredRun"]

#: The records that say how an ask stands, and those of them after which it takes no answer (S11.2).
ASK_OPENED: Final = "ask_opened"
ASK_ENDED: Final = ("ask_answered", "ask_closed")
ASK_KINDS: Final = (ASK_OPENED, *ASK_ENDED)


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a journal: an event, with its time and its data as a JSON object (S12.3, S19)."""

    seq: int
    kind: str
    path: str
    data: str


@dataclass(frozen=True, slots=True)
class StoredRun:
    """What a store tells of a run without reading its journal. `status` as in S18, also `interrupted`.

    `target` says where its flow is found, as FILE of the command line; "" if nobody said.
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
    is_answered: bool = False  # an answer waits in the inbox


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that waits in the inbox for the owner of its run. `value` is JSON text, `by` who gave it."""

    ask: str
    value: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """What is committed at once, or not at all."""

    records: Sequence[Record] = ()
    blobs: Mapping[str, bytes] = field(default_factory=dict)  # by SHA-256 in hex, also those of other runs
    status: str | None = None  # of the run from now on
    taken: Sequence[str] = ()  # asks whose answers have left the inbox


class Hold(Protocol):
    """The ownership of a run; it ends with the process, whatever happens to that."""

    def release(self) -> None:
        """Give the run up; a second call does nothing."""


class Store(ABC):
    """A place where runs live. One object may be used by many runs, threads and event loops at once.

    Errors name it by its text, as `str` gives it. One that remembers outcomes has a table of them (S13.1).
    """

    outcomes: OutcomeTable | None = None

    @abstractmethod
    def begin(self, run: StoredRun) -> Hold:
        """Note a new run and own it."""

    @abstractmethod
    def hold(self, run: str) -> Hold:
        """Own a run that is there; raises RunTaken if somebody has it, also in this process."""

    @abstractmethod
    def commit(self, run: str, batch: Batch, *, unless_answered: bool = False) -> Sequence[Answer]:
        """Write a batch in one transaction, durable when this returns, and return what the inbox holds then.

        With `unless_answered` nothing is written if the inbox holds an answer that the batch does not take:
        so no answer is overlooked by a run that is given up as paused (S11.2). Only the owner calls it. Each
        blob that a run needs comes with one of its own batches, since another run that has it may be deleted.
        """

    @abstractmethod
    def answer(self, run: str, *answers: Answer) -> None:
        """Put answers in the inbox, all of them or none.

        Raises AnswerRefused if one for its ask is there, or if the journal has an `ask_answered` or
        `ask_closed` at its path and no later `ask_opened`.
        """

    @abstractmethod
    def runs(self) -> Sequence[StoredRun]:
        """List all runs, the newest first; a running one that nobody owns is `interrupted`."""

    @abstractmethod
    def find(self, run: str) -> StoredRun:
        """Return one run, told as `runs` does; raises StoreError naming some that there are."""

    @abstractmethod
    def inbox(self, run: str) -> Sequence[Answer]:
        """List the answers that the owner of a run has not taken yet."""

    def asks(self) -> Sequence[StoredAsk]:
        """List the open asks of all runs, the newest run first, each run's in the order in which they opened.

        Reads every journal; a store that finds them sooner has a method of its own.
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
        """Read the journal of a run in order, from the record behind the seq `after` on."""

    @abstractmethod
    def blob(self, sha256: str) -> bytes:
        """Return a blob; raises StoreError if it is not there or not what its name says."""

    @abstractmethod
    def delete(self, run: str) -> None:
        """Delete a run with its journal, and the blobs that no other run has; raises RunTaken if owned."""

    @staticmethod
    def sqlite(path: str | PathLike[str], *, memo_bytes: int = 1_000_000_000) -> Store:
        """Return the store in an SQLite file, which is made when something is first written (S20).

        The outcomes that are remembered in it take at most `memo_bytes`, with what is stored beside them:
        those that were not of use the longest go first.
        """
        return _made("dataflow.stores.sqlite:SqliteStore", path, memo_bytes=memo_bytes)

    @staticmethod
    def memory() -> Store:
        """Return a store that lives as long as the object does, for tests."""
        return _made("dataflow.stores.memory:MemoryStore")


def _made(kind: str, *place: str | PathLike[str], **options: int) -> Store:
    """Make a store of a class that is found by name: it is built on this module, and loaded on first use."""
    store: Store = pkgutil.resolve_name(kind)(*place, **options)
    return store
