"""The progress of a run that a program starts, shown as `dataflow run` does."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from dataflow.cli.board import nodes_of_file
from dataflow.cli.lines import NO_MAPS, Lines
from dataflow.cli.tree import Tree, can_be_live
from dataflow.inspection.json_values import StoredValues

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataflow.core.events import Event
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["shown"]

#: Held by the run whose tree is on the terminal; what runs beside it writes lines.
_SCREEN: Final = threading.Lock()


@contextmanager
def shown(scheduler: Scheduler) -> Iterator[None]:
    """Show the progress of a run on standard error during the block: a tree on a terminal, else lines."""
    if not (can_be_live() and _SCREEN.acquire(blocking=False)):
        past = None if scheduler.replay is None else scheduler.replay.past
        with _seeing(
            scheduler,
            Lines(own=nodes_of_file(scheduler.plan), maps=NO_MAPS if past is None else past.maps),
        ):
            yield
        return
    try:
        with _tree_of(scheduler) as tree, _seeing(scheduler, tree):
            yield
    finally:
        _SCREEN.release()


def _tree_of(scheduler: Scheduler) -> Tree:
    tree = Tree(scheduler.plan.name, scheduler.plan, lambda: False)
    if scheduler.replay is not None and scheduler.settings.store is not None:
        tree.recall(scheduler.replay.past, StoredValues(scheduler.settings.store).readable)
    return tree


@contextmanager
def _seeing(scheduler: Scheduler, progress: Lines | Tree) -> Iterator[None]:
    listener = _Listener(progress)
    scheduler.reporter.add_listener(listener)
    try:
        yield
    finally:
        listener.close()  # which also keeps it alive until here


class _Listener:
    """Passes the events of a run to a progress."""

    def __init__(self, progress: Lines | Tree) -> None:
        self._progress = progress

    def put(self, event: Event) -> None:
        """Show an event."""
        self._progress.see(event)

    def settled(self) -> None:
        """Do nothing: only events are shown."""

    def close(self) -> None:
        """Do nothing: the progress ends with its block."""
