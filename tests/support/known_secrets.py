"""Tests that reveal secrets leave none known behind, and no loggers that look for them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from dataflow.secrets import known as redaction


@contextmanager
def forgetting() -> Iterator[None]:
    """Forget the secrets that are revealed within the block."""
    before, factory = redaction._known, logging.getLogRecordFactory()
    redaction._known = None
    try:
        yield
    finally:
        redaction._known = before
        logging.setLogRecordFactory(factory)
