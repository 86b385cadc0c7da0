"""What tests of behaviour share: the order of what happens in them is always the same."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from anyio import get_running_tasks

from tests.behaviour.forked_flows import CALLED
from tests.behaviour.memo_flows import CALLS
from tests.support.steady import let_no_slice_end


@pytest.fixture
async def nothing_is_left() -> AsyncIterator[None]:
    """Let no task outlive the test."""
    before = len(get_running_tasks())
    yield
    assert len(get_running_tasks()) == before


@pytest.fixture
def calls() -> Iterator[list[object]]:
    CALLS.clear()
    yield CALLS
    CALLS.clear()


@pytest.fixture
def called() -> Iterator[list[str]]:
    CALLED.clear()
    yield CALLED
    CALLED.clear()


@pytest.fixture(autouse=True)
def steady(monkeypatch: pytest.MonkeyPatch) -> None:
    let_no_slice_end(monkeypatch)
