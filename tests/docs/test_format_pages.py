"""The pages of foreign formats: one row for each statement of the document that their format comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from tests.docs.pages import ROOT

PAGES: Final = ROOT / "docs" / "formats"
STATEMENTS: Final = ROOT / "tests" / "golden" / "statements"
SYSTEMS: Final = sorted(path.stem for path in PAGES.glob("*.md") if path.stem != "index")
#: What the second cell begins with where a statement has no test of its own.
WITHOUT: Final = ("not yet: ", "later: ")
_ROW: Final = re.compile(r"\| ([A-Z]{2}-S\d+) \| (.+?) \| (.*?) \|$")


class Row(NamedTuple):
    """A row of a page: the statement, where it works, and the test that shows it."""

    id: str
    works: str
    test: str


def rows_of(system: str) -> Iterator[Row]:
    for line in (PAGES / f"{system}.md").read_text(encoding="utf-8").splitlines():
        if (found := _ROW.match(line)) is not None:
            yield Row(*found.groups())


def kinds_of(system: str) -> dict[str, str]:
    lines = (STATEMENTS / f"{system}.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split(" ") for line in lines)


def test_each_system_whose_files_are_read_has_a_page() -> None:
    assert sorted(path.stem for path in STATEMENTS.glob("*.txt")) == SYSTEMS


def test_each_statement_that_can_be_tested_has_one_row_in_order() -> None:
    for system in SYSTEMS:
        wanted = [id for id, kind in kinds_of(system).items() if kind != "background"]
        assert [row.id for row in rows_of(system)] == wanted


def test_each_row_names_a_test_that_is_there_or_says_what_is_missing() -> None:
    rows = [row for system in SYSTEMS for row in rows_of(system)]
    assert [row.id for row in rows if not (is_open(row) or is_tested(row))] == []


def is_open(row: Row) -> bool:
    return row.test == "" and row.works.startswith(WITHOUT)


def is_tested(row: Row) -> bool:
    """Tell whether each test of a row, `tests/file.py::function` or `...::function[ID]`, is in its file."""
    names = [name.strip(" `") for name in row.test.split(",")]
    return all(_is_there(*name.partition("::")[::2]) for name in names)


def _is_there(file: str, function: str) -> bool:
    path = ROOT / file
    if not file.startswith("tests/") or not path.is_file() or not function:
        return False
    name, _, row = function.removesuffix("]").partition("[")
    text = path.read_text(encoding="utf-8")
    return f"def {name}(" in text and re.search(rf"\b{re.escape(row)}\b", text, re.IGNORECASE) is not None
