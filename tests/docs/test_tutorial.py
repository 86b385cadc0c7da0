"""The tutorial and the notebooks: what they run prints what they show."""

from __future__ import annotations

import os
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import pytest

from tests.docs.pages import DOCS, PAGES, ROOT, blocks_of, script_of
from tests.docs.scripts import SCRIPTS, TUTORIAL, made_script
from tests.support.steady import STEADY

pytestmark = pytest.mark.timeout(900)  # each command of a page is a process

#: The commands of these are for a checkout with an environment of its own.
OF_A_CHECKOUT: Final = (ROOT / "README.md", DOCS / "contributing" / "tests.md")
OTHER_PAGES_WITH_COMMANDS: Final = [
    name
    for name, path in PAGES.items()
    if path not in (*SCRIPTS.values(), *OF_A_CHECKOUT) and "```sh" in path.read_text(encoding="utf-8")
]
#: What is printed is not to depend on how fast the machine is: no slice ends, no step takes too long.
START: Final = f"{STEADY}; import sys; from dataflow.cli import main; sys.exit(main())"


@pytest.fixture
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("bin")
    for name, arguments in (("dataflow", f"-P -c '{START}'"), ("python", "")):
        command = folder / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n', encoding="utf-8")
        command.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def run(script: Path, folder: Path, path: str) -> None:
    done = subprocess.run(
        ["bash", script],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        | {"PATH": path, "CI": "true"},  # Hypothesis calls no machine too slow then
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " skipped" not in done.stdout


def test_a_script_is_made_from_its_page() -> None:
    made = {script: made_script(page) for script, page in SCRIPTS.items()}
    others = [script.name for script in SCRIPTS if script.read_text(encoding="utf-8") != made[script]]
    assert others == [], "run `python -m tests.docs.scripts`"


def test_the_commands_of_the_tutorial_print_what_the_page_shows(tmp_path: Path, path: str) -> None:
    run(next(script for script, page in SCRIPTS.items() if page == TUTORIAL), tmp_path, path)


def test_a_page_with_a_script_shows_what_each_of_its_runs_prints() -> None:
    blocks = [block for page in SCRIPTS.values() for block in blocks_of(page.read_text(encoding="utf-8"))]
    runs = [block for block in blocks if block.language == "sh" and "run " in block.text]
    assert [block.text for block in runs if not block.shows] == []


@pytest.mark.parametrize("name", OTHER_PAGES_WITH_COMMANDS)
def test_the_commands_of_another_page_print_what_it_shows(name: str, tmp_path: Path, path: str) -> None:
    script = tmp_path / "commands.sh"
    script.write_text(script_of(PAGES[name].read_text(encoding="utf-8"), name), encoding="utf-8")
    work = tmp_path / "work"
    work.mkdir()
    run(script, work, path)


NOTEBOOKS: Final = sorted((DOCS / "examples").glob("*.ipynb"))
PATIENCE: Final = 300  # seconds a cell, and until the kernel is there


def shown_by(notebook: Any) -> list[tuple[str, list[str]]]:
    return [
        (cell.source, [output.get("text") or output["data"]["text/plain"] for output in cell.outputs])
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.outputs
    ]


@pytest.mark.timeout(900)  # a kernel is started
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_prints_what_it_shows(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbformat
    from nbclient import NotebookClient

    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    kept: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]  # it has no types
    executed = deepcopy(kept)
    NotebookClient(executed, timeout=PATIENCE, startup_timeout=PATIENCE).execute()
    assert shown_by(kept)
    assert shown_by(executed) == shown_by(kept)
