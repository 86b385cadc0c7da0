"""The rules of a session, shown on small sessions of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.plugins import read_allowed

ROOT: Final = Path(__file__).parents[2]

BOTH: Final = """
    async def test_it(anyio_backend_name): pass
"""
SKIPS: Final = """
    import pytest
    @pytest.mark.skip(reason="no screen")
    def test_it(): pass
"""
MODULE_SKIPS: Final = """
    import pytest
    pytest.skip("no screen", allow_module_level=True)
"""
FAILS_AS_EXPECTED: Final = """
    import pytest
    @pytest.mark.xfail(strict=True)
    def test_it(): assert False
    def test_other(): pass
"""
ONLY_ONE: Final = """
    import pytest
    @pytest.mark.parametrize("anyio_backend", ["asyncio"])
    async def test_it(): pass
"""


def session(folder: Path, code: str, *arguments: str, allowed: str = "") -> subprocess.CompletedProcess[str]:
    """Run a session of one test file under the rules."""
    (folder / "tests").mkdir()
    (folder / "tests/allowed_skips.txt").write_text(allowed)
    (folder / "tests/test_it.py").write_text("\n".join(line[4:] for line in code.splitlines()))
    (folder / "pytest.ini").write_text("[pytest]\ntestpaths = tests\n")
    plugins = ["--disable-plugin-autoload", "-panyio", "-ptests.plugins", "--import-mode=importlib"]
    env = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, *arguments],
        cwd=folder,
        env=env | {"PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
    )


def test_a_coroutine_test_needs_no_mark_to_run_on_both_backends(tmp_path: Path) -> None:
    done = session(tmp_path, BOTH, "-v")
    assert done.returncode == 0, done.stdout
    assert "test_it[asyncio] PASSED" in done.stdout
    assert "test_it[trio] PASSED" in done.stdout


@pytest.mark.parametrize("code", [SKIPS, MODULE_SKIPS], ids=["test", "module"])
def test_a_skip_that_the_list_does_not_name_fails_the_session(tmp_path: Path, code: str) -> None:
    done = session(tmp_path, code)
    assert done.returncode != 0, done.stdout
    assert "skipped, and tests/allowed_skips.txt does not name it" in done.stdout


def test_a_skip_that_the_list_names_passes(tmp_path: Path) -> None:
    done = session(tmp_path, SKIPS, allowed="tests/test_it.py::test_it  there is no screen everywhere\n")
    assert done.returncode == 0, done.stdout


def test_an_expected_failure_is_no_skip(tmp_path: Path) -> None:
    assert session(tmp_path, FAILS_AS_EXPECTED).returncode == 0


def test_more_async_tests_on_one_backend_than_on_the_other_fail_the_session(tmp_path: Path) -> None:
    done = session(tmp_path, ONLY_ONE)
    assert done.returncode == 1, done.stdout
    assert "async tests ran unevenly: 1 on asyncio, 0 on trio" in done.stdout


def test_a_part_of_the_suite_may_run_on_one_backend(tmp_path: Path) -> None:
    assert session(tmp_path, BOTH, "-k", "trio").returncode == 0


def test_a_line_of_the_list_needs_a_reason() -> None:
    assert read_allowed("# a comment\n\ntests/a.py::test_b  because\n") == {"tests/a.py::test_b": "because"}
    with pytest.raises(ValueError, match=r"line 1: tests/a.py::test_b has no reason"):
        read_allowed("tests/a.py::test_b\n")
