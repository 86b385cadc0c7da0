"""The page on the architecture: its picture is that of the imports, and the files it names are there."""

from __future__ import annotations

import re
from typing import Final

import networkx as nx

from tests.docs.pages import DOCS, ROOT
from tests.house.test_architecture import ENGINE, LAYERS, package_of, targets_of

PAGE: Final = (DOCS / "contributing" / "architecture.md").read_text(encoding="utf-8")
ARROW: Final = re.compile(r"^    (\w+)(?:\[\"\w+\"\])? --> (\w+)$", re.MULTILINE)
FILE: Final = re.compile(r"`((?:dataflow|docs|nodes|tests)/[\w./-]+)`")
#: What the nodes of the picture are called in the list of layers.
NAMED: Final = {"main": "__main__", "dataflow": ""}
PICTURE: Final[nx.DiGraph[str]] = nx.DiGraph(
    [(NAMED.get(above, above), NAMED.get(below, below)) for above, below in ARROW.findall(PAGE)]
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
    assert [one for one in packages if not re.search(rf"^- .*\*\*{one}\*\*", PAGE, re.MULTILINE)] == []


def test_each_file_that_is_named_exists() -> None:
    named = {*FILE.findall(PAGE)}
    assert len(named) > 50
    assert not [file for file in sorted(named) if not (ROOT / file).exists()]
