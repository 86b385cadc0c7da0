"""The rules of a session, shown on small sessions of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.plugins import ALLOWED_SKIPS, BOTH_LOOPS, DEEP, read_reasons

ROOT: Final = Path(__file__).parents[2]

ASYNC: Final = """
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


#: Where the event loop matters: what is in these folders runs on both, in whole or in part.
FOLDERS: Final = {
    "base", "behaviour", "core", "durable", "faults", "live", "nodes", "properties", "runtime", "scheduler",
    "stores",
}  # fmt: skip


def session(
    folder: Path, code: str, *arguments: str, allowed: str = "", both: str = "", deep: str = ""
) -> subprocess.CompletedProcess[str]:
    (folder / "tests").mkdir(parents=True)
    (folder / "tests/allowed_skips.txt").write_text(allowed)
    (folder / "tests/both_loops.txt").write_text(both)
    (folder / "tests/deep.txt").write_text(deep)
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


def loops_of(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode == 0, done.stdout
    return re.findall(r"::test_it\[(\w+)\] PASSED", done.stdout)


def test_a_coroutine_test_runs_on_asyncio_or_on_both_loops_if_the_list_names_it(tmp_path: Path) -> None:
    assert loops_of(session(tmp_path / "one", ASYNC, "-v")) == ["asyncio"]
    both = session(tmp_path / "both", ASYNC, "-v", both="tests/test_it.py:: time\n")
    assert loops_of(both) == ["asyncio", "trio"]


def test_an_option_runs_all_on_both_loops_but_those_that_choose(tmp_path: Path) -> None:
    assert loops_of(session(tmp_path / "all", ASYNC, "-v", "--both-loops")) == ["asyncio", "trio"]
    assert loops_of(session(tmp_path / "one", ONLY_ONE, "-v", "--both-loops")) == ["asyncio"]


def test_what_the_list_of_deep_tests_names_is_marked(tmp_path: Path) -> None:
    done = session(tmp_path, FAILS_AS_EXPECTED, "-v", "-mnot deep", deep="tests/test_it.py::test_it long\n")
    assert (done.returncode, "1 passed, 1 deselected" in done.stdout) == (0, True), done.stdout


def test_a_list_names_tests_that_exist() -> None:
    """A line is the beginning of an id, which may end within the name of a folder, a file or a function."""
    lost = []
    for listed in (ALLOWED_SKIPS, BOTH_LOOPS, DEEP):
        definition = "async def " if listed == BOTH_LOOPS else "def "
        for prefix in read_reasons((ROOT / listed).read_text(encoding="utf-8")):
            path, _, names = prefix.partition("::")
            files = ROOT.glob(f"{path}**/test_*.py" if path.endswith("/") else f"{path}*")
            name = names.partition("[")[0].rpartition("::")[2]
            wanted = f"{definition}{name}" if name or listed == BOTH_LOOPS else ""
            if not any(wanted in file.read_text(encoding="utf-8") for file in files):
                lost.append(prefix)
    assert lost == []


def test_where_the_event_loop_matters_tests_run_on_both() -> None:
    named = read_reasons((ROOT / BOTH_LOOPS).read_text(encoding="utf-8"))
    assert {prefix.split("/")[1] for prefix in named} >= FOLDERS


def test_a_skip_that_the_list_does_not_name_fails_the_session(tmp_path: Path) -> None:
    for name, code in (("test", SKIPS), ("module", MODULE_SKIPS)):
        done = session(tmp_path / name, code)
        assert done.returncode != 0, done.stdout
        assert "skipped, and tests/allowed_skips.txt does not name it" in done.stdout
    allowed = "tests/test_it.py::test_it  there is no screen everywhere\n"
    assert session(tmp_path / "allowed", SKIPS, allowed=allowed).returncode == 0
    assert session(tmp_path / "fails", FAILS_AS_EXPECTED).returncode == 0  # an expected failure is no skip
