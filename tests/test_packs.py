"""Packs: sets of node types, found by entry point and imported on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from dataflow import Pack, PackError, node, threaded
from dataflow.branching import IF, SWITCH
from dataflow.packs import find_type, type_of


async def fetch(url: str) -> str:
    return url


@threaded
def ocr(image: bytes) -> str:
    return ""


def blocking(x: int) -> int:
    return x


HERE = __name__


def test_a_pack_lists_nodes_by_name() -> None:
    other = node(name="other")(fetch)
    pack = Pack("shots", version="1.0", api=1, nodes=[fetch, ocr, other])
    assert (pack.name, pack.version, pack.api) == ("shots", "1.0", 1)
    assert pack.nodes == {"fetch": fetch, "ocr": ocr, "other": other}
    assert [pack.find(name).id for name in ("fetch", "ocr", "other")] == [
        "shots.fetch",
        "shots.ocr",
        "shots.other",
    ]


@pytest.mark.parametrize("wrap", [dict, MappingProxyType])
def test_a_pack_may_name_what_it_imports_on_first_use(wrap: Callable[[dict[str, str]], Any]) -> None:
    pack = Pack("shots", version="1.0", api=1, nodes=wrap({"get": f"{HERE}:fetch", "ocr": f"{HERE}:ocr"}))
    assert pack.find("get").id == "shots.get"
    assert pack.find("get").call is fetch
    assert list(pack.find("ocr").inputs) == ["image"]


def test_a_name_that_a_pack_has_twice_is_refused() -> None:
    with pytest.raises(PackError) as caught:
        Pack("shots", version="1.0", api=1, nodes=[fetch, node(name="fetch")(fetch)])
    assert str(caught.value) == "shots: names a node type twice"


def test_a_type_that_a_pack_has_not_is_told_with_the_choices() -> None:
    with pytest.raises(PackError) as caught:
        Pack("shots", version="1.0", api=1, nodes=[ocr, fetch]).find("scan")
    assert str(caught.value) == "shots.scan: pack 'shots' has no such type; choices: fetch, ocr"


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (
            "nowhere_at_all:x",
            "cannot be imported: ModuleNotFoundError: No module named 'nowhere_at_all'",
        ),
        ("math:nothing", "cannot be imported: AttributeError: module 'math' has no attribute 'nothing'"),
        ("math:pi", "is no function, but float"),
    ],
)
def test_what_a_pack_cannot_import_is_told(place: str, reason: str) -> None:
    with pytest.raises(PackError) as caught:
        Pack("shots", version="1.0", api=1, nodes={"x": place}).find("x")
    assert str(caught.value) == (f"shots.x of pack version 1.0: {place}: {reason}")


def test_what_makes_no_node_type_is_refused() -> None:
    with pytest.raises(PackError) as caught:
        Pack("shots", version="1.0", api=1, nodes=[blocking]).find("blocking")
    assert str(caught.value) == (
        "shots.blocking of pack version 1.0: shots.blocking cannot be imported: "
        "FlowInvalid: node type 'blocking' has 1 problem: "
        "- blocking is no async function: use `async def`, or @threaded for code that blocks"
    )


def test_a_type_keeps_its_id_or_takes_another() -> None:
    assert type_of(fetch).id == f"{HERE}:fetch"
    assert type_of(ocr).id == f"{HERE}:ocr"
    assert type_of(ocr, "shots.ocr").id == "shots.ocr"
    assert type_of(ocr) is ocr.type


@pytest.mark.parametrize(("id", "found"), [("control.if", IF), ("control.switch", SWITCH)])
def test_the_built_in_types_are_found(id: str, found: object) -> None:
    assert find_type(id) is found


def test_a_function_is_found_by_its_name() -> None:
    found = find_type(f"{HERE}:fetch")
    assert (found.id, found.call) == (f"{HERE}:fetch", fetch)
    assert find_type(f"{HERE}:ocr") is ocr.type


@pytest.mark.parametrize(
    ("id", "text"),
    [
        ("fetch", "fetch: is no node type: write pack.name, prefix.function or module:qualname"),
        ("", ": is no node type: write pack.name, prefix.function or module:qualname"),
        (
            "nowhere_at_all:x",
            "nowhere_at_all:x: cannot be imported: ModuleNotFoundError: No module named 'nowhere_at_all'",
        ),
        ("math:pi", "math:pi: is no function, but float"),
    ],
)
def test_what_is_not_found_is_told(id: str, text: str) -> None:
    with pytest.raises(PackError) as caught:
        find_type(id)
    assert str(caught.value) == text


PACKS = """
from dataflow import Pack

async def fetch(url: str) -> str:
    return url

good = Pack("made_up", version="1.0", api=1, nodes=[fetch])
newer = Pack("newer", version="1.0", api=2, nodes=[fetch])
no_pack = 3
"""
ENTRIES = """[dataflow.packs]
made_up = made_up_packs:good
newer = made_up_packs:newer
wrong = made_up_packs:no_pack
broken = made_up_packs:nothing
missing = made_up_nowhere:pack
"""


def install(folder: Path, name: str, entries: str) -> None:
    """Write what an installer leaves behind of a distribution."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(entries, encoding="utf-8")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "made_up_packs.py").write_text(PACKS, encoding="utf-8")
    install(tmp_path, "made_up", ENTRIES)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("made_up_packs", None)


def test_a_pack_is_found_by_its_entry_point(installed: Path) -> None:
    found = find_type("made_up.fetch")
    assert (found.id, list(found.inputs)) == ("made_up.fetch", ["url"])


@pytest.mark.parametrize(
    ("id", "text"),
    [
        ("made_up.scan", "made_up.scan: pack 'made_up' has no such type; choices: fetch"),
        ("newer.fetch", "newer: needs pack API 2, this release has 1"),
        ("wrong.fetch", "wrong: is no Pack"),
        (
            "broken.fetch",
            (
                "broken: the pack cannot be imported: AttributeError: "
                "module 'made_up_packs' has no attribute 'nothing'"
            ),
        ),
        (
            "missing.fetch",
            "missing: the pack cannot be imported: ModuleNotFoundError: No module named 'made_up_nowhere'",
        ),
    ],
)
def test_a_pack_that_cannot_be_used_is_told(installed: Path, id: str, text: str) -> None:
    with pytest.raises(PackError) as caught:
        find_type(id)
    assert str(caught.value) == text


def test_a_pack_that_is_not_installed_is_told_with_the_choices(installed: Path) -> None:
    with pytest.raises(PackError) as caught:
        find_type("nothing.fetch")
    known = sorted({entry.name for entry in metadata.entry_points(group="dataflow.packs")})
    assert {"broken", "made_up", "missing", "newer", "wrong"} <= set(known)
    assert str(caught.value) == f"nothing: no installed pack has this name; choices: {', '.join(known)}"


def test_a_pack_that_two_distributions_offer_is_refused(installed: Path) -> None:
    install(installed, "another", "[dataflow.packs]\nmade_up = made_up_packs:good\n")
    with pytest.raises(PackError) as caught:
        find_type("made_up.fetch")
    assert str(caught.value) == "made_up: is offered by another 1.0 and made_up 1.0; uninstall one of them"


def test_the_control_pack_is_found_where_the_project_is_installed() -> None:
    offered = [entry for entry in metadata.entry_points(group="dataflow.packs") if entry.name == "control"]
    found = find_type("control.read_text") if offered else find_type("dataflow_control.files:read_text")
    assert list(found.inputs) == ["path", "encoding"]
