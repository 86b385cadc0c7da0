"""What every test shares: Hypothesis settings, the rules of a session."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.support.steady import NO_END, warn_of_blocking

pytest_plugins = ("tests.plugins",)

# A machine that does other things draws slowly, which is no fault of a test.
settings.register_profile(
    "here", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", parent=settings.get_profile("here"), database=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

# A shell ignores it in what runs in the background; processes that tests interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def unhurried() -> Iterator[None]:
    """Warn of no step that takes long, as any does on a machine that does other things."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        warn_of_blocking(monkeypatch, above=NO_END)
        yield
