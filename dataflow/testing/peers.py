"""A store in another process, remote-controlled by a test."""

from __future__ import annotations

import multiprocessing
import os
import signal
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Self

from dataflow.errors import DataflowError
from dataflow.stores import Batch, Record
from dataflow.stores.store import NOTHING

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
        # Inherits nothing of this process, like an independent one.
        spawning = multiprocessing.get_context("spawn")
        self._ours, theirs = spawning.Pipe()
        self._process = spawning.Process(target=_serve, args=(theirs, cases, place), daemon=True)
        self._process.start()
        theirs.close()  # so that the end of the process is the end of the pipe

    def ask(self, what: str, *arguments: object) -> object:
        """Call a method of the store in the other process; return its result or raise its error.

        That process owns a run that it begins or holds until `release` is called, or until it ends.
        """
        self.start(what, *arguments)
        return self.answer()

    def start(self, what: str, *arguments: object) -> None:
        """Start a call of a method without waiting for its result."""
        self._ours.send((what, arguments))

    def answer(self) -> object:
        """Wait for the result of the last started call; raises EOFError if the process died during it."""
        result = self._ours.recv()
        if isinstance(result, Exception):
            raise result
        return result

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.join()

    def wait(self) -> None:
        """Wait for the process to end by itself."""
        self._process.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._process.close()
        self._ours.close()


def dying_batch(*seqs: int) -> Batch:
    """Return a batch that kills the process which writes it, after its last record."""
    return Batch(_Dying(Record(seq, "node_started", "a", "{}") for seq in seqs))


class _Dying(tuple[Record, ...]):
    """Records that kill the process which iterates over them, at their end."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Record]:
        yield from super().__iter__()
        os.kill(os.getpid(), signal.SIGKILL)


def _serve(pipe: Connection, cases: type[StoreCases], place: Path) -> None:
    """Execute calls until the pipe is closed."""
    store = cases().make_store(place)
    owned: dict[str, Hold] = {}
    while True:
        try:
            what, arguments = pipe.recv()
        except EOFError:
            return
        try:
            result = _call(store, owned, what, *arguments)
        except DataflowError as error:
            result = error
        pipe.send(result)


def _call(store: Store, owned: dict[str, Hold], what: str, *arguments: Any) -> object:
    match what, arguments:
        case "begin", (run, *batch):
            owned[run.id] = store.begin(run, *(batch or [NOTHING]))
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
