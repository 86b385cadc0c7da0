"""Spoilt files of foreign formats: each becomes a flow or a clear error with its place."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.properties.fuzz_formats import files_of
from tests.properties.fuzz_native import fuzz
from tests.properties.mutating import spoilt

INPUTS = 40


@pytest.mark.parametrize("format", ["agentflow", "agentron", "cagent", "clickweave", "hifide"])
def test_a_spoilt_file_is_loaded_or_refused_with_its_place(format: str, tmp_path: Path) -> None:
    report = fuzz(3, iter(range(INPUTS)), tmp_path, spoil=partial(spoilt, documents=files_of(format)))
    assert (report.failure, report.tried) == ("", INPUTS)
