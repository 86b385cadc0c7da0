"""What `control.log` notes, shown while a flow runs."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from dataflow.base.wording import visible
from dataflow.cli.streams import tell

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["shown_logs"]

LOGGER: Final = "dataflow.control"


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
