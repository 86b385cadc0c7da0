"""The house: packages in layers, held for run-time and type-only imports; state with one owner."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import networkx as nx
import pytest

import dataflow
import dataflow.authoring
from tests.support.processes import modules_after
from tests.support.source import PACKS, Import, Module, imports_of, modules_of

#: From the bottom up. A package may import those before it; the names of modules are the face in the root.
LAYERS: Final = (
    "base",
    "diagnostics",
    "errors",
    "secrets",
    "types",
    "stores",
    "core",
    "values",
    "expressions",
    "builder",
    "packs",
    "compiler",
    "scheduler",
    "memo",
    "runtime",
    "durable",
    "live",
    "inspection",
    "formats",
    "loading",
    "flows",
    "typed_flows",
    "authoring",
    "",  # dataflow/__init__.py, which names what is public
    "testing",
    "cli",
    "__main__",
)
#: The modules in the root: the face, and nothing else.
FACE: Final = {"errors", "loading", "flows", "typed_flows", "__main__"}
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
#: Modules of a package that are in a cycle if type-only imports count. The lists may only shrink.
TYPE_CYCLES: Final = {
    "dataflow.builder": "blocks sources",
    "dataflow.core": "nodetype wiring",
    "dataflow.runtime": "attempts call engine run start tasks workers",
    "dataflow.scheduler": (
        "admission arguments arrivals asks demand failures firing_rule frames loops maps outcomes reports "
        "scheduler scopes timers"
    ),
    "dataflow.secrets": "known masking",
}
#: Libraries that act, or look at the world.
ACTING: Final = {
    "anyio",
    "asyncio",
    "io",
    "os",
    "pathlib",
    "random",
    "socket",
    "sqlite3",
    "subprocess",
    "threading",
    "time",
}
#: A lock for limits that runs share between threads, and the clock that timers begin at.
SCHEDULER_ACTS: Final = {
    "dataflow.scheduler.admission": {"threading"},
    "dataflow.scheduler.scheduler": {"time"},
}
#: Modules that import one of ours by a string: a store that is asked for by name.
BY_STRING: Final = {"dataflow.stores.store"}
#: Folders of tests that are not about one package: rules, random flows, packs, sources and pages.
OTHER_ROOMS: Final = {
    "behaviour", "benchmarks", "docs", "examples", "house", "messages", "nodes", "properties",
    "support", "typing",
}  # fmt: skip
#: Words of the field that end like a gerund.
NOUNS: Final = {"drawing", "firing", "listing", "loading", "masking", "pruning", "wiring", "wording"}
FEWEST_MODULES: Final = 3
MOST_MODULES: Final = 330  # in dataflow/ and nodes/, without __init__
MOST_LOADED: Final = 105

NEVER: Final = {"hypothesis", "litellm", "mcp", "pytest", "starlette", *PACKS}
EXCEPT: Final[dict[str, set[str]]] = {}  # packages that may import some of NEVER
NOT_AT_IMPORT: Final = {"jinja2", "litellm", "mcp", "networkx", "opentelemetry", "rich", "typer", *PACKS}
# What a flow of plain functions does without, from the import to the end of its run: configs, packs, and what
# they bring in, for configs what pydantic loads when the first model is made.
NOT_TO_RUN: Final = {
    "dataflow.builder.builtin",
    "dataflow.core.config",
    "dataflow.memo",
    "dataflow.packs",
    "dataflow.secrets",
    "dataflow.stores",
    "dataflow.values",
    "importlib.metadata",
    "pydantic.fields",
    "pydantic.functional_serializers",
    "sqlite3",
}
# What only wiring it does without.
NOT_TO_WIRE: Final = NOT_TO_RUN | {
    "anyio",
    "asyncio",
    "dataflow.compiler.passes",
    "dataflow.compiler.plan",
    "dataflow.runtime.run",
}
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
REFERENCE: Final = [
    f"tests.properties.{name}"
    for name in ("reference", "reference_blocks", "reference_tokens", "document_reading")
]

ENGINE: Final = {module.name: module for module in modules_of("dataflow")}
EVERY: Final = {module.name: module for package in ("dataflow", *PACKS) for module in modules_of(package)}
ENGINE_MODULES: Final = pytest.mark.parametrize("module", ENGINE.values(), ids=ENGINE)
PACK_MODULES: Final = pytest.mark.parametrize(
    "module", [module for pack in PACKS for module in modules_of(pack)], ids=lambda module: module.name
)
#: Packages with folders in them, and those folders.
FOLDERS: Final = sorted(
    {
        module.name
        for module in EVERY.values()
        if module.is_package and module.name not in ("dataflow", *PACKS)
    }
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


@ENGINE_MODULES
def test_a_module_imports_no_package_above_its_own(module: Module) -> None:
    assert not upward(module, for_types=False)


def test_type_only_imports_obey_the_layers_but_for_those_listed() -> None:
    found = {pair for module in ENGINE.values() for pair in upward(module, for_types=True)}
    assert found == TYPES_UPWARD
    assert len(found) <= MOST_UPWARD


def cycles_in(names: Iterable[str], *, for_types: bool) -> set[str]:
    """Return the modules that are in a cycle of imports among these modules."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    inside = set(names)
    for name in inside:
        graph.add_edges_from(
            (name, target) for target, _ in targets_of(EVERY[name], for_types=for_types) if target in inside
        )
    return {name for part in nx.strongly_connected_components(graph) if len(part) > 1 for name in part}


def test_type_only_imports_make_no_cycle_in_a_package_but_those_listed() -> None:
    packages: dict[str, list[str]] = {}
    for name in EVERY:
        packages.setdefault(name.rpartition(".")[0], []).append(name)
    found = {
        package: " ".join(sorted(name.rpartition(".")[2] for name in cycles_in(names, for_types=True)))
        for package, names in packages.items()
    }
    assert {package: names for package, names in found.items() if names} == TYPE_CYCLES


@ENGINE_MODULES
def test_no_module_of_ours_is_imported_by_a_string(module: Module) -> None:
    """It would pass by the layers."""
    strings = {
        node.value
        for call in ast.walk(module.tree())
        if isinstance(call, ast.Call)
        for node in call.args
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    named = {text for text in strings if text.partition(":")[0] in EVERY.keys() - {"dataflow"}}
    assert bool(named) == (module.name in BY_STRING)


@pytest.mark.parametrize(
    "module",
    [module for name, module in ENGINE.items() if package_of(name) == "scheduler"],
    ids=lambda module: module.name,
)
def test_the_scheduler_decides_and_does_nothing(module: Module) -> None:
    """It awaits nothing, starts nothing, and reads neither clock nor file, but for what is listed."""
    awaits = [node for node in ast.walk(module.tree()) if isinstance(node, ast.Await | ast.AsyncFunctionDef)]
    assert not awaits
    found = {root for root, _ in roots_of(module)} & ACTING
    assert found == SCHEDULER_ACTS.get(module.name, set())


def test_imports_make_no_cycle() -> None:
    graph = {name: {target for target, _ in targets_of(module)} for name, module in EVERY.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("a cycle of imports, so a layer is missing: " + " <- ".join(error.args[1]))


def test_the_root_holds_the_face_alone() -> None:
    root = {name.partition(".")[2] for name in ENGINE if name.count(".") == 1 and not ENGINE[name].is_package}
    assert root == FACE


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_has_a_charter_and_several_modules(folder: str) -> None:
    inside = [name for name in EVERY if name.rpartition(".")[0] == folder]
    assert ast.get_docstring(EVERY[folder].tree())
    assert len(inside) >= FEWEST_MODULES


@pytest.mark.parametrize("package", ["dataflow", *PACKS])
def test_each_folder_is_a_package(package: str) -> None:
    folders = {module.path.parent for module in modules_of(package)}
    assert not [folder for folder in folders if not (folder / "__init__.py").exists()]


def test_tests_are_in_the_rooms_of_what_they_test() -> None:
    folders = {file.parent.name for file in TESTS.glob("*/*.py")}
    packages = {package_of(name) for name in ENGINE if ENGINE[name].is_package} - {""}
    assert packages <= folders
    assert folders - packages == OTHER_ROOMS


def test_modules_are_called_by_nouns() -> None:
    names = {name.rpartition(".")[2] for name, module in EVERY.items() if not module.is_package}
    assert {name for name in names if name.endswith("ing")} <= NOUNS


def test_there_are_not_many_modules() -> None:
    assert len([module for module in EVERY.values() if not module.is_package]) <= MOST_MODULES


@ENGINE_MODULES
def test_the_engine_imports_no_pack_and_no_library_of_one(module: Module) -> None:
    banned = NEVER - EXCEPT.get(package_of(module.name), set())
    assert not [f"line {found.line}: {root}" for root, found in roots_of(module) if root in banned]


PUBLIC: Final = {"dataflow": set(dataflow.__all__), "dataflow.authoring": set(dataflow.authoring.__all__)}


def unit_of(name: str) -> str:
    """Return the pack that a module belongs to; each foreign system is a pack of its own."""
    parts = name.split(".")
    return ".".join(parts[: 2 if parts[0] == "dataflow_formats" else 1])


@PACK_MODULES
def test_a_pack_imports_only_public_names(module: Module) -> None:
    """Those of `dataflow` and `dataflow.authoring`, and what other packs list in their package."""
    for found in imports_of(module, for_types=True):
        root = found.module.partition(".")[0]
        if root not in ("dataflow", *PACKS) or unit_of(found.module) == unit_of(module.name):
            continue
        listed = PUBLIC.get(found.module)
        if listed is None and root in PACKS:
            listed = (
                set(getattr(importlib.import_module(found.module), "__all__", ()))
                if found.module == unit_of(found.module)
                else set()
            )
        assert listed is not None, f"line {found.line}: {found.module} is not public"
        assert found.name in listed, f"line {found.line}: {found.module} has no public name {found.name}"


@pytest.mark.parametrize("name", REFERENCE)
def test_the_reference_knows_only_documents(name: str) -> None:
    """It proves the engine, so it shares no more with it than the document and what values are."""
    imported = {
        found.module
        for found in imports_of(Module(name, PROPERTIES / f"{name.rpartition('.')[2]}.py"), for_types=True)
        if found.module.partition(".")[0] in ("dataflow", "tests", *PACKS)
    }
    allowed = {
        f"dataflow.{part}"
        for part in ("base.failure", "core.ports", "formats.native.document", "formats.native.parts")
    }
    assert imported <= allowed | {*REFERENCE}


@pytest.mark.parametrize("code", ["import dataflow", "from dataflow import *", RUNNING])
def test_neither_importing_nor_running_loads_anything_heavy(code: str) -> None:
    loaded = {name.partition(".")[0] for name in modules_after(code)}
    assert not sorted(loaded & NOT_AT_IMPORT)


def test_a_flow_is_wired_without_what_it_only_needs_to_run() -> None:
    assert not NOT_TO_WIRE.intersection(modules_after("from dataflow import Flow, node, threaded, collect"))


def test_a_flow_of_plain_functions_runs_without_what_it_does_not_use() -> None:
    loaded = set(modules_after(RUNNING))
    assert not NOT_TO_RUN & loaded
    assert len([name for name in loaded if name.partition(".")[0] == "dataflow"]) <= MOST_LOADED


@pytest.mark.parametrize("package", ["dataflow", *PACKS])
def test_no_module_has_the_name_of_a_public_name(package: str) -> None:
    """Importing the module would replace what the package has under that name."""
    modules = {name.split(".")[1] for name in EVERY if name.startswith(f"{package}.")}
    public = getattr(importlib.import_module(package), "__all__", ())
    assert not modules & set(public)
