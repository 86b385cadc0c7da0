"""The Python on the pages runs as it stands there and prints what the pages show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.docs.pages import PAGES, SEPARATOR, blocks_of, program_of

TEXTS: Final = {name: path.read_text(encoding="utf-8") for name, path in PAGES.items()}
EACH_PAGE_WITH_PYTHON: Final = pytest.mark.parametrize(
    "name", [name for name, text in TEXTS.items() if "```python" in text]
)


@EACH_PAGE_WITH_PYTHON
def test_the_python_on_a_page_prints_what_the_page_shows(name: str, tmp_path: Path) -> None:
    program = tmp_path / name.replace(".md", ".py")
    program.write_text(program_of(TEXTS[name]), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", program.name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    blocks = [block for block in blocks_of(TEXTS[name]) if block.language == "python" and block.file is None]
    printed = done.stdout.split(f"{SEPARATOR}\n")[:-1]
    shown = [(f"{name}:{block.line}", block.shows or "") for block in blocks]
    assert [(place, text) for (place, _), text in zip(shown, printed, strict=True)] == shown


@pytest.mark.parametrize("name", TEXTS)
def test_every_block_says_what_it_is(name: str) -> None:
    nameless = [block.line for block in blocks_of(TEXTS[name]) if not block.language]
    assert not nameless, f"{name}: blocks without a language at lines {nameless}"


@pytest.mark.parametrize("name", TEXTS)
def test_a_link_leads_to_a_file_of_the_project(name: str) -> None:
    folder = PAGES[name].parent
    targets = [part.partition(")")[0].partition("#")[0] for part in TEXTS[name].split("](")[1:]]
    local = [target for target in targets if target and "://" not in target]
    assert not [target for target in local if not (folder / target).exists()]
