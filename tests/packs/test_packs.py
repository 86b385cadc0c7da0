"""Packs: sets of node types, found by entry point and imported on first use."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest

from dataflow import Flow, Pack, PackError, node, threaded
from dataflow.packs.pack import type_of


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
    assert str(caught.value) == "shots: names the node type 'fetch' twice"


@pytest.mark.parametrize(
    ("name", "nodes", "text"),
    [
        ("sho.ts", [], "sho.ts: is no name of a pack; expected {names}"),
        ("", [], ": is no name of a pack; expected {names}"),
        ("shots", {"a b": "m:f"}, "shots: node type 'a b': expected {names} for a name"),
        ("shots", {"a": "m.f"}, "shots: node type 'a': expected `module:object`, found 'm.f'"),
        ("shots", {"a": 3}, "shots: node type 'a': expected a node, a flow or an async function, found int"),
        ("shots", [lambda: None], "shots: node type '<lambda>': expected {names} for a name"),
    ],
)
def test_what_makes_no_pack_is_refused(name: str, nodes: Any, text: str) -> None:
    with pytest.raises(PackError) as caught:
        Pack(name, version="1.0", api=1, nodes=nodes)
    assert str(caught.value) == text.format(names="letters, digits, _ and -, the first of them a letter")


def test_a_pack_may_hold_a_flow() -> None:
    with Flow("double") as double:
        double.output("text", double.add(fetch, url=double.input("url", str)).out)
    found = Pack("shots", version="1.0", api=1, nodes=[double]).find("double")
    assert (found.id, list(found.inputs), list(found.outputs)) == ("shots.double", ["url"], ["text"])


def test_a_type_is_made_once() -> None:
    pack = Pack("shots", version="1.0", api=1, nodes=[fetch])
    assert pack.find("fetch") is pack.find("fetch")


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
    assert str(caught.value) == f"shots.x: {place}: {reason}"


def test_what_makes_no_node_type_is_refused() -> None:
    with pytest.raises(PackError) as caught:
        Pack("shots", version="1.0", api=1, nodes=[blocking]).find("blocking", "shots-extra 1.2")
    assert str(caught.value) == (
        "shots.blocking of shots-extra 1.2: makes no node type: "
        "blocking is no async function: use `async def`, or @threaded for code that blocks"
    )


def test_a_type_keeps_its_id_or_takes_another() -> None:
    assert type_of(fetch).id == f"{HERE}:fetch"
    assert type_of(ocr).id == f"{HERE}:ocr"
    assert type_of(ocr, "shots.ocr").id == "shots.ocr"
    assert type_of(ocr) is ocr.type
