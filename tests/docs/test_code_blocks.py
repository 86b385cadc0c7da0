"""The Python on the pages runs as it stands there and prints what the pages show."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.docs.pages import PAGES, SEPARATOR, Block, blocks_of, program_of, write_files
from tests.support.steady import STEADY

TEXTS: Final = {name: path.read_text(encoding="utf-8") for name, path in PAGES.items()}
EACH_PAGE: Final = pytest.mark.parametrize("name", TEXTS)
EACH_PAGE_WITH_PYTHON: Final = pytest.mark.parametrize(
    "name", [name for name, text in TEXTS.items() if "```python" in text]
)
#: Runs a program in which no slice of a worker ends: what the pages show is the order on a machine that does
#: nothing else (S14.2).
PROGRAM: Final = f"""
import runpy, sys
{STEADY}
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
#: What a block may be written in. Data is a file that something on the page uses.
CODE: Final = {"python", "sh"}
DATA: Final = {"json", "toml", "yaml"}
#: What is only looked at: text, and drawings, which forges draw.
SHOWN: Final = {"mermaid", "text"}


@EACH_PAGE_WITH_PYTHON
def test_the_python_on_a_page_prints_what_the_page_shows(name: str, tmp_path: Path) -> None:
    write_files(TEXTS[name], tmp_path)
    program = tmp_path / f"{PAGES[name].stem}.py"
    program.write_text(program_of(TEXTS[name]), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, program.name],
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


@EACH_PAGE
def test_every_block_says_what_it_is(name: str) -> None:
    known = CODE | DATA | SHOWN
    unknown = [
        (block.line, block.language) for block in blocks_of(TEXTS[name]) if block.language not in known
    ]
    assert not unknown


@EACH_PAGE
def test_a_block_of_data_is_a_file(name: str) -> None:
    assert not [block.line for block in blocks_of(TEXTS[name]) if block.language in DATA and not block.file]


def is_used(file: str, blocks: list[Block]) -> bool:
    """Tell whether a program, a command or another file names a file, its top folder or a function in it."""
    top, slash, _ = file.partition("/")
    if slash:
        return any(block.language == "sh" and f"./{top}" in block.text for block in blocks)
    stem = file.removesuffix(".py")
    forms = (file, f"import {stem}", f"from {stem} import")
    named = re.compile(rf"\b({'|'.join(map(re.escape, forms))}|{re.escape(stem)}:\w+)\b")
    others = [block for block in blocks if block.file is None or block.file.name != file]
    return any(named.search(block.text) for block in others)


@EACH_PAGE
def test_the_reader_sees_what_a_block_is(name: str) -> None:
    """A comment does not show; these two are for commands that need no name."""
    comments = re.findall(r"<!--(.*?)-->", TEXTS[name], re.DOTALL)
    assert not [text for text in comments if not re.fullmatch(r" (unless: installed|command: \w+) ", text)]


@EACH_PAGE
def test_something_on_the_page_uses_each_file(name: str) -> None:
    blocks = [block for block in blocks_of(TEXTS[name]) if block.language in CODE | DATA]
    files = {block.file.name for block in blocks if block.file is not None}
    assert not [file for file in sorted(files) if not is_used(file, blocks)]


def links_of(name: str) -> Iterator[tuple[Path, str]]:
    """Yield the file and the heading that each link to this project leads to."""
    for part in TEXTS[name].split("](")[1:]:
        target, _, heading = part.partition(")")[0].partition("#")
        if "://" not in target:
            yield (PAGES[name].parent / target if target else PAGES[name]), heading


def headings_of(page: Path) -> set[str]:
    """List the headings of a page as links name them."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@EACH_PAGE
def test_a_link_leads_to_a_file_of_the_project(name: str) -> None:
    assert not [str(file) for file, _ in links_of(name) if not file.exists()]


@EACH_PAGE
def test_a_link_leads_to_a_heading_of_its_page(name: str) -> None:
    named = [(file, heading) for file, heading in links_of(name) if heading]
    assert not [f"{file.name}#{heading}" for file, heading in named if heading not in headings_of(file)]
