"""Stored names: what was stored under the paths of modules is read wherever these are now (S12.3, S20)."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final, TypeAlias

import pytest

from dataflow import Flow, FlowInvalid, PackError, RunFailed, StoreError, diff
from dataflow.authoring import import_function, name_of_function
from dataflow.core.discovery import OWN_PACKS
from dataflow.core.former_names import former_names, generations, listed_ids
from dataflow.core.public_names import public_place
from dataflow.durable.edits import compare, in_names_of
from dataflow.durable.graph_signature import FlowShape, NodeShape, is_code_known, shape_of
from dataflow.durable.storable import storable_of
from dataflow.inspection.diff import needs_flow
from dataflow.inspection.stored_reasons import plan_if_unedited
from dataflow.inspection.stored_run import read_run
from dataflow.packs.registry import find_type, installed_packs
from dataflow.stores.sqlite import SqliteStore
from dataflow.values.classes import class_name, classes_of
from dataflow.values.reader import Reader
from dataflow_agent import scripted, tools
from dataflow_control import read_text
from tests.stored_names import BROKEN, CASES, DOCUMENTS, FOLDER, desk_at, store_at
from tests.support.processes import install
from tests.support.source import PACKAGES, modules_of

#: What is written as the path of a module of the engine, of a pack or of a format.
HELP: Final = "dataflow.formats.agentron.helping:request_user_help"
#: The version of Python that the golden runs were written by.
WRITTEN_BY: Final = (3, 11)
OF_A_MODULE: Final = re.compile(r"\bdataflow(?:_\w+)?(?:\.\w+)+:")

Modules: TypeAlias = Callable[..., None]
MODULES: Final = [module for package in PACKAGES for module in modules_of(package)]


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk_at(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")


#: Names that two former names lead to: they were renamed since modules are no longer part of names.
TWICE_RENAMED: Final = {"agent:merge_conversations"}
#: Runs whose stored graph has content hashes of code.
OF_CODE: Final = {"agent", "memo", "clickweave"}


@pytest.mark.parametrize("name", CASES)
async def test_a_run_that_was_stored_under_the_names_of_modules_has_its_plan_and_goes_on(
    name: str, tmp_path: Path
) -> None:
    if name in OF_CODE and sys.version_info[:2] != (3, 11):
        pytest.skip("the content hash of code differs between versions of Python, and 3.11 wrote the store")
    case = CASES[name]
    run = store_at(tmp_path / "runs.db")[name]
    store = SqliteStore(tmp_path / "runs.db")
    assert plan_if_unedited(read_run(store, store.find(run)), case.flow(), store) is not None
    with scripted(*case.then_says) as script:
        result = await case.flow().using(store=store, memo=store).resume(run, case.answers)
    assert {key: result.outputs[key] for key in case.outputs} == case.outputs
    assert result.status == ("completed" if case.outputs else "paused")
    assert len(script.requests) == len(case.then_says)  # nothing that stands is done again
    if sys.version_info[:2] == WRITTEN_BY:  # code hashes of users' functions differ by version
        assert [one for one in result.warnings if "code of node" in one] == []
    stored = storable_of(case.flow().compile())
    assert OF_A_MODULE.findall(" ".join([*stored.classes.forms, stored.shape])) == []
    assert not stored.classes.twice


@pytest.mark.parametrize("name", DOCUMENTS)
async def test_a_document_with_the_names_of_modules_is_the_flow_that_it_was_and_runs(name: str) -> None:
    case = CASES[name]
    flow = Flow.load(FOLDER / f"{name}.native.yaml")
    assert flow.check() == []
    found, expected = ({**one.to_dict(), "name": ""} for one in (flow, DOCUMENTS[name]()))
    assert json.loads(json.dumps(found).replace(HELP, "agentron:request_user_help")) == expected
    assert OF_A_MODULE.findall(json.dumps(expected)) == []
    with scripted(*(case.says or ("said",))) as script:
        if BROKEN in case.says:
            with pytest.raises(RunFailed, match="the script says so"):
                await flow.run(**case.inputs)
        else:
            result = await flow.run(**case.inputs)
            assert result.status == ("completed" if name == "clickweave" else "paused")
    assert len(script.requests) == len(case.says)


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


def test_each_former_name_was_written_and_leads_to_a_class_or_function_of_its_own() -> None:
    """`names.txt` lists the classes and functions by module, as of when modules were part of stored names."""
    former = former_names()
    assert {now for now, count in Counter(former.values()).items() if count > 1} == TWICE_RENAMED
    assert [one for one in former.values() if OF_A_MODULE.search(one)] == []
    lines = (FOLDER / "names.txt").read_text(encoding="utf-8").splitlines()
    written = {
        f"{module}:{name}" for line in lines for module, names in [line.split(": ")] for name in names.split()
    }
    factories = {name for name in former if "<locals>" in name}  # no module has what they make
    ids = {name for name in former if ":" not in name}
    assert {name for name in former if name not in written} <= factories | ids
    assert {name.partition(".<locals>")[0] for name in factories} <= written
    modules = [import_module(one.name) for one in MODULES if not one.name.endswith("__main__")]
    found = {
        public_place(f"{module.__name__}:{name}") for module in modules for name in _defined_in(module)
    } | {*listed_ids(), *listed_ids().values()}
    assert {now for now in former.values() if now.partition(".<locals>")[0] not in found} == set()


def _defined_in(module: ModuleType) -> Iterator[str]:
    for value in vars(module).values():
        functions = [value, *(getattr(value, name, None) for name in ("_fn", "_function"))]
        for one in functions:
            if getattr(one, "__module__", None) == module.__name__ and hasattr(one, "__qualname__"):
                yield one.__qualname__


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
    **{f"moved.before:{name}": f"moved:{name}" for name in ("Thing", "half", "shout")},
    "elder.texts:half": "moved.before:half",
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
    with pytest.raises(StoreError, match=r"^DF0621 store runs\.db: .* class moved\.before:Other;"):
        reader.read({"$": "moved.before:Other", "v": {"size": 3}})


def test_a_function_is_found_under_its_former_names_alone(moved: ModuleType) -> None:
    for name in ("elder.texts:half", "moved.before:half", "moved:half", "moved.after:half"):
        assert import_function(name) is moved.half
    assert name_of_function(moved.half) == "moved:half"
    for name in ("moved.before:other", "moved:other", "gone.before:half"):
        with pytest.raises(PackError, match=r"cannot be imported: (Attribute|ModuleNotFound)Error"):
            import_function(name)


def test_a_node_type_is_found_and_written_by_its_pack(moved: ModuleType) -> None:
    for id in ("moved.before:shout", "moved:shout", "moved.shout"):
        assert find_type(id).call is moved.shout
    with Flow("one") as flow:
        flow.add(moved.shout, text="a")
    assert flow.to_dict()["nodes"] == {"shout": {"type": "moved.shout", "values": {"text": "a"}}}


def test_shapes_with_former_names_are_those_of_the_flow() -> None:
    plan = CASES["tools"].flow().compile()
    present, names = shape_of(plan), generations()[-1]  # the oldest
    former = shape_of(plan, names)
    assert not compare(former, present).is_none
    assert compare(in_names_of(plan, former), present).is_none
    [address] = [one for one in present.entries if one.endswith("/begin") and one.count("/") == 1]
    entry = former.entries[address]._replace(config="another")
    edited = FlowShape({**former.entries, address: entry})
    assert compare(in_names_of(plan, edited), present).changed == {address: ("config",)}


async def test_runs_under_former_and_present_names_do_not_differ_in_their_nodes(tmp_path: Path) -> None:
    before = store_at(tmp_path / "runs.db")["control"]
    store = SqliteStore(tmp_path / "runs.db")
    flow = CASES["control"].flow().using(store=store)
    now = (await flow.run()).run_id
    assert needs_flow(store, before, now)
    assert not needs_flow(store, now, now)
    for one, other in ((before, now), (now, before)):
        for found in (await flow.diff(one, other), await diff(store, one, other)):
            assert [each.path for each in found if each.kind == "node"] == []


def test_only_the_code_of_a_user_is_compared() -> None:
    known = {
        (("agent.chat", "old"), ("agent.chat", "")): False,
        (("dataflow_agent.chatting:chat", "old"), ("agent:chat", "user")): False,
        (("agent.agent", "one"), ("agent.agent", "other")): True,
        (("script:step", "one"), ("script:step", "")): True,
    }
    shapes = {both: [NodeShape(id, "", "", "", code) for id, code in both] for both in known}
    assert {both: is_code_known(*entries) for both, entries in shapes.items()} == known
    entries = shape_of(CASES["tools"].flow().compile()).entries
    assert {address for address, one in entries.items() if one.code} == set()  # none of ours


def test_names_do_not_depend_on_which_packs_are_disabled(monkeypatch: pytest.MonkeyPatch) -> None:
    names, ids = former_names(), listed_ids()
    monkeypatch.setenv("DATAFLOW_DISABLE_PACKS", "*")
    assert (former_names(), listed_ids()) == (names, ids)
    for name in ("control:read_text", "dataflow_control.files:read_text"):
        assert import_function(name) is read_text
    assert tools(read_text).sources[0].references == ("control:read_text",)  # type: ignore[union-attr]
    with pytest.raises(PackError, match="is disabled by DATAFLOW_DISABLE_PACKS"):
        find_type("control.read_text")


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Modules]:
    monkeypatch.syspath_prepend(str(tmp_path))
    before = {*sys.modules}

    def write(**texts: str) -> None:
        for name, text in texts.items():
            path = tmp_path / f"{name if '/' in name else name.replace('__', '/')}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        importlib.invalidate_caches()

    yield write
    for name in {*sys.modules} - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


SAME: Final = "async def same(n: int) -> int:\n    return n\n"
INIT: Final = "cp/__init__"


def _pack(stored_as: str, nodes: str) -> str:
    return (
        f'from dataflow import Pack\n__stored_as__ = "{stored_as}"\n'
        f'pack = Pack("cp", version="1", api=1, nodes={nodes})\n'
    )


def test_a_node_is_written_as_the_type_that_is_made_of_its_function(tmp_path: Path, modules: Modules) -> None:
    modules(**{INIT: _pack("cp", '{"same": "cp.b:same"}'), "cp__a": SAME, "cp__b": SAME})
    install(tmp_path, "cp-pack", "cp = cp:pack")
    with Flow("one") as flow:
        for name in ("cp.a", "cp.b"):
            flow.add(import_module(name).same, n=1)
    written = flow.to_dict()["nodes"]
    assert [one["type"] for one in written.values()] == ["cp.a:same", "cp.same"]
    assert [find_type(one["type"]).call for one in written.values()] == [
        import_module(name).same for name in ("cp.a", "cp.b")
    ]


def test_a_pack_of_two_functions_with_one_public_name_cannot_be_used(
    tmp_path: Path, modules: Modules
) -> None:
    nodes = '{"same": "cp.a:same", "other": "cp.b:same"}'
    modules(**{INIT: _pack("cp", nodes), "cp__a": SAME, "cp__b": SAME})
    install(tmp_path, "cp-pack", "cp = cp:pack")
    [found] = installed_packs("cp")
    assert found.fault is not None
    assert found.fault.problem.code == "DF1314"
    with pytest.raises(PackError, match=r"DF1314 .*cp:same: cp.a:same and cp.b:same"):
        find_type("cp.same")


def test_a_function_that_is_called_like_one_of_a_pack_cannot_be_written(modules: Modules) -> None:
    modules(control="def read_text(value: int) -> bool:\n    return value > 1\n")
    own = import_module("control").read_text
    assert name_of_function(own) is None
    assert import_function("control:read_text") is read_text
    with Flow("one") as flow, flow.loop(limit=5) as rounds:
        carried = rounds.carry(0)
        rounds.until(carried.out, own)
        carried.next(carried.out)
    with pytest.raises(FlowInvalid, match=r"DF0150 .*: control:read_text"):
        flow.to_dict()


ACME: Final = '__stored_as__ = "acme"\nfrom appkg.m import *\n'
TOOL: Final = """
from dataclasses import dataclass
@dataclass
class Size:
    size: int
def tool(size: int) -> int:
    return size
async def step(n: int) -> Size:
    return Size(n)
"""


def test_a_public_name_without_a_pack_is_not_written(modules: Modules) -> None:
    modules(**{"appkg/__init__": ACME, "appkg__m": TOOL})
    package = import_module("appkg")
    assert name_of_function(package.tool) == "appkg.m:tool"
    assert import_function("appkg.m:tool") is package.tool
    with Flow("one") as flow:
        flow.add(package.step, n=1)
    assert flow.to_dict()["nodes"]["step"]["type"] == "appkg.m:step"
    reader = Reader(classes_of([package.Size]), lambda _: b"", "runs.db")
    assert class_name(package.Size) == "acme:Size"
    assert reader.read({"$": "acme:Size", "v": {"size": 3}}) == package.Size(3)


@pytest.mark.parametrize(
    ("name", "code"),
    [("", "DF0424"), ("no:such.name", "DF0424"), ("agent", "DF0425"), ("dataflow", "DF0425")],
)
def test_an_invalid_public_name_is_refused(modules: Modules, name: str, code: str) -> None:
    modules(**{"appkg/__init__": f"{ACME}__stored_as__ = {name!r}\n", "appkg__m": TOOL})
    package = import_module("appkg")
    with pytest.raises(PackError, match=f"{code} appkg: .*{name!r}"):
        name_of_function(package.tool)
    with pytest.raises(PackError, match=f"{code} appkg:"):
        class_name(package.Size)
