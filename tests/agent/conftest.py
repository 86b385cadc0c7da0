"""What the tests of model calls share: litellm, loaded once, and a server in the place of a provider."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from dataflow_agent.litellm_loading import load
from tests.agent.fake_openai import KEY, FakeServer, serving


@pytest.fixture(scope="session")
def litellm() -> Any:
    """Load litellm, whose import takes seconds and warns, which is not ours to judge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load("tests")


@pytest.fixture
def server(litellm: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    """Serve in the place of OpenAI, with its key in the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)
    with serving() as found:
        yield found
