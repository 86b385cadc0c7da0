"""Progress of a run in the log format of another system, and log records of nodes."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.wording import visible
from dataflow.cli.output import ExitCode, Refused, problems_in, tell
from dataflow.cli.paths import path_text
from dataflow.core.events import EventKind
from dataflow.diagnostics.commands import OPTION_UNKNOWN, OTHER_LOG_FORMAT
from dataflow.errors import FlowInvalid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dataflow.core.events import Event
    from dataflow.core.wiring import Wiring
    from dataflow.formats.foreign import Format, Records, Words

__all__ = ["ForeignProgress", "foreign_progress", "log_format_of", "shown_logs"]

LOGGER: Final = "dataflow.control"


def log_format_of(name: str, wiring: Wiring) -> Format:
    """Return the format of `--log-format`; raises Refused for an unknown one, or one of another system."""
    from dataflow.formats.foreign import (
        MADE_OF,
        formats,  # loads the formats
    )

    having = {one.name: one for one in formats() if one.words is not None}
    if name not in having:
        problem = OPTION_UNKNOWN("--log-format", what="log format", found=name, available=sorted(having))
        raise Refused([problem], ExitCode.USAGE)
    of = wiring.meta.get(MADE_OF, name)
    if of != name:
        instead = f"write --log-format {of}, or leave it out" if of in having else "leave it out"
        raise Refused([OTHER_LOG_FORMAT(f"--log-format {name}", of=of, instead=instead)], ExitCode.USAGE)
    return having[name]


def foreign_progress(name: str, wiring: Wiring, *, is_kept: bool) -> ForeignProgress:
    """Return the progress in a log format; raises Refused, also for a flow without a document form.

    A stored run also has the records of that system, in the current folder like the store.
    """
    from dataflow.formats.native.writer import dump  # what writes documents

    found = log_format_of(name, wiring)
    assert found.words is not None, "formats without words are left out"
    try:
        document = dump(wiring)
    except FlowInvalid as error:
        problems = [problem.within(f"--log-format {name}") for problem in problems_in(error)]
        raise Refused(problems, ExitCode.USAGE) from error
    records = found.records(document, Path()) if is_kept and found.records is not None else None
    return ForeignProgress(found.words(document), records)


class ForeignProgress:
    """A progress that writes the log lines of a format to standard error, and its records to files."""

    def __init__(self, words: Words, records: Records | None = None) -> None:
        self._words = words
        self._records = records
        self._open: dict[str, None] = {}
        self.asked: set[str] = set()  # none: a log format has its own lines for asks

    def see(self, event: Event) -> None:
        """Write the lines and records of an event."""
        if event.kind is EventKind.NODE_STARTED:
            self._open[event.path] = None
        elif event.kind is EventKind.NODE_FINISHED:
            self._open.pop(event.path, None)
        for line in self._words.see(event):
            tell(visible(line))
        self._keep(event)

    def _keep(self, event: Event) -> None:
        """Write the records of an event; after an error the run continues without them."""
        if self._records is None:
            return
        try:
            self._records.see(event)
        except OSError as error:
            self._records = None
            tell(visible(f"warning: the records of the run end here: {error}"))

    def end(self, outputs: Mapping[str, Any]) -> None:
        """Write the last lines."""
        for line in self._words.end(outputs):
            tell(visible(line))

    def running(self) -> list[str]:
        """Return the paths of running firings."""
        return list(self._open)


class _Printing(logging.Handler):
    """Prints log records to standard error, each with the path of its firing."""

    def emit(self, record: logging.LogRecord) -> None:
        place = getattr(record, "path", record.name)
        tell(f"{record.levelname.lower()}: {path_text(str(place))}: {visible(record.getMessage())}")


@contextmanager
def shown_logs() -> Iterator[None]:
    """Print log records of nodes, from level info on, during the block."""
    logger, handler = logging.getLogger(LOGGER), _Printing(logging.INFO)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(min(logger.getEffectiveLevel(), logging.INFO))
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
