"""Packs, found by entry point: one that cannot be used is told, and takes nothing else along (B53)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import pytest

from dataflow import Flow, Pack, PackError, node, threaded
from dataflow.authoring import InstalledNode
from dataflow.builder.builtin import IF, SWITCH
from dataflow.core.discovery import Offer, PackStatus, offers
from dataflow.packs.pack import type_of
from dataflow.packs.registry import InstalledPack, find_type, installed_packs, is_offered, shared_ids
from tests.support.codes import codes
from tests.support.processes import install


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


PACKS = """
from dataflow import Pack

async def fetch(url: str) -> str:
    return url

async def scan(url: str) -> str:
    return url

good = Pack("good", version="1.0", api=1, nodes=[fetch])
other = Pack("good", version="1.0", api=1, nodes=[scan, fetch])
scanning = Pack("good", version="1.0", api=1, nodes=[scan])
newer = Pack("newer", version="1.0", api=2, nodes=[fetch])
empty = Pack("empty", version="1.0", api=1, nodes={})
lazy = Pack("lazy", version="1.0", api=1, nodes={"far": "made_up_nowhere:far"})
no_pack = 3
"""
Install: TypeAlias = Callable[..., None]


@pytest.fixture
def installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    (tmp_path / "made_up_packs.py").write_text(PACKS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("DATAFLOW_DISABLE_PACKS", raising=False)

    def installing(name: str, entries: str, version: str = "1.0", files: tuple[str, ...] = ()) -> None:
        install(tmp_path, name, entries, version, files)

    yield installing
    sys.modules.pop("made_up_packs", None)


def refused(id: str) -> PackError:
    with pytest.raises(PackError) as caught:
        find_type(id)
    return caught.value


def fault_of(name: str) -> str:
    fault = listed(name).fault
    return "" if fault is None else fault.reason


def changed(folder: Path) -> None:
    stamp = folder.stat().st_mtime_ns
    os.utime(folder, ns=(1, stamp - 10**9))


def listed(name: str) -> InstalledPack:
    (found,) = installed_packs(name)
    return found


def test_an_unknown_id_is_refused() -> None:
    for id, problem in {
        "fetch": "DF1308 fetch",
        ".fetch": "DF1308 .fetch",
        "no-such-thing:good.fetch": "DF1307 no-such-thing:good.fetch",
        "nothing.x": "DF1306 nothing.x",
        "control.iff": "DF1305 control.iff",
        "nowhere_at_all:x": "DF0428 nowhere_at_all:x",
    }.items():
        assert codes(refused(id)) == [problem]
    assert refused("nothing.x").diagnostics[0].available == tuple(sorted({offer.pack for offer in offers()}))
    assert "if" in (refused("control.iff").diagnostics[0].available or ())


def test_a_pack_is_found_by_its_entry_point(installs: Install) -> None:
    installs("shots", "good = made_up_packs:good")
    found = find_type("good.fetch")
    assert (found.id, list(found.inputs)) == ("good.fetch", ["url"])
    assert find_type("good.fetch") is found
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: find_type("good.fetch"), range(64))) == {found}


ENTRIES = """
good = made_up_packs:good
newer = made_up_packs:newer
wrong = made_up_packs:no_pack
called = made_up_packs:good
broken = made_up_packs:nothing
missing = made_up_nowhere:pack
lazy = made_up_packs:lazy
empty = made_up_packs:empty
"""


def test_a_pack_that_cannot_be_used_does_not_affect_the_others(installs: Install) -> None:
    installs("shots", ENTRIES, "2.1")
    for id, problem in {
        "good.scan": "DF1305 good.scan",
        "newer.x": "DF1313 newer.x: pack 'newer' of shots 2.1",
        "wrong.x": "DF1311 wrong.x: pack 'wrong' of shots 2.1",
        "called.x": "DF1312 called.x: pack 'called' of shots 2.1",
        "broken.x": "DF0428 broken.x: pack 'broken' of shots 2.1: made_up_packs:nothing",
        "missing.x": "DF0428 missing.x: pack 'missing' of shots 2.1: made_up_nowhere:pack",
        "lazy.far": "DF0428 lazy.far of shots 2.1: made_up_nowhere:far",
    }.items():
        assert codes(refused(id)) == [problem]
    assert find_type("good.fetch").id == "good.fetch"
    good = Offer("good", "made_up_packs:good", "shots", "2.1")
    assert listed("good") == InstalledPack(good, PackStatus.OK, ["good.fetch"])
    assert (listed("empty").status, listed("empty").types) == (PackStatus.EMPTY, [])
    assert listed("lazy").types == ["lazy.far"]  # although it cannot be imported: that is not tried
    broken = listed("missing")
    assert (broken.status, broken.types) == (PackStatus.ERROR, ())
    assert broken.fault is not None
    assert broken.fault.error is not None
    assert isinstance(broken.fault.error.__cause__, ModuleNotFoundError)  # with its traceback


def test_a_pack_can_be_disabled(installs: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    installs("shots", "good = made_up_packs:good")
    for value in ("good", " newer , good", "*"):
        monkeypatch.setenv("DATAFLOW_DISABLE_PACKS", value)
        assert codes(refused("good.fetch")) == ["DF1315 good.fetch: pack 'good' of shots 1.0"]
        assert "made_up_packs" not in sys.modules
        assert listed("good").status is PackStatus.DISABLED
        assert f"DATAFLOW_DISABLE_PACKS={value}" in fault_of("good")
        assert find_type("control.if") is IF


def test_a_type_of_two_distributions_is_picked_by_its_distribution(installs: Install) -> None:
    installs("made-up.shots", "good = made_up_packs:good")
    installs("another", "good = made_up_packs:other", "2.0")
    problem = refused("good.fetch").diagnostics[0]
    assert (problem.code, problem.place) == ("DF1309", "good.fetch")
    assert problem.hint == "write another:good.fetch or made-up.shots:good.fetch"
    assert shared_ids(installed_packs())["good.fetch"] == ["another 2.0", "made-up.shots 1.0"]
    assert find_type("another:good.fetch") is not find_type("made-up.shots:good.fetch")
    assert find_type("Made_Up_Shots:good.fetch") is find_type("made-up.shots:good.fetch")
    assert find_type("good.scan") is find_type("another:good.scan")
    other = refused("the-third:good.fetch").diagnostics[0]
    assert (other.code, other.available) == ("DF1307", ("another", "made-up.shots"))


def test_metadata_that_cannot_be_read_are_reported(installs: Install, tmp_path: Path) -> None:
    installs("shots", "good = made_up_packs:good")
    installs("torn", "this line has no value")
    found = listed("(unreadable)")
    assert (found.offer.distribution, found.status) == ("torn", PackStatus.ERROR)
    assert fault_of("(unreadable)").startswith("DF1320 ")
    assert find_type("good.fetch").id == "good.fetch"
    info = tmp_path / "torn-1.0.dist-info"
    for file in ("entry_points.txt", "METADATA"):
        info.joinpath("entry_points.txt").write_text("[dataflow.packs]\nx = y:z\n", encoding="utf-8")
        info.joinpath(file).write_bytes(b"[dataflow.packs]\nx = y:z\n\xff\xfe\x00")
        changed(tmp_path)
        assert find_type("good.fetch").id == "good.fetch"
        assert [pack.status for pack in installed_packs("(unreadable)")] == [PackStatus.ERROR]


def test_a_distribution_that_is_installed_later_is_found(installs: Install, tmp_path: Path) -> None:
    assert not is_offered("good.fetch")
    installs("shots", "good = made_up_packs:good")
    changed(tmp_path)
    assert is_offered("good.fetch")
    assert is_offered("shots:good.fetch")
