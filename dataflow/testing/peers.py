"""A store in another process that does what a test tells it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Self

from dataflow.errors import DataflowError
from dataflow.stores import Batch, Record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection
    from pathlib import Path

    from dataflow.stores import Hold, Store
    from dataflow.testing.cases import StoreCases

__all__ = ["Peer", "dying_batch"]


class Peer(AbstractContextManager["Peer"]):
    """Another process with the same store; it ends with the block."""

    def __init__(self, cases: type[StoreCases], place: Path) -> None:
        # As unlike this process as one that somebody else starts.
        spawning = multiprocessing.get_context("spawn")
        self._ours, theirs = spawning.Pipe()
        self._process = spawning.Process(target=_serve, args=(theirs, cases, place), daemon=True)
        self._process.start()
        theirs.close()  # so that the end of the process is the end of the pipe

    def ask(self, what: str, *arguments: object) -> object:
        """Have a method of the store called; return what it returns, and raise what it raises.

        A run that is begun or held stays owned there until `release` is asked for, or the process ends.
        """
        self.start(what, *arguments)
        return self.answer()

    def start(self, what: str, *arguments: object) -> None:
        """Have a method called without waiting for it."""
        self._ours.send((what, arguments))

    def answer(self) -> object:
        """Wait for what was started last; raises EOFError if the process dies of it."""
        told = self._ours.recv()
        if isinstance(told, Exception):
            raise told
        return told

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.join()

    def wait(self) -> None:
        """Wait until the process has ended by itself."""
        self._process.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._process.close()
        self._ours.close()


def dying_batch(*seqs: int) -> Batch:
    """Return a batch that kills the process that writes it, after its last record."""
    return Batch(_Dying(Record(seq, "node_started", "a", "{}") for seq in seqs))


class _Dying(tuple[Record, ...]):
    """Records behind which the one who reads them dies."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Record]:
        yield from super().__iter__()
        os.kill(os.getpid(), signal.SIGKILL)


def _serve(pipe: Connection, cases: type[StoreCases], place: Path) -> None:
    """Do what is asked until nobody asks any more."""
    store = cases().make_store(place)
    owned: dict[str, Hold] = {}
    while True:
        try:
            what, arguments = pipe.recv()
        except EOFError:
            return
        try:
            told = _do(store, owned, what, *arguments)
        except DataflowError as error:
            told = error
        pipe.send(told)


def _do(store: Store, owned: dict[str, Hold], what: str, *arguments: Any) -> object:
    match what, arguments:
        case "begin", (run,):
            owned[run.id] = store.begin(run)
        case "hold", (run,):
            owned[run] = store.hold(run)
        case "release", (run,):
            owned.pop(run).release()
        case "remember", (outcome, blobs):
            assert store.outcomes is not None, "it is asked of a store that remembers"
            return store.outcomes.remember(outcome, blobs)
        case _:
            return getattr(store, what)(*arguments)
    return None
