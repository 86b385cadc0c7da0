"""Logs of a run in the format of another system, and log settings."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.wording import choices, visible
from dataflow.cli.output import ExitCode, Problem, Refused, tell
from dataflow.core.events import EventKind
from dataflow.errors import FlowInvalid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dataflow.core.events import Event
    from dataflow.core.wiring import Wiring
    from dataflow.formats.foreign import Format, Records, Words


__all__ = ["Worded", "shown_logs", "spoken", "worded"]

LOGGER: Final = "dataflow.control"


def spoken(name: str, wiring: Wiring) -> Format:
    """Return the format whose words tell a flow; raises Refused for one without words, or of another flow."""
    from dataflow.formats.foreign import (
        MADE_OF,
        formats,  # loads the formats
    )

    having = {one.name: one for one in formats() if one.words is not None}
    if name not in having:
        problem = f"--log-format {name}: there are no such words; {choices(sorted(having))}"
        raise Refused([Problem(problem)], ExitCode.USAGE)
    of = wiring.meta.get(MADE_OF, name)
    if of != name:
        instead = f"write --log-format {of}, or leave it out" if of in having else "leave it out"
        problem = f"--log-format {name}: the flow is of the format {of}; {instead}"
        raise Refused([Problem(problem)], ExitCode.USAGE)
    return having[name]


def worded(name: str, wiring: Wiring, *, is_kept: bool) -> Worded:
    """Return the progress in the words of a format; raises Refused as `spoken`, and without a document form.

    A run that is kept is also kept as the system does, in the current folder like the store.
    """
    from dataflow.formats.native.writer import dump  # what writes documents

    found = spoken(name, wiring)
    assert found.words is not None, "formats without words are left out"
    try:
        document = dump(wiring)
    except FlowInvalid as error:
        refusals = [Problem(f"--log-format {name}: {problem}") for problem in error.problems]
        raise Refused(refusals, ExitCode.USAGE) from error
    records = found.records(document, Path()) if is_kept and found.records is not None else None
    return Worded(found.words(document), records)


class Worded:
    """A progress that writes the lines of a format to standard error, and keeps the records that it has."""

    def __init__(self, words: Words, records: Records | None = None) -> None:
        self._words = words
        self._records = records
        self._open: dict[str, None] = {}
        self.asked: set[str] = set()  # none: the words tell of asks in their own way

    def see(self, event: Event) -> None:
        """Take in an event."""
        if event.kind is EventKind.NODE_STARTED:
            self._open[event.path] = None
        elif event.kind is EventKind.NODE_FINISHED:
            self._open.pop(event.path, None)
        for line in self._words.see(event):
            tell(visible(line))
        self._keep(event)

    def _keep(self, event: Event) -> None:
        """Have the records written; once that is not possible the run goes on without them."""
        if self._records is None:
            return
        try:
            self._records.see(event)
        except OSError as error:
            self._records = None
            tell(visible(f"warning: the records of the run end here: {error}"))

    def end(self, outputs: Mapping[str, Any]) -> None:
        """Write what stands at the end."""
        for line in self._words.end(outputs):
            tell(visible(line))

    def running(self) -> list[str]:
        """Return the paths of what is running."""
        return list(self._open)


class _Told(logging.Handler):
    """Tells records on standard error, each with the path of the firing that has made it."""

    def emit(self, record: logging.LogRecord) -> None:
        place = getattr(record, "path", record.name)
        tell(f"{record.levelname.lower()}: {visible(str(place))}: {visible(record.getMessage())}")


@contextmanager
def shown_logs() -> Iterator[None]:
    """Show what nodes log, from the level info on, while the block runs."""
    logger, handler = logging.getLogger(LOGGER), _Told(logging.INFO)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(min(logger.getEffectiveLevel(), logging.INFO))
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
