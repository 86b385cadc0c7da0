"""The tests notice seeded faults of readiness and scheduler: each is made in a copy of the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

import dataflow
from tests.house.mutants import MUTANTS, Mutant

ROOT: Final = Path(__file__).parents[2]
ENGINE: Final = Path(dataflow.__file__).parent


def test_with(package: Path, *tests: str) -> subprocess.CompletedProcess[str]:
    """Run tests with a copy of the engine in place of this one."""
    path = [str(package.parent), *(entry for entry in sys.path if entry), str(ROOT)]
    return subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "pythonpath=", *tests],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )


test_with.__test__ = False  # type: ignore[attr-defined]  # it is no test


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ENGINE, tmp_path / "dataflow"))


@pytest.mark.timeout(900)  # the tests of all faults, one after the other
def test_a_copy_without_a_fault_passes(copy: Path) -> None:
    tests = dict.fromkeys(test for mutant in MUTANTS for test in mutant.tests)
    done = test_with(copy, *tests)
    assert done.returncode == 0, done.stdout + done.stderr


def seed(mutant: Mutant, package: Path) -> None:
    """Write a fault into the one file of a package that has its text."""
    texts = {file: file.read_text(encoding="utf-8") for file in package.rglob("*.py")}
    found = {
        str(file.relative_to(package)): count for file in texts if (count := texts[file].count(mutant.old))
    }
    assert list(found.values()) == [1], f"renew the mutant: {mutant.old!r} is in {found}"
    file = package.joinpath(*found)
    file.write_text(texts[file].replace(mutant.old, mutant.new), encoding="utf-8")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_fault_is_noticed(mutant: Mutant, copy: Path) -> None:
    seed(mutant, copy)
    for test in mutant.tests:
        done = test_with(copy, test)
        assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
        assert "AssertionError" in done.stdout or "\nE       assert" in done.stdout, done.stdout
        assert "ImportError" not in done.stdout
