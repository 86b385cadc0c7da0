"""The house: packages in layers, held for run-time and type-only imports; state with one owner."""

from __future__ import annotations

import ast
import importlib
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import pytest

import dataflow
import dataflow.authoring
from tests.support.processes import modules_after
from tests.support.source import PACKS, Import, Module, imports_of, modules_of

#: From the bottom up. A package may import those before it; the names of modules are the face in the root.
LAYERS: Final = (
    "base", "diagnostics", "errors", "maximums", "secrets", "types", "stores", "core", "values",
    "expressions", "builder", "packs", "compiler", "scheduler", "memo", "runtime", "durable", "live",
    "inspection", "formats", "loading", "flows", "typed_flows", "authoring",
    "",  # dataflow/__init__.py, which names what is public
    "testing", "cli", "__main__",
)  # fmt: skip
#: The modules in the root: the face, and nothing else.
FACE: Final = {"errors", "maximums", "loading", "flows", "typed_flows", "__main__"}
#: Type-only imports against the layers, from and to. The list may only shrink.
TYPES_UPWARD: Final = {
    ("dataflow.core.events", "dataflow.scheduler.frames"),
    ("dataflow.core.policy", "dataflow.memo.table"),
    ("dataflow.errors", "dataflow.runtime.result"),
    ("dataflow.scheduler.scheduler", "dataflow.durable.journal"),
    ("dataflow.scheduler.scheduler", "dataflow.durable.replay"),
    ("dataflow.scheduler.scheduler", "dataflow.live.reuse"),
    ("dataflow.scheduler.scheduler", "dataflow.memo.lookup"),
}
MOST_UPWARD: Final = 7
#: Libraries that act, or look at the world.
ACTING: Final = {
    "anyio", "asyncio", "io", "os", "pathlib", "random", "socket", "sqlite3", "subprocess", "threading",
    "time",
}  # fmt: skip
#: A lock for limits that runs share between threads, and the clock that timers begin at.
SCHEDULER_ACTS: Final = {
    "dataflow.scheduler.admission": {"threading"},
    "dataflow.scheduler.scheduler": {"time"},
}
#: Folders of tests that are not about one package: rules, random flows, packs, sources and pages.
OTHER_ROOMS: Final = {
    "behaviour", "benchmarks", "docs", "examples", "faults", "house", "messages", "mutation", "nodes",
    "properties", "support", "typing",
}  # fmt: skip
FEWEST_MODULES: Final = 3
MOST_LOADED: Final = 106

NEVER: Final = {"hypothesis", "litellm", "mcp", "pytest", "starlette", *PACKS}
NOT_AT_IMPORT: Final = {"jinja2", "litellm", "mcp", "networkx", "opentelemetry", "rich", "typer", *PACKS}
# What a flow of plain functions does without, from the import to the end of its run: configs, packs, and what
# they bring in, for configs what pydantic loads when the first model is made.
NOT_TO_RUN: Final = {
    "dataflow.builder.builtin", "dataflow.core.config", "dataflow.memo", "dataflow.packs", "dataflow.secrets",
    "dataflow.stores", "dataflow.values", "importlib.metadata", "pydantic.fields",
    "pydantic.functional_serializers", "sqlite3",
}  # fmt: skip
# What only wiring it does without.
NOT_TO_WIRE: Final = NOT_TO_RUN | {
    "anyio", "asyncio", "dataflow.compiler.passes", "dataflow.compiler.plan", "dataflow.runtime.run",
}  # fmt: skip
RUNNING: Final = """
from dataflow import Flow

async def double(number: int) -> int:
    return 2 * number

with Flow("twice") as flow:
    once = flow.add(double, number=flow.input("number", int))
    flow.output("number", flow.add(double, number=once.out).out)

assert flow.run_sync(number=1)["number"] == 4
"""

TESTS: Final = Path(__file__).parent.parent
PROPERTIES: Final = TESTS / "properties"
REFERENCE: Final = [f"tests.properties.{name}" for name in ("reference", "document_reading")]
ENGINE: Final = {module.name: module for module in modules_of("dataflow")}
EVERY: Final = {module.name: module for package in ("dataflow", *PACKS) for module in modules_of(package)}
#: Packages with folders in them, and those folders.
FOLDERS: Final = sorted(
    name for name, module in EVERY.items() if module.is_package and name not in ("dataflow", *PACKS)
)


def package_of(name: str) -> str:
    """Return the package below `dataflow` that a module is in, or its own name for one in the root."""
    return name.removeprefix("dataflow").removeprefix(".").partition(".")[0]


def layer_of(name: str) -> int:
    package = package_of(name)
    assert package in LAYERS, f"add the package {package!r} to LAYERS in {Path(__file__).name}"
    return LAYERS.index(package)


def targets_of(module: Module, *, for_types: bool = False) -> Iterator[tuple[str, int]]:
    """Yield the modules of ours that a module imports, each with its line."""
    for found in imports_of(module, for_types=for_types):
        inner = f"{found.module}.{found.name}"
        target = inner if inner in EVERY else found.module
        if target in EVERY and target != module.name:
            yield target, found.line


def upward(module: Module, *, for_types: bool) -> set[tuple[str, str]]:
    """Return the imports of a module from packages above its own, as pairs of modules."""
    own = layer_of(module.name)
    return {
        (module.name, target)
        for target, _ in targets_of(module, for_types=for_types)
        if target in ENGINE and layer_of(target) > own
    }


def roots_of(module: Module) -> Iterator[tuple[str, Import]]:
    for found in imports_of(module, for_types=True):
        yield found.module.partition(".")[0], found


def test_modules_import_no_package_above_their_own() -> None:
    assert {pair for module in ENGINE.values() for pair in upward(module, for_types=False)} == set()


def test_type_only_imports_obey_the_layers_but_for_those_listed() -> None:
    found = {pair for module in ENGINE.values() for pair in upward(module, for_types=True)}
    assert found == TYPES_UPWARD
    assert len(found) <= MOST_UPWARD


def test_the_scheduler_decides_and_does_not_act() -> None:
    """It awaits and starts nothing, and reads neither clock nor file, except for what is listed."""
    modules = {name: module for name, module in ENGINE.items() if package_of(name) == "scheduler"}
    awaiting = ast.Await | ast.AsyncFunctionDef
    assert [
        name for name, one in modules.items() if any(isinstance(x, awaiting) for x in ast.walk(one.tree()))
    ] == []
    acting = {name: {root for root, _ in roots_of(module)} & ACTING for name, module in modules.items()}
    assert {name: roots for name, roots in acting.items() if roots} == SCHEDULER_ACTS


def test_imports_make_no_cycle() -> None:
    graph = {name: {target for target, _ in targets_of(module)} for name, module in EVERY.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("a cycle of imports, so a layer is missing: " + " <- ".join(error.args[1]))


def test_the_root_holds_the_face_and_folders_have_a_charter_and_several_modules() -> None:
    root = {name.partition(".")[2] for name in ENGINE if name.count(".") == 1 and not ENGINE[name].is_package}
    assert root == FACE
    sizes = Counter(name.rpartition(".")[0] for name in EVERY)
    assert [folder for folder in FOLDERS if sizes[folder] < FEWEST_MODULES] == []
    assert [folder for folder in FOLDERS if not ast.get_docstring(EVERY[folder].tree())] == []
    folders = {module.path.parent for module in EVERY.values()}
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []


def test_tests_are_in_the_rooms_of_what_they_test() -> None:
    folders = {file.parent.name for file in TESTS.glob("*/*.py")}
    packages = {package_of(name) for name in ENGINE if ENGINE[name].is_package} - {""}
    assert packages <= folders
    assert folders - packages == OTHER_ROOMS


def test_the_engine_imports_no_pack_and_no_library_of_one() -> None:
    found = {(name, root) for name, module in ENGINE.items() for root, _ in roots_of(module)}
    assert {(name, root) for name, root in found if root in NEVER} == set()


def test_one_module_reads_the_metadata_of_distributions() -> None:
    """The functions of `importlib.metadata` fail at the first malformed distribution."""
    reading = {
        (name, found.name)
        for name, module in EVERY.items()
        for found in imports_of(module, for_types=False)
        if found.module == "importlib.metadata" or (found.module, found.name) == ("importlib", "metadata")
    }
    names = {name for name, found in reading if found != "EntryPoint"}
    assert names == {"dataflow.core.distributions"}


PUBLIC: Final = {"dataflow": set(dataflow.__all__), "dataflow.authoring": set(dataflow.authoring.__all__)}


def unit_of(name: str) -> str:
    """Return the pack that a module belongs to; each foreign system is a pack of its own."""
    parts = name.split(".")
    return ".".join(parts[: 2 if parts[0] == "dataflow_formats" else 1])


def public_names(module: str) -> set[str]:
    """Return the names that packs may import from a module."""
    if module.partition(".")[0] in PACKS and module == unit_of(module):
        return set(getattr(importlib.import_module(module), "__all__", ()))
    return PUBLIC.get(module, set())


def test_packs_import_only_public_names() -> None:
    """Those of `dataflow` and `dataflow.authoring`, and the names that other packs list in their package."""
    foreign = [
        (f"{module.name}:{found.line}", found)
        for pack in PACKS
        for module in modules_of(pack)
        for found in imports_of(module, for_types=True)
        if found.module.partition(".")[0] in ("dataflow", *PACKS)
        and unit_of(found.module) != unit_of(module.name)
    ]
    assert [(place, one) for place, one in foreign if one.name not in public_names(one.module)] == []


def test_the_reference_knows_only_documents() -> None:
    """It proves the engine, so it shares no more with it than the document and what values are."""
    modules = [Module(name, PROPERTIES / f"{name.rpartition('.')[2]}.py") for name in REFERENCE]
    imported = {
        found.module
        for module in modules
        for found in imports_of(module, for_types=True)
        if found.module.partition(".")[0] in ("dataflow", "tests", *PACKS)
    }
    allowed = {
        f"dataflow.{part}"
        for part in ("base.failure", "core.ports", "formats.native.document", "formats.native.parts")
    }
    assert imported <= allowed | {*REFERENCE}


def test_neither_importing_nor_running_loads_anything_heavy() -> None:
    assert not NOT_AT_IMPORT.intersection(modules_after("from dataflow import *"))
    assert not NOT_TO_WIRE.intersection(modules_after("from dataflow import Flow, node, threaded, collect"))
    loaded = set(modules_after(RUNNING))
    assert not (NOT_TO_RUN | NOT_AT_IMPORT) & loaded
    assert len([name for name in loaded if name.partition(".")[0] == "dataflow"]) <= MOST_LOADED


def test_no_module_has_the_name_of_a_public_name() -> None:
    """Importing the module would replace what the package has under that name."""
    public = {
        f"{one}.{name}"
        for one in ("dataflow", *PACKS)
        for name in getattr(importlib.import_module(one), "__all__", ())
    }
    assert public & EVERY.keys() == set()
