"""What tests of behaviour share: what happens in them does not depend on how fast the machine is."""

from __future__ import annotations

import pytest

#: Longer than any test takes, in seconds.
NO_END = 3600.0


@pytest.fixture(autouse=True)
def one_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no slice of a worker end: what is ready would take its turn otherwise there (S14.2)."""
    monkeypatch.setattr("dataflow.workers.SLICE", NO_END)
