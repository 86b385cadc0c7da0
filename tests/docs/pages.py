"""Reading the pages of the documentation: blocks, a program of the Python, a script of the commands.

A block is what stands between two fences. A comment on the line above one says what it is for:

- `<!-- file: NAME -->`: the reader writes it to a file
- `<!-- append: NAME -->`: the reader puts it at the end of a file
- `<!-- unless: installed -->`: the commands are for a machine without `dataflow`

A `text` block right after Python or shell shows what it prints. YAML, JSON and TOML always are files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
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
MARKER: Final = re.compile(r"<!-- (\w+): (.+) -->\n\Z")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page. `line` is that of its first line; `shows` is what the page says it prints."""

    language: str
    text: str
    line: int
    marker: tuple[str, str] | None
    shows: str | None = None

    @property
    def file(self) -> str | None:
        """The name of the file that the reader writes the block to."""
        return self.marker[1] if self.marker is not None and self.marker[0] in ("file", "append") else None


def blocks_of(page: str) -> list[Block]:
    """List the blocks of a page; a `text` block that shows an output is part of the block it belongs to."""
    found: list[Block] = []
    ends: list[int] = []
    for match in FENCE.finditer(page):
        language, text = match.groups()
        marker = MARKER.search(page, 0, match.start())
        line = page.count("\n", 0, match.start()) + 2
        block = Block(language, text, line, (marker[1], marker[2]) if marker else None)
        if language == "text" and found and _prints(found[-1]) and marker is None:
            before = found.pop()
            block = Block(before.language, before.text, before.line, before.marker, text)
            ends.pop()
        found.append(block)
        ends.append(match.end())
    return found


def write_files(page: str, folder: Path) -> None:
    """Write the files that a page tells its reader to write."""
    for block in blocks_of(page):
        if block.marker is not None and block.file is not None:
            mode = "a" if block.marker[0] == "append" else "w"
            (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            with (folder / block.file).open(mode, encoding="utf-8") as file:
                file.write(block.text)


def _prints(block: Block) -> bool:
    return block.language in ("python", "sh") and block.file is None and block.shows is None


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
# with what the page shows. Without `dataflow` on PATH it installs the project first.
set -euo pipefail

project=$(cd "$(dirname "${{BASH_SOURCE[0]}}")/.." && pwd)
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
        if block.marker is not None and block.file is not None:
            folder = Path(block.file).parent
            make = "" if folder == Path() else f"mkdir -p {folder}\n"
            how = ">>" if block.marker[0] == "append" else ">"
            parts.append(WRITE.format(make, how, block.file, block.text))
        elif block.language == "sh" and block.marker == ("unless", "installed"):
            parts.append(ONLY_IF_MISSING.format(block.text))
        elif block.language == "sh":
            parts.append(block.text if block.shows is None else COMPARE.format(block.text, block.shows))
    return "\n".join(parts)
