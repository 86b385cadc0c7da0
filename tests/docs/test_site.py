"""The site: its navigation, llms.txt, and what built pages may load."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from tests.docs.pages import FENCE, PAGES, ROOT
from tests.docs.site import LLMS, html_of, navigation, told_files

PAGES_OF_DOCS: Final = {name: path for name, path in PAGES.items() if path != ROOT / "README.md"}


def test_the_navigation_has_every_page_once() -> None:
    assert sorted(navigation()) == sorted(PAGES_OF_DOCS)


def test_llms_txt_tells_the_pages_of_the_navigation() -> None:
    """The pages of the reference have their text only in HTML."""
    pages = [page for page in navigation() if not page.startswith("decisions/0")]
    files = [html_of(page) if page.startswith("reference/") else page for page in pages]
    assert sorted(told_files()) == sorted(files)


def test_the_index_lists_all_pages() -> None:
    """Those of the reference, decisions and formats are listed by an index of theirs."""
    linked = re.findall(r"\]\(([\w/-]+\.md)", (PAGES_OF_DOCS["index.md"]).read_text(encoding="utf-8"))
    folders = {page.partition("/")[0] for page in linked if page.endswith(("/index.md", "/README.md"))}
    unlisted = {page for page in navigation() if page.partition("/")[0] not in folders} - {*linked}
    assert unlisted == {"index.md"}


def pairs_of_lines() -> Iterator[tuple[str, str, str]]:
    """Yield each line outside of blocks with its page and the line before it."""
    for name, path in PAGES_OF_DOCS.items():
        for before, line in pairwise(FENCE.sub("\n", path.read_text(encoding="utf-8")).splitlines()):
            yield name, before, line


def test_parts_of_list_items_are_indented_by_four() -> None:
    """With less, Python-Markdown sees no list in a list, and no second paragraph of an item."""
    assert [
        (name, line)
        for name, before, line in pairs_of_lines()
        if re.match(r" {1,3}(-|\d+\.) ", line) or (not before.strip() and re.match(r" {1,3}\S", line))
    ] == []


def test_lists_and_tables_begin_after_an_empty_line() -> None:
    """Elsewhere Python-Markdown takes them for text."""
    after_text = [(name, before, line) for name, before, line in pairs_of_lines() if before.strip()]
    assert [
        (name, line)
        for name, before, line in after_text
        if (re.match(r"(-|\d+\.) ", line) and not re.match(r"(-|\d+\.)? ", before))
        or (line.startswith("|") and not before.startswith("|"))
    ] == []


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for file in (*map(html_of, navigation()), *told_files(), LLMS.name):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    return tmp_path
