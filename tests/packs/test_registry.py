# ruff: noqa: E501 - messages are compared whole
"""Installed packs: one that cannot be used is told, and takes nothing else along (B53)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

import pytest

from dataflow import PackError, threaded
from dataflow.builder.builtin import IF, SWITCH
from dataflow.core.discovery import Fault, Offer, PackStatus, offers
from dataflow.packs.registry import InstalledPack, find_type, installed_packs, is_offered, shared_ids
from tests.support.installed import install

HERE = __name__

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
control = Pack("control", version="9", api=1, nodes=[fetch])
no_pack = 3
"""
Install: TypeAlias = Callable[..., None]


async def fetch(url: str) -> str:
    return url


@threaded
def ocr(image: bytes) -> str:
    return ""


@pytest.fixture
def installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    (tmp_path / "made_up_packs.py").write_text(PACKS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("DATAFLOW_DISABLE_PACKS", raising=False)

    def installing(name: str, entries: str, version: str = "1.0", files: tuple[str, ...] = ()) -> None:
        install(tmp_path, name, entries, version, files)

    yield installing
    sys.modules.pop("made_up_packs", None)


def told(id: str) -> str:
    with pytest.raises(PackError) as caught:
        find_type(id)
    return str(caught.value)


def listed(name: str) -> InstalledPack:
    (found,) = installed_packs(name)
    return found


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
        (".fetch", ".fetch: is no node type: write pack.name, prefix.function or module:qualname"),
        (
            "nowhere_at_all:x",
            "nowhere_at_all:x: cannot be imported: ModuleNotFoundError: No module named 'nowhere_at_all'",
        ),
        ("math:pi", "math:pi: is no function, but float"),
        (
            "no-such-thing:good.fetch",
            "no-such-thing:good.fetch: no installed distribution 'no-such-thing' offers a pack 'good'; there are none",
        ),
    ],
)
def test_what_is_not_found_is_told(id: str, text: str) -> None:
    assert told(id) == text


def test_a_pack_is_found_by_its_entry_point(installs: Install) -> None:
    installs("shots", "good = made_up_packs:good")
    found = find_type("good.fetch")
    assert (found.id, list(found.inputs)) == ("good.fetch", ["url"])
    assert find_type("good.fetch") is found


ENTRIES = """
good = made_up_packs:good
newer = made_up_packs:newer
wrong = made_up_packs:no_pack
called = made_up_packs:good
broken = made_up_packs:nothing
missing = made_up_nowhere:pack
lazy = made_up_packs:lazy
"""


@pytest.mark.parametrize(
    ("id", "text"),
    [
        ("good.scan", "good.scan: pack 'good' of shots 1.0 has no such type; choices: fetch"),
        ("newer.x", "newer.x: pack 'newer' of shots 1.0: needs pack API 2, this release has 1"),
        (
            "wrong.x",
            "wrong.x: pack 'wrong' of shots 1.0: made_up_packs:no_pack is of type int; expected a dataflow.Pack",
        ),
        (
            "called.x",
            "called.x: pack 'called' of shots 1.0: calls itself 'good'; its entry point has to bear the same name",
        ),
        (
            "broken.x",
            (
                "broken.x: pack 'broken' of shots 1.0: made_up_packs:nothing cannot be imported: AttributeError: "
                "module 'made_up_packs' has no attribute 'nothing'"
            ),
        ),
        (
            "missing.x",
            (
                "missing.x: pack 'missing' of shots 1.0: made_up_nowhere:pack cannot be imported: "
                "ModuleNotFoundError: No module named 'made_up_nowhere'"
            ),
        ),
        (
            "lazy.far",
            (
                "lazy.far of shots 1.0: made_up_nowhere:far: cannot be imported: "
                "ModuleNotFoundError: No module named 'made_up_nowhere'"
            ),
        ),
    ],
)
def test_a_pack_that_cannot_be_used_is_told_and_the_others_work(
    installs: Install, id: str, text: str
) -> None:
    installs("shots", ENTRIES)
    assert told(id) == text
    assert find_type("good.fetch").id == "good.fetch"


def test_a_pack_that_is_not_installed_is_told_with_the_choices(installs: Install) -> None:
    installs("shots", "good = made_up_packs:good")
    known = sorted({offer.pack for offer in offers()})
    assert "good" in known
    assert (
        told("nothing.x") == f"nothing.x: no installed pack is called 'nothing'; choices: {', '.join(known)}"
    )


def test_the_list_says_what_has_become_of_each_pack(installs: Install) -> None:
    installs("shots", ENTRIES + "empty = made_up_packs:empty", "2.1")
    good = Offer("good", "made_up_packs:good", "shots", "2.1")
    assert listed("good") == InstalledPack(good, PackStatus.OK, ["good.fetch"])
    assert (listed("empty").status, listed("empty").types) == (PackStatus.EMPTY, [])
    assert listed("lazy").types == ["lazy.far"]  # although it cannot be imported: that is not tried
    broken = listed("missing")
    assert (broken.status, broken.types) == (PackStatus.ERROR, ())
    assert broken.fault is not None
    assert broken.fault.error is not None
    assert isinstance(broken.fault.error.__cause__, ModuleNotFoundError)  # with its traceback


@pytest.mark.parametrize("value", ["good", " newer , good", "*"])
def test_a_pack_can_be_disabled(installs: Install, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    installs("shots", "good = made_up_packs:good")
    monkeypatch.setenv("DATAFLOW_DISABLE_PACKS", value)
    reason = f"is disabled by DATAFLOW_DISABLE_PACKS={value}"
    assert told("good.fetch") == f"good.fetch: pack 'good' of shots 1.0: {reason}"
    assert "made_up_packs" not in sys.modules
    assert listed("good").fault == Fault(PackStatus.DISABLED, reason)
    assert find_type("control.if") is IF


def test_a_type_of_two_distributions_is_picked_by_its_distribution(installs: Install) -> None:
    installs("made-up.shots", "good = made_up_packs:good")
    installs("another", "good = made_up_packs:other", "2.0")
    assert told("good.fetch") == (
        "good.fetch: is offered by another 2.0 and made-up.shots 1.0; "
        "write another:good.fetch or made-up.shots:good.fetch"
    )
    assert shared_ids(installed_packs())["good.fetch"] == ["another 2.0", "made-up.shots 1.0"]
    assert find_type("another:good.fetch") is not find_type("made-up.shots:good.fetch")
    assert find_type("Made_Up_Shots:good.fetch") is find_type("made-up.shots:good.fetch")
    assert find_type("good.scan") is find_type("another:good.scan")
    assert told("the-third:good.fetch") == (
        "the-third:good.fetch: no installed distribution 'the-third' offers a pack 'good'; "
        "choices: another, made-up.shots"
    )


def test_two_distributions_may_offer_different_types_of_one_pack(installs: Install) -> None:
    installs("shots", "good = made_up_packs:good")
    installs("another", "good = made_up_packs:scanning")
    assert [find_type(id).id for id in ("good.fetch", "good.scan")] == ["good.fetch", "good.scan"]
    assert "good.fetch" not in shared_ids(installed_packs())


def test_a_broken_pack_does_not_hide_another_of_its_name(installs: Install) -> None:
    installs("shots", "good = made_up_packs:good")
    installs("another", "good = made_up_nowhere:good")
    assert find_type("good.fetch").id == "good.fetch"
    assert told("good.scan") == (
        "good.scan: pack 'good' of another 1.0: made_up_nowhere:good cannot be imported: "
        "ModuleNotFoundError: No module named 'made_up_nowhere'"
    )


def test_a_pack_of_the_engine_is_not_replaced(installs: Install) -> None:
    installs("another", "control = made_up_packs:control")
    reason = "has the name of a pack that comes with dataflow-engine; those cannot be replaced"
    assert told("another:control.fetch") == f"another:control.fetch: pack 'control' of another 1.0: {reason}"
    (found,) = [pack for pack in installed_packs() if pack.offer.distribution == "another"]
    assert found.fault == Fault(PackStatus.ERROR, reason)
    assert find_type("control.read_text").id == "control.read_text"


def test_a_module_that_two_distributions_have_installed_is_told(installs: Install) -> None:
    installs("shots", "good = made_up_packs:good", files=("made_up_packs.py",))
    installs("another", "fine = made_up_packs:good", "2.0", files=("x.py", "made_up_packs.py"))
    assert told("good.fetch").startswith("good.fetch: pack 'good' of shots 1.0: its file made_up_packs.py is")
    for label in ("shots 1.0", "another 2.0"):
        assert f"installed by {label}" in told("good.fetch") or f"by {label}" in told("good.fetch")
    assert [listed(name).status for name in ("good", "fine")] == [PackStatus.ERROR] * 2


def test_distributions_may_share_a_namespace(installs: Install) -> None:
    installs("shots", "good = made_up_packs:good", files=("made_up_packs.py", "space/one.py"))
    installs("another", "fine = made_up_nowhere:pack", files=("space/two.py",))
    assert listed("good").status is PackStatus.OK


def test_an_entry_that_stands_twice_is_told(installs: Install) -> None:
    installs("shots", "good = made_up_packs:good\ngood = made_up_packs:other\nlazy = made_up_packs:lazy")
    assert told("good.fetch") == (
        "good.fetch: pack 'good' of shots 1.0: is offered twice by it: as made_up_packs:good and as made_up_packs:other"
    )
    assert listed("lazy").status is PackStatus.OK


def test_metadata_that_cannot_be_read_are_told(installs: Install) -> None:
    installs("shots", "good = made_up_packs:good")
    installs("torn", "this line has no value")
    found = listed("(unreadable)")
    assert (found.offer.distribution, found.status) == ("torn", PackStatus.ERROR)
    assert found.fault is not None
    assert found.fault.reason.startswith("its metadata cannot be read: ")
    assert find_type("good.fetch").id == "good.fetch"


def test_a_distribution_that_is_installed_later_is_found(installs: Install, tmp_path: Path) -> None:
    assert not is_offered("good.fetch")
    installs("shots", "good = made_up_packs:good")
    os.utime(tmp_path, ns=(1, 1))  # a change that no clock is too coarse for
    assert is_offered("good.fetch")
    assert is_offered("shots:good.fetch")


def test_the_first_of_a_name_on_the_search_path_counts(
    installs: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installs("shots", "good = made_up_packs:good", "2.0")
    older = tmp_path / "older"
    older.mkdir()
    install(older, "Shots", "good = made_up_packs:scanning", "1.0")
    monkeypatch.setattr(sys, "path", [*sys.path, str(older)])
    assert (listed("good").offer.version, listed("good").types) == ("2.0", ["good.fetch"])


def test_what_a_shadowed_distribution_offers_is_not_there(
    installs: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installs("shots", "lazy = made_up_packs:lazy", "2.0")
    older = tmp_path / "older"
    older.mkdir()
    install(older, "shots", "good = made_up_packs:good", "1.0")
    monkeypatch.setattr(sys, "path", [*sys.path, str(older)])
    assert not installed_packs("good")


@pytest.mark.parametrize("file", ["entry_points.txt", "METADATA"])
def test_a_distribution_with_bytes_for_metadata_disables_nothing_else(
    installs: Install, tmp_path: Path, file: str
) -> None:
    installs("shots", "good = made_up_packs:good")
    installs("torn", "other = made_up_packs:other")
    (tmp_path / "torn-1.0.dist-info" / file).write_bytes(b"[dataflow.packs]\nx = y:z\n\xff\xfe\x00")
    assert find_type("good.fetch").id == "good.fetch"
    assert [pack.status for pack in installed_packs("(unreadable)")] == [PackStatus.ERROR]


def test_a_search_path_may_hold_what_imports_pass_over(installs: Install, tmp_path: Path) -> None:
    installs("shots", "good = made_up_packs:good")
    program = (
        f"import sys; from {find_type.__module__} import find_type; "
        f"sys.path[:] = [{str(tmp_path)!r}, *sys.path, 3, None, b'bytes', 'a\\0b', '/nowhere/at/all']; "
        "print(find_type('good.fetch').id)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("good.fetch\n", "")


def test_threads_that_look_a_type_up_at_once_get_one(installs: Install) -> None:
    installs("shots", "good = made_up_packs:good")
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: find_type("good.fetch"), range(64)))
    assert len(found) == 1


def test_the_engine_can_be_named_as_the_distribution_of_its_types(installs: Install) -> None:
    assert find_type("dataflow-engine:control.if") is IF
    assert find_type("dataflow-engine:control.delay") is find_type("control.delay")
    assert "if" in told("control.iff")
