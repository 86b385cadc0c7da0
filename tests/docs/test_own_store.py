"""The store on the page about stores of one's own passes the tests that the page makes for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT, blocks_of, write_files


@pytest.mark.timeout(900)  # all the tests of stores, in a process
def test_the_store_on_the_page_passes_its_tests(tmp_path: Path) -> None:
    page = (DOCS / "how-to" / "own-store.md").read_text(encoding="utf-8")
    write_files(page, tmp_path)
    (command,) = [block.text.split() for block in blocks_of(page) if block.language == "sh"]
    assert command[:2] == ["python", "-m"]
    done = subprocess.run(
        [sys.executable, "-m", *command[2:], "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "", "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout
