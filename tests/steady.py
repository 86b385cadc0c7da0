"""What happens in a test is not to depend on how fast the machine is, or on what else it does."""

from __future__ import annotations

import pytest

__all__ = ["NO_END", "let_no_slice_end", "warn_of_blocking"]

#: Longer than any test takes, in seconds.
NO_END = 3600.0


def let_no_slice_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no slice of a worker end: what is ready would take its turn otherwise there (S14.2)."""
    monkeypatch.setattr("dataflow.workers.SLICE", NO_END)


def warn_of_blocking(monkeypatch: pytest.MonkeyPatch, *, above: float) -> None:
    """Warn of each step that keeps the event loop for more than these seconds (S9.2)."""
    for module in ("inline", "isolation"):
        monkeypatch.setattr(f"dataflow.{module}.MOST_BLOCKING", above)
