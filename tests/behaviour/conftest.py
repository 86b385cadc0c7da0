"""What tests of behaviour share: the order of what happens in them is always the same."""

from __future__ import annotations

import pytest

from tests.support.steady import let_no_slice_end


@pytest.fixture(autouse=True)
def steady(monkeypatch: pytest.MonkeyPatch) -> None:
    let_no_slice_end(monkeypatch)
