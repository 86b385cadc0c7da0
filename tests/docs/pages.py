"""Reading the pages of the documentation: blocks, a program of the Python, a script of the commands.

A block is what stands between two fences. What stands right above it may say what it is for:

- a paragraph "File `NAME`:": the reader writes it to a file
- a paragraph "At the end of `NAME`:": the reader puts it at the end of a file
- the comment `<!-- unless: installed -->`: the commands are for a machine without `dataflow`

A `text` block right after Python or shell shows what it prints. YAML, JSON and TOML always are files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
#: The pages whose blocks are tested, by their path below the documentation, and what stands before them all.
PAGES: Final = {
    "the README": ROOT / "README.md",
    **{path.relative_to(DOCS).as_posix(): path for path in sorted(DOCS.rglob("*.md"))},
}

FENCE: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CAPTION: Final = re.compile(r"^(File|At the end of) `([^`\n]+)`:\n\n\Z", re.MULTILINE)
UNLESS_INSTALLED: Final = "<!-- unless: installed -->\n"


class Writing(Enum):
    NEW = ">"
    AT_THE_END = ">>"


@dataclass(frozen=True, slots=True)
class File:
    name: str
    writing: Writing


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page. `line` is that of its first line; `shows` is what the page says it prints."""

    language: str
    text: str
    line: int
    file: File | None
    unless_installed: bool
    shows: str | None = None


def blocks_of(page: str) -> list[Block]:
    """List the blocks of a page; a `text` block that shows an output is part of the block it belongs to."""
    found: list[Block] = []
    for match in FENCE.finditer(page):
        language, text = match.groups()
        file = _file_of(page[: match.start()])
        last = found[-1] if found and found[-1].language in ("python", "sh") else None
        if last and not last.file and last.shows is None and language == "text" and file is None:
            found[-1] = replace(last, shows=text)
        else:
            line = page.count("\n", 0, match.start()) + 2
            installs = page.endswith(UNLESS_INSTALLED, 0, match.start())
            found.append(Block(language, text, line, file, installs))
    return found


def _file_of(before: str) -> File | None:
    caption = CAPTION.search(before)
    if caption is None:
        return None
    return File(caption[2], Writing.NEW if caption[1] == "File" else Writing.AT_THE_END)


def write_files(page: str, folder: Path) -> None:
    for block in blocks_of(page):
        if block.file is not None:
            path = folder / block.file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("w" if block.file.writing is Writing.NEW else "a", encoding="utf-8") as file:
                file.write(block.text)


SEPARATOR: Final = "<<< end of a block >>>"


def program_of(page: str) -> str:
    """Put the Python blocks of a page into one program, each line at its place in the page."""
    lines = [""] * page.count("\n")
    for block in blocks_of(page):
        if block.language == "python" and block.file is None:
            code = block.text.splitlines()
            lines[block.line - 1 : block.line - 1 + len(code)] = code
            lines[block.line - 1 + len(code)] = f"print({SEPARATOR!r})"
    return "\n".join(lines) + "\n"


HEAD: Final = """\
#!/usr/bin/env bash
# The commands of {name}, made from that page by `python -m tests.docs.scripts`. It compares what they print
# with what the page shows.
set -euo pipefail

printed=$(mktemp)
trap 'rm -f "$printed"' EXIT

# Durations differ from run to run.
timeless() {{
    sed -E 's/[0-9]+([.][0-9]+)? s$/N s/' "$@"
}}

page_shows() {{
    diff -u --label "what the page shows" --label "what was printed" <(timeless) <(timeless "$printed")
}}
"""
ONLY_IF_MISSING: Final = """\
# Without `dataflow` on PATH the project, in whose sources this script lies, is installed first.
project=$(cd "$(dirname "${{BASH_SOURCE[0]}}")/.." && pwd)
if ! command -v dataflow >/dev/null; then
{}fi
"""
WRITE: Final = """\
{}cat {}{} <<'END OF FILE'
{}END OF FILE
"""
COMPARE: Final = """\
{{
{}}} 2>&1 | tee "$printed"
page_shows <<'END OF OUTPUT'
{}END OF OUTPUT
"""


def script_of(page: str, name: str) -> str:
    """Make a script of the commands of a page and of the files that it tells its reader to write."""
    parts = [HEAD.format(name=name)]
    for block in blocks_of(page):
        if block.file is not None:
            folder = Path(block.file.name).parent
            make = "" if folder == Path() else f"mkdir -p {folder}\n"
            parts.append(WRITE.format(make, block.file.writing.value, block.file.name, block.text))
        elif block.language == "sh" and block.unless_installed:
            parts.append(ONLY_IF_MISSING.format(block.text))
        elif block.language == "sh":
            parts.append(block.text if block.shows is None else COMPARE.format(block.text, block.shows))
    return "\n".join(parts)
