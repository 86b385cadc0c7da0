"""What every test shares: both event loops, Hypothesis settings, the rules of a session."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from dataflow.redaction import know
from tests.known_secrets import forgetting
from tests.secret_kinds import VALUE

pytest_plugins = ("tests.plugins",)

settings.register_profile("here", deadline=None, print_blob=True)
settings.register_profile(
    "ci",
    parent=settings.get_profile("here"),
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(scope="module", params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    """Run an async test on each backend; `-k trio` picks one, `python -X dev` sets asyncio's debug mode."""
    return request.param


@pytest.fixture(scope="module")
def token_known() -> Iterator[None]:
    """Know the secret of `tests.secret_kinds`, until the tests of the module are done."""
    with forgetting():
        know("TOKEN", VALUE)
        yield
