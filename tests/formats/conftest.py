"""What the tests of formats share: a format of their own, installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.processes import install

__all__ = ["toy"]


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "site"
    place.mkdir()
    install(place, "toys", "toy = tests.formats.toy:FORMAT\n", group="dataflow.formats")
    monkeypatch.syspath_prepend(str(place))
    return tmp_path
