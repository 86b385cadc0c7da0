"""What the tests of model calls share: litellm, loaded once, and a server in the place of a provider."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import anyio
import pytest

from dataflow import Message, Secret
from dataflow_agent import ModelRequest, Options
from dataflow_agent.models.providers.litellm import LITELLM, load
from tests.nodes.agent.fake_openai import KEY, FakeServer, serving


@pytest.fixture(scope="session")
def litellm() -> Any:
    """Load litellm and call it once: that takes seconds, and warns, which is not ours to judge."""
    with warnings.catch_warnings(), serving() as server:
        warnings.simplefilter("ignore")
        found = load("tests")
        options = Options(base_url=server.url, key=Secret("KEY_OF_THE_TESTS", KEY))
        request = ModelRequest("openai/plain", (Message("user", "hi"),), options=options)
        pieces: list[str] = []
        anyio.run(LITELLM.answer, request, pieces.append)
        return found


@pytest.fixture
def server(litellm: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    """Serve in the place of OpenAI, with its key in the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)
    with serving() as found:
        yield found


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let litellm warn, of what it does itself, in the tests that call it, and take its time to load."""
    for item in items:
        if "litellm" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.filterwarnings("ignore:::litellm"))
            item.add_marker(pytest.mark.timeout(900))
