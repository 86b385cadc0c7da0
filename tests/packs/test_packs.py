"""Packs as sets of node types, and node types that Python code places by their ids."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from dataflow import Flow, Pack, PackError, node, threaded
from dataflow.authoring import InstalledNode
from dataflow.builder.builtin import IF, SWITCH
from dataflow.packs.pack import type_of
from dataflow.packs.registry import find_type
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


def test_a_pack_lists_nodes_by_name_or_imports_them_on_first_use() -> None:
    other = node(name="other")(fetch)
    with Flow("double") as double:
        double.output("text", double.add(fetch, url=double.input("url", str)).out)
    pack = pack_of([fetch, ocr, other, double])
    assert (pack.name, pack.version, pack.api) == ("shots", "1.0", 1)
    assert pack.nodes == {"fetch": fetch, "ocr": ocr, "other": other, "double": double}
    assert [pack.find(name).id for name in pack.nodes] == [f"shots.{name}" for name in pack.nodes]
    assert pack.find("fetch") is pack.find("fetch")
    assert (list(pack.find("double").inputs), list(pack.find("double").outputs)) == (["url"], ["text"])
    for wrap in (dict, MappingProxyType):
        pack = pack_of(wrap({"get": f"{HERE}:fetch", "ocr": f"{HERE}:ocr"}))
        assert (pack.find("get").id, pack.find("get").call) == ("shots.get", fetch)
        assert list(pack.find("ocr").inputs) == ["image"]


def test_a_type_is_found_by_its_id_or_by_the_name_of_its_function() -> None:
    assert (find_type("control.if"), find_type("dataflow-engine:control.switch")) == (IF, SWITCH)
    found = find_type(f"{HERE}:fetch")
    assert (found.id, found.call, type_of(fetch).id) == (f"{HERE}:fetch", fetch, f"{HERE}:fetch")
    assert find_type(f"{HERE}:ocr") is type_of(ocr) is ocr.type
    assert type_of(ocr, "shots.ocr").id == "shots.ocr"
    assert find_type("dataflow-engine:control.delay") is find_type("control.delay")


def test_a_node_type_is_placed_by_its_id_with_settings_of_its_own() -> None:
    first = InstalledNode("control.template")
    before = first.type.policy
    with Flow("one") as flow:
        for placed in (first, first.with_(name="greeting", retries=2)):
            flow.output(placed.name, flow.add(placed, config=placed.config(template="hello")).out)
    assert flow.run_sync().outputs == {"template": "hello", "greeting": "hello"}
    written = {"type": "control.template", "config": {"template": "hello"}}
    retried = {**written, "policy": {"retry": {"retries": 2}}}
    assert flow.to_dict()["nodes"] == {"template": written, "greeting": retried}
    assert first.name == "template"
    assert first.type.policy is before


def test_a_type_that_cannot_be_imported_or_that_no_pack_has_is_refused() -> None:
    with pytest.raises(PackError, match=r"DF1304 shots\.blocking of shots-extra 1\.2:"):
        pack_of([blocking]).find("blocking", "shots-extra 1.2")
    for place, code in (("nowhere_at_all:x", "DF0428"), ("math:nothing", "DF0428"), ("math:pi", "DF0429")):
        with pytest.raises(PackError) as caught:
            pack_of({"x": place}).find("x")
        assert codes(caught.value) == [f"{code} shots.x: {place}"]
    with pytest.raises(PackError, match=r"DF1306 contrl\.template:"):
        Flow("one").add(InstalledNode("contrl.template"))
