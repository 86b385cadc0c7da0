"""The tests that the pages on testing write pass, as the command there runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT, blocks_of, write_files


@pytest.mark.parametrize("name", ["test", "testing-agents"])
def test_the_tests_on_the_page_pass(name: str, tmp_path: Path) -> None:
    page = (DOCS / "how-to" / f"{name}.md").read_text(encoding="utf-8")
    write_files(page, tmp_path)
    (command,) = [block.text.split() for block in blocks_of(page) if block.language == "sh"]
    assert command[:3] == ["python", "-m", "pytest"]
    done = subprocess.run(
        [sys.executable, "-m", *command[2:], "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'nodes'}", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout
