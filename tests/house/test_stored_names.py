"""Stored names: what was stored under the paths of modules is read wherever these are now (S12.3, S20)."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

from dataflow import Flow, PackError, RunFailed, StoreError
from dataflow.authoring import import_function, name_of_function
from dataflow.core.discovery import OWN_PACKS
from dataflow.core.former_names import former_names, listed_ids, place_of
from dataflow.durable.edits import compare
from dataflow.durable.graph_signature import FlowShape, in_terms_of, shape_of
from dataflow.durable.storable import storable_of
from dataflow.packs.registry import find_type
from dataflow.stores.sqlite import SqliteStore
from dataflow.values.classes import class_name, classes_of
from dataflow.values.reader import Reader
from dataflow_agent import scripted, tools
from dataflow_agent.toolkit.functions import is_same_tool
from dataflow_control import read_text
from tests.stored_names import BROKEN, CASES, DOCUMENTS, FOLDER, desk_at, read, store_at
from tests.support.installed import install
from tests.support.source import PACKAGES, modules_of

#: What is written as the path of a module of the engine, of a pack or of a format.
HELP: Final = "dataflow.formats.agentron.helping:request_user_help"
OF_A_MODULE: Final = re.compile(r"\bdataflow(?:_\w+)?(?:\.\w+)+:")


MODULES: Final = [module for package in PACKAGES for module in modules_of(package)]


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk_at(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")


@pytest.mark.parametrize("name", CASES)
async def test_a_run_that_was_stored_under_the_names_of_modules_goes_on(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    runs = store_at(tmp_path / "runs.db")
    store = SqliteStore(tmp_path / "runs.db")
    with scripted(*case.then_says) as script:
        result = await case.flow().using(store=store, memo=store).resume(runs[name], case.answers)
    assert {key: result.outputs[key] for key in case.outputs} == case.outputs
    assert result.status == ("completed" if case.outputs else "paused")
    assert len(script.requests) == len(case.then_says)  # nothing that stands is done again


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_with_the_names_of_modules_is_the_flow_that_it_was(name: str) -> None:
    flow = Flow.load(FOLDER / f"{name}.native.yaml")
    assert flow.check() == []
    found, expected = ({**one.to_dict(), "name": ""} for one in (flow, DOCUMENTS[name]()))
    assert json.loads(json.dumps(found).replace(HELP, "agentron:request_user_help")) == expected


@pytest.mark.parametrize("name", DOCUMENTS)
async def test_a_document_with_the_names_of_modules_runs(name: str) -> None:
    case = CASES[name]
    flow = Flow.load(FOLDER / f"{name}.native.yaml")
    with scripted(*(case.says or ("said",))) as script:
        if BROKEN in case.says:
            with pytest.raises(RunFailed, match="the script says so"):
                await flow.run(**case.inputs)
        else:
            result = await flow.run(**case.inputs)
            assert result.status == ("completed" if name == "clickweave" else "paused")
    assert len(script.requests) == len(case.says)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_that_is_written_names_no_module_of_ours(name: str) -> None:
    assert OF_A_MODULE.findall(json.dumps(DOCUMENTS[name]().to_dict())) == []


@pytest.mark.parametrize("name", CASES)
def test_what_is_stored_of_a_flow_names_no_module_of_ours(name: str) -> None:
    storable = storable_of(CASES[name].flow().compile())
    assert OF_A_MODULE.findall(" ".join([*storable.classes.forms, storable.shape])) == []
    assert not storable.classes.twice


def test_no_class_of_ours_is_stored_under_its_module() -> None:
    modules = [import_module(one.name) for one in MODULES if not one.name.endswith("__main__")]
    names = {
        class_name(kind)
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__ == module.__name__
    }
    assert {"dataflow:Message", "agent:Toolbox", "agentron:Walk", "cagent:State"} <= names
    assert [one for one in sorted(names) if one.partition(":")[0] not in {"dataflow", *OWN_PACKS}] == []


def test_each_former_name_stands_for_a_name_of_its_own() -> None:
    former = former_names()
    assert len({*former.values()}) == len(former)
    assert [one for one in former.values() if OF_A_MODULE.search(one)] == []


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("dataflow_agent.offering:tools", "dataflow_agent.servers.offers:tools"),
        ("agent:tools", "dataflow_agent:tools"),
        ("agentron:next_node", "dataflow_formats.agentron.nodes:next_node"),
        ("agentron:request_user_help", "dataflow_formats.agentron:request_user_help"),
        ("dataflow.messages:Message", "dataflow:Message"),
        ("agent:nothing", None),
    ],
)
def test_a_name_leads_to_where_its_function_is(name: str, place: str | None) -> None:
    assert place_of(name) == place


def test_a_toolbox_has_the_public_names_of_functions() -> None:
    assert [source.references for source in tools(read_text, read).sources] == [  # type: ignore[union-attr]
        ("control:read_text", "tests.stored_names:read")
    ]
    assert is_same_tool("dataflow_control.files:read_text", "control:read_text")
    assert not is_same_tool("dataflow_control.files:write_text", "control:read_text")


@pytest.fixture
def moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Install a pack whose module `moved.before` is called `moved.after` by now."""
    folder = tmp_path / "moved"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        """
from dataflow import Pack
from moved.after import Thing, half, shout

__stored_as__ = "moved"
pack = Pack("moved", version="1", api=1, nodes={"shout": "moved.after:shout"}, former={
    f"moved.before:{name}": f"moved:{name}" for name in ("Thing", "half", "shout")
})
""",
        encoding="utf-8",
    )
    (folder / "after.py").write_text(
        """
from dataclasses import dataclass
@dataclass
class Thing:
    size: int
def half(value: int) -> int:
    return value // 2
async def shout(text: str) -> Thing:
    return Thing(len(text))
""",
        encoding="utf-8",
    )
    install(tmp_path, "moved-pack", "moved = moved:pack")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield import_module("moved.after")
    for name in ("moved", "moved.after"):
        sys.modules.pop(name, None)


def test_a_class_is_read_under_its_former_name(moved: ModuleType) -> None:
    classes = classes_of([moved.Thing])
    assert [*classes.forms][-1] == "moved:Thing"
    reader = Reader(classes, lambda _: b"", "runs.db")
    assert [reader.read({"$": name, "v": {"size": 3}}) for name in ("moved.before:Thing", "moved:Thing")] == [
        moved.Thing(3)
    ] * 2
    with pytest.raises(StoreError, match=r"no type of the flow's ports names a class 'moved.before:Other'"):
        reader.read({"$": "moved.before:Other", "v": {"size": 3}})


@pytest.mark.parametrize("name", ["moved.before:half", "moved:half", "moved.after:half"])
def test_a_function_is_found_under_its_former_name(moved: ModuleType, name: str) -> None:
    assert import_function(name) is moved.half
    assert name_of_function(moved.half) == "moved:half"


@pytest.mark.parametrize("name", ["moved.before:other", "moved:other", "gone.before:half"])
def test_what_no_pack_has_renamed_is_not_found(moved: ModuleType, name: str) -> None:
    with pytest.raises(PackError, match=r"cannot be imported: (Attribute|ModuleNotFound)Error"):
        import_function(name)


@pytest.mark.parametrize("id", ["moved.before:shout", "moved:shout", "moved.shout"])
def test_a_node_type_is_found_and_written_by_its_pack(moved: ModuleType, id: str) -> None:
    assert find_type(id).call is moved.shout
    with Flow("one") as flow:
        flow.add(moved.shout, text="a")
    assert flow.to_dict()["nodes"] == {"shout": {"type": "moved.shout", "values": {"text": "a"}}}


def test_shapes_with_former_names_are_those_of_the_flow() -> None:
    plan = CASES["tools"].flow().compile()
    present, former = shape_of(plan), shape_of(plan, {now: old for old, now in former_names().items()})
    assert not compare(former, present).is_none
    assert compare(former, in_terms_of(former, present, former, listed_ids())).is_none
    [address] = [one for one in present.entries if one.endswith("/begin") and one.count("/") == 1]
    entry = former.entries[address]._replace(config="another")
    edited = FlowShape({**former.entries, address: entry})
    assert compare(edited, in_terms_of(edited, present, former, listed_ids())).changed == {
        address: ("config",)
    }


def test_a_script_that_is_called_like_a_pack_is_not_imported_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agentron.py").write_text("raise AssertionError", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert import_function("agentron:request_user_help").__name__ == "request_user_help"
