"""Tests that reveal secrets leave none known behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dataflow.secrets import known as redaction


@contextmanager
def forgetting() -> Iterator[None]:
    """Forget the secrets that are revealed within the block."""
    before, redaction._known = redaction._known, None
    try:
        yield
    finally:
        redaction._known = before
