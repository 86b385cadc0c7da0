"""Packs: sets of node types, found by entry point and imported on first use."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from dataflow import Flow, Pack, PackError, node, threaded
from dataflow.packs.pack import type_of
from tests.support.codes import codes


async def fetch(url: str) -> str:
    return url


@threaded
def ocr(image: bytes) -> str:
    return ""


def blocking(x: int) -> int:
    return x


HERE = __name__


def pack_of(nodes: Any) -> Pack:
    return Pack("shots", version="1.0", api=1, nodes=nodes)


def test_a_pack_lists_nodes_by_name() -> None:
    other = node(name="other")(fetch)
    with Flow("double") as double:
        double.output("text", double.add(fetch, url=double.input("url", str)).out)
    pack = pack_of([fetch, ocr, other, double])
    assert (pack.name, pack.version, pack.api) == ("shots", "1.0", 1)
    assert pack.nodes == {"fetch": fetch, "ocr": ocr, "other": other, "double": double}
    assert [pack.find(name).id for name in pack.nodes] == [f"shots.{name}" for name in pack.nodes]
    assert pack.find("fetch") is pack.find("fetch")
    assert (list(pack.find("double").inputs), list(pack.find("double").outputs)) == (["url"], ["text"])


def test_a_pack_may_name_what_it_imports_on_first_use() -> None:
    for wrap in (dict, MappingProxyType):
        pack = pack_of(wrap({"get": f"{HERE}:fetch", "ocr": f"{HERE}:ocr"}))
        assert (pack.find("get").id, pack.find("get").call) == ("shots.get", fetch)
        assert list(pack.find("ocr").inputs) == ["image"]


def test_a_name_without_letters_or_of_a_lambda_is_refused() -> None:
    nodes: Any
    for name, nodes, problem in [
        ("", [], "DF1301"),
        ("shots", [lambda: None], "DF1301 shots: node type '<lambda>'"),
    ]:
        with pytest.raises(PackError) as caught:
            Pack(name, version="1.0", api=1, nodes=nodes)
        assert codes(caught.value) == [problem]


def test_a_type_that_cannot_be_imported_is_refused() -> None:
    with pytest.raises(PackError, match=r"DF1304 shots\.blocking of shots-extra 1\.2:"):
        pack_of([blocking]).find("blocking", "shots-extra 1.2")
    for place, code in (("nowhere_at_all:x", "DF0428"), ("math:nothing", "DF0428"), ("math:pi", "DF0429")):
        with pytest.raises(PackError) as caught:
            pack_of({"x": place}).find("x")
        assert codes(caught.value) == [f"{code} shots.x: {place}"]


def test_a_type_keeps_its_id_or_takes_another() -> None:
    assert type_of(fetch).id == f"{HERE}:fetch"
    assert type_of(ocr).id == f"{HERE}:ocr"
    assert type_of(ocr, "shots.ocr").id == "shots.ocr"
    assert type_of(ocr) is ocr.type
