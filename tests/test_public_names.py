"""What is public: the names in `__all__`, in order, existing and described."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

import dataflow
from dataflow import authoring
from tests.support.source import PACKAGES, PACKS, modules_of

# Names that `from ... import` leaves in a module without making them part of it.
INCIDENTAL: Final = {"TYPE_CHECKING", "annotations"}

# A script when it is run: importing it would run it.
NAMES: Final = [
    module.name
    for package in PACKAGES
    for module in modules_of(package)
    if not module.name.endswith(".__main__") and "__all__" in module.text()
]
#: Those whose list is written as it is; those of the engine are made by lazy_loader, which sorts them.
WRITTEN: Final = [name for name in NAMES if name not in ("dataflow", "dataflow.authoring")]


def described(module: ModuleType) -> Iterator[tuple[str, object]]:
    for name in module.__all__:
        value = getattr(module, name)
        if (inspect.isclass(value) or inspect.isroutine(value)) and value.__module__.startswith(PACKAGES):
            yield name, value


def order(name: str) -> tuple[bool, bool, str]:
    return not name.isupper(), not name[0].isupper(), name


def docstring(name: str, value: object) -> str | None:
    """Return what somebody wrote: not a base's text, nor the fields that a dataclass makes up."""
    text = vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__
    return None if text is None or text.startswith(f"{name}(") else text


def test_the_public_names_of_each_module_are_in_order_exist_and_have_docstrings() -> None:
    unordered, missing, bare = [], [], []
    for name in NAMES:
        module = importlib.import_module(name)
        names = list(module.__all__)
        unordered += [name] if name in WRITTEN and names != sorted(set(names), key=order) else []
        missing += [f"{name}.{public}" for public in names if not hasattr(module, public)]
        bare += [f"{name}.{public}" for public, value in described(module) if not docstring(public, value)]
    assert (unordered, missing, bare) == ([], [], [])
    assert [pack for pack in PACKS if not importlib.import_module(pack).__doc__] == []


def test_the_engine_has_no_surplus_public_name() -> None:
    modules = {name for name, value in vars(dataflow).items() if value is sys.modules.get(f"dataflow.{name}")}
    public = {name for name in vars(dataflow) if not name.startswith("_")}
    assert not public - modules - set(dataflow.__all__) - INCIDENTAL


def test_a_star_import_gives_the_listed_names() -> None:
    namespace: dict[str, object] = {}
    exec("from dataflow import *", namespace)
    assert set(namespace) - {"__builtins__"} == set(dataflow.__all__)


def test_the_stub_of_a_package_has_each_name_where_it_is() -> None:
    engine = ("dataflow", "dataflow.authoring", "dataflow.stores", "dataflow.testing")
    for package in (*engine, "dataflow_agent", "dataflow_control"):
        module = importlib.import_module(package)
        assert module.__file__ is not None
        stub = ast.parse(Path(module.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
        homes = {
            alias.name: importlib.util.resolve_name(f"{'.' * statement.level}{statement.module}", package)
            for statement in stub.body
            if isinstance(statement, ast.ImportFrom)
            for alias in statement.names
            if alias.asname is None  # else it is deprecated
        }
        listed = [ast.literal_eval(one.value) for one in stub.body if isinstance(one, ast.Assign)]
        assert [sorted(names) for names in listed] == [sorted(homes)] == [sorted(module.__all__)]
        for name, home in homes.items():
            assert getattr(module, name) is getattr(importlib.import_module(home), name)


def test_a_name_that_has_moved_works_and_warns_of_its_new_place() -> None:
    moved = ("TypeField", "check_json", "json_schema", "read_data", "sharing", "shortened")
    for name in moved:
        with pytest.warns(DeprecationWarning, match="is now") as warned:
            found = getattr(dataflow, name)
        assert found is getattr(authoring, name)
        assert name not in dataflow.__all__
        assert [str(one.message) for one in warned] == [f"dataflow.{name} is now dataflow.authoring.{name}"]
        assert warned[0].filename == __file__


def test_there_are_few_names_for_authors() -> None:
    assert len(authoring.__all__) <= 42


def test_the_package_works_from_a_zip_file(tmp_path: Path) -> None:
    root = Path(dataflow.__file__ or "").parent
    with zipfile.ZipFile(tmp_path / "engine.zip", "w") as archive:
        for file in sorted(root.rglob("*.py")):
            archive.write(file, file.relative_to(root.parent))
    program = (
        "import sys; sys.path.insert(0, 'engine.zip'); import dataflow; from dataflow import Flow; "
        "print(Flow.__name__, 'engine.zip' in dataflow.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("Flow True\n", "")
