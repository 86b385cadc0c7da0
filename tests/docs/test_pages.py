"""The pages of rules, of diagnostics, of foreign formats and of the architecture have what the code has."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import networkx as nx

from dataflow.diagnostics.catalogue import by_code
from dataflow.diagnostics.diagnostic import Kind
from dataflow.packs.registry import installed_diagnostics
from tests.docs.pages import DOCS, ROOT, blocks_of
from tests.house.test_architecture import ENGINE, LAYERS, package_of, targets_of
from tests.support.source import PACKAGES, modules_of

NAMES: Final = ("semantics.md", "semantics_blocks.md", "semantics_runs.md")
PAGE: Final = "\n".join((DOCS / name).read_text(encoding="utf-8") for name in NAMES)
NAMED: Final = re.compile(r"\bS(\d{1,2})(?:\.(\d+))?\b")
#: The line above an example that serves two rules.
SERVES: Final = re.compile(r"^(S\d+\.\d+) and (S\d+\.\d+):\n\n```python$", re.MULTILINE)
#: Tables of names, which have no example.
TABLES: Final = ("S19.", "S20.")


class Rule(NamedTuple):
    """A rule, `S4` or `S4.3`, or `S4.` for a section without numbers, and what stands below it."""

    name: str
    text: str

    @property
    def has_example(self) -> bool:
        return any(block.language == "python" and block.shows for block in blocks_of(self.text))

    @property
    def holds(self) -> bool:
        return not self.text.startswith("*Not yet")


def rules_of(page: str) -> Iterator[Rule]:
    for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        head, _, text = part.partition("\n")
        numbers = [int(number) for number in re.findall(r"S(\d+)", head)]
        _, *items = re.split(r"^(\d+)\. ", text, flags=re.MULTILINE)
        for section in range(numbers[0], numbers[-1] + 1):
            yield Rule(f"S{section}", text)
            for item, below in zip(items[::2], items[1::2], strict=True):
                yield Rule(f"S{section}.{item}", below)
            if not items:
                yield Rule(f"S{section}.", text.strip())


RULES: Final = list(rules_of(PAGE))
NUMBERS: Final = [rule.name for rule in RULES]
SERVED: Final = [rule for pair in SERVES.findall(PAGE) for rule in pair]


def is_on_the_page(section: str, item: str | None) -> bool:
    return (f"S{section}.{item}" if item else f"S{section}") in NUMBERS or f"S{section}." in NUMBERS


def unknown_rules(text: str) -> list[str]:
    return [match[0] for match in NAMED.finditer(text) if not is_on_the_page(*match.groups())]


def test_rules_that_the_code_names_are_on_the_page() -> None:
    modules = (module for package in PACKAGES for module in modules_of(package))
    assert [(module.name, rule) for module in modules for rule in unknown_rules(module.text())] == []


def test_rules_have_an_example() -> None:
    rules = [rule for rule in RULES if "." in rule.name and rule.holds and rule.name not in TABLES]
    assert [rule.name for rule in rules if not rule.has_example and rule.name not in SERVED] == []


def test_a_rule_that_the_pages_name_is_on_them() -> None:
    assert unknown_rules(PAGE) == []


ARCHITECTURE: Final = (DOCS / "contributing" / "architecture.md").read_text(encoding="utf-8")
ARROW: Final = re.compile(r"^    (\w+)(?:\[\"\w+\"\])? --> (\w+)$", re.MULTILINE)
FILE: Final = re.compile(r"`((?:dataflow|docs|nodes|tests)/[\w./-]+)`")
#: What the nodes of the picture are called in the list of layers.
FILES: Final = {"main": "__main__", "dataflow": ""}
PICTURE: Final[nx.DiGraph[str]] = nx.DiGraph(
    [(FILES.get(above, above), FILES.get(below, below)) for above, below in ARROW.findall(ARCHITECTURE)]
)


def test_the_picture_has_every_package() -> None:
    assert sorted(PICTURE) == sorted(LAYERS)


def test_its_arrows_lead_downward() -> None:
    assert not [(above, below) for above, below in PICTURE.edges if LAYERS.index(above) < LAYERS.index(below)]


def test_each_import_of_a_package_follows_its_arrows() -> None:
    imports = {
        (package_of(module.name), package_of(target))
        for module in ENGINE.values()
        for target, _ in targets_of(module)
        if target in ENGINE
    }
    assert imports
    assert not [pair for pair in sorted(imports) if not nx.has_path(PICTURE, *pair)]


def test_each_package_is_described() -> None:
    packages = [layer for layer in LAYERS if layer not in ("", "__main__")]
    assert [
        one for one in packages if not re.search(rf"^- .*\*\*{one}\*\*", ARCHITECTURE, re.MULTILINE)
    ] == []


def test_each_file_that_is_named_exists() -> None:
    named = {*FILE.findall(ARCHITECTURE)}
    assert len(named) > 50
    assert not [file for file in sorted(named) if not (ROOT / file).exists()]


HOOK: Final[dict[str, Any]] = runpy.run_path(str(DOCS / "hooks" / "diagnostics_page.py"))


def test_each_code_has_one_heading_in_the_order_of_the_codes() -> None:
    headings = re.findall(r"^### (\w+)$", HOOK["codes"](), re.MULTILINE)
    assert headings == sorted(by_code(*installed_diagnostics().values()))


def test_characters_of_markdown_are_literal_outside_of_inline_code() -> None:
    kind = Kind(
        "XX0001",
        "`{name}` is not <here>",
        meaning="Takes *args, __all__ [x] and `*args`.",
        example="```\n{{ x }}",
        cure="Write `a < b`, not a < b.",
    )
    assert HOOK["section"](kind).split("\n\n") == [
        "### XX0001",
        "`` `NAME` is not <here> ``",
        r"Takes \*args, \_\_all\_\_ \[x\] and `*args`.",
        "Example:",
        "````text\n```\n{{ x }}\n````",
        "Write `a < b`, not a &lt; b.",
    ]


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
