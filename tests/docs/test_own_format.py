"""The format on the page about formats of one's own passes its tests, and its file runs as shown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.docs.pages import DOCS, ROOT, blocks_of, write_files

PAGE: Final = (DOCS / "how-to" / "own-format.md").read_text(encoding="utf-8")
PROJECT: Final = "recipes"


def install(folder: Path) -> None:
    """Write what installing the project in place writes of its entry points."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    about = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    about.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (about / "METADATA").write_text(metadata, encoding="utf-8")
    lines = [
        line
        for group, entries in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()))
    ]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(ROOT), str(ROOT / "nodes"), str(folder / PROJECT)))
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "PYTEST_ADDOPTS": "", "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        check=False,
    )


def commands() -> Sequence[list[str]]:
    return [
        line.split()
        for block in blocks_of(PAGE)
        if block.language == "sh"
        for line in block.text.splitlines()
    ]


def test_the_format_on_the_page_passes_its_tests(tmp_path: Path) -> None:
    write_files(PAGE, tmp_path)
    install(tmp_path / PROJECT)
    (command,) = [words for words in commands() if words[0] == "python"]
    done = python(tmp_path, *command[1:], "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_the_file_on_the_page_runs_as_shown(tmp_path: Path) -> None:
    write_files(PAGE, tmp_path)
    install(tmp_path / PROJECT)
    (command,) = [words for words in commands() if words[0] == "dataflow"]
    done = python(tmp_path, "-m", *command)
    (shown,) = [block.shows for block in blocks_of(PAGE) if block.shows]
    assert done.returncode == 0, done.stderr
    assert timeless(done.stderr.partition("completed")[0] + done.stdout) == timeless(
        "".join(shown.partition("completed")[0])
    )


def timeless(text: str) -> str:
    return re.sub(r"[\d.]+ s\n", "N s\n", text)
