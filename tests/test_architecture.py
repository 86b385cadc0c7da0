"""The direction of imports, held against a table."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import pytest

import dataflow
from dataflow import authoring
from tests.processes import modules_after
from tests.source import PACKS, Import, Module, imports_of, modules_of

# The rows from the top down. A module may import from the rows below its own and, without a cycle, from its
# own. A package stands for all its modules, unless one of them has an entry ("formats.native"). The empty
# name is dataflow/__init__.py, which re-exports.
ROWS: Final[list[set[str]]] = [
    {"__main__", "cli", "testing"},
    {"json_values", "open_asks", "stored_nodes", "stored_reasons", "stored_run"},
    {"targets"},
    {"formats.agentflow", "formats.agentron", "formats.cagent", "formats.clickweave", "formats.hifide"},
    {"", "authoring"},
    {"typed_flows"},
    {"flows"},
    {"forkable"},
    {"forking"},
    {"storing"},
    {"changes"},
    {"rewiring"},
    {"definitions"},
    {"differing", "looking", "session"},
    {"two_runs"},
    {
        "entering",
        "live_engine",
        "live_ports",
        "live_reasons",
        "live_results",
        "preparing",
        "run",
        "sync",
    },
    {"result"},
    {"explaining", "task_blocks"},
    {"copying", "engine", "forgetting", "keeping", "owning", "reaching", "unhandled"},
    {"workers"},
    {"attempting", "calling", "inline", "isolation", "pieces", "sleepers", "worker"},
    {
        "activating",
        "admission",
        "arrivals",
        "asking",
        "binding",
        "failing",
        "frames",
        "freshness",
        "known",
        "leaving",
        "hits",
        "loops",
        "maps",
        "nesting",
        "memo_inputs",
        "memo_store",
        "memo_telling",
        "memoizing",
        "opening",
        "outcome",
        "overtaking",
        "permits",
        "pulling",
        "pushing",
        "racing",
        "read_digests",
        "releasing",
        "repeating",
        "recalling",
        "replaying",
        "reporting",
        "restoring",
        "reusing",
        "run_slots",
        "scheduler",
        "seeking",
        "settling",
        "standing",
        "starting",
        "storable",
        "timers",
        "timing",
    },
    {"readiness"},
    {"compiling", "replacing"},
    {
        "address_checks",
        "checks",
        "context_checks",
        "connecting",
        "crossing",
        "demand",
        "inferring",
        "layout",
        "lift",
        "lifted_loops",
        "lifted_maps",
        "lifted_reads",
        "map_edges",
        "memo_slots",
        "own_lists",
        "provisions",
        "quickening",
        "reads",
        "resolve",
        "scope_placing",
        "scoping",
        "showing",
        "slots",
        "sources",
        "sureness",
        "together",
    },
    {"addressing", "dependents", "edits", "feeding", "flow_reads", "scope_tree", "shape", "telemetry"},
    {"called", "declarations", "graph", "holding", "lookup", "natural_loops", "plan", "tokens", "uses"},
    {"drawing", "installed_node", "loading"},
    {"registry"},
    {"cancelling", "comparing_values", "journal", "recording", "span_links"},
    {"formats", "packs", "stores"},
    {"document"},
    {
        "blocks",
        "branching",
        "builder",
        "built_in",
        "conversations",
        "joins",
        "looping",
        "placeholders",
        "placing",
        "questions",
        "steps",
    },
    {"declare", "flow_types", "names", "nodetype", "wiring"},
    {"asks", "events", "past", "reasons", "states"},
    {
        "code_digests",
        "digest_classes",
        "digest_leaves",
        "digest_parts",
        "digests",
        "fingerprints",
        "function_graphs",
        "told_values",
    },
    {
        "attempts",
        "current",
        "flights",
        "limits",
        "memo_table",
        "policy",
        "ports",
        "shared",
        "signature",
        "threads",
        "values",
    },
    {
        "adapters",
        "agreement",
        "checking",
        "deciding",
        "mismatches",
        "schema_types",
        "type_fields",
        "type_names",
        "type_shapes",
    },
    {"backend", "config", "context", "expressions", "merging", "secret"},
    {
        "errors",
        "failure",
        "former",
        "function_fields",
        "functions",
        "history",
        "insides",
        "log_records",
        "markers",
        "messages",
        "node_output",
        "offers",
        "public_names",
        "redacting",
        "redaction",
        "remarks",
        "secret_forms",
        "separation",
        "turns",
        "wording",
    },
]

NEVER: Final = {"hypothesis", "litellm", "mcp", "pytest", "starlette", *PACKS}
EXCEPT: Final[dict[str, set[str]]] = {}  # row entries that may import some of NEVER: {"testing": {"pytest"}}
NOT_AT_IMPORT: Final = {"jinja2", "litellm", "mcp", "networkx", "opentelemetry", "rich", "typer", *PACKS}
# What a flow of plain functions does without, from the import to the end of its run: configs, packs, and what
# they bring in, for configs what pydantic loads when the first model is made.
NOT_TO_RUN: Final = {
    "dataflow.branching",
    "dataflow.config",
    "dataflow.conversations",
    "dataflow.insides",
    "dataflow.memo_table",
    "dataflow.memoizing",
    "dataflow.log_records",
    "dataflow.redacting",
    "dataflow.redaction",
    "dataflow.registry",
    "dataflow.secret",
    "dataflow.secret_forms",
    "dataflow.stores",
    "dataflow.values",
    "importlib.metadata",
    "pydantic.fields",
    "pydantic.functional_serializers",
    "sqlite3",
}
# What only wiring it does without.
NOT_TO_WIRE: Final = NOT_TO_RUN | {"anyio", "asyncio", "dataflow.compiling", "dataflow.plan", "dataflow.run"}
RUNNING: Final = """
from dataflow import Flow

async def double(number: int) -> int:
    return 2 * number

with Flow("twice") as flow:
    once = flow.add(double, number=flow.input("number", int))
    flow.output("number", flow.add(double, number=once.out).out)

assert flow.run_sync(number=1)["number"] == 4
"""

PROPERTIES: Final = Path(__file__).parent / "properties"
REFERENCE: Final = [
    f"tests.properties.{name}"
    for name in ("reference", "reference_blocks", "reference_tokens", "document_reading")
]

ENGINE: Final = {module.name: module for module in modules_of("dataflow")}
ENGINE_MODULES: Final = pytest.mark.parametrize("module", ENGINE.values(), ids=ENGINE)
#: What is held to the rules for packs: the packs, and the formats of other systems.
PACK_PACKAGES: Final = (
    *PACKS,
    *(f"dataflow.formats.{name}" for name in ("agentflow", "agentron", "cagent", "clickweave", "hifide")),
)
PACK_MODULES: Final = pytest.mark.parametrize(
    "module",
    [module for pack in PACK_PACKAGES for module in modules_of(pack)],
    ids=lambda module: module.name,
)


def entry_of(name: str) -> str | None:
    """Return the entry of the table that a module of dataflow stands under."""
    short = name.removeprefix("dataflow").removeprefix(".")
    entries = set[str]().union(*ROWS)
    while short not in entries:
        short, dot, _ = short.rpartition(".")
        if not dot:
            return None
    return short


def row_of(name: str) -> int:
    entry = entry_of(name)
    if entry is None:
        imported = ", ".join(sorted({target for target, _ in targets_of(ENGINE[name])})) or "nothing"
        pytest.fail(
            f"{name} stands in no row: add it to ROWS in tests/test_architecture.py, "
            f"in the lowest row that has nothing above it of what it imports ({imported})"
        )
    return next(number for number, row in enumerate(ROWS) if entry in row)


def targets_of(module: Module) -> Iterator[tuple[str, int]]:
    """Yield the modules of dataflow that a module imports at run time, each with its line."""
    for found in imports_of(module):
        inner = f"{found.module}.{found.name}"
        target = inner if inner in ENGINE else found.module
        if target in ENGINE:
            yield target, found.line


def roots_of(module: Module) -> Iterator[tuple[str, Import]]:
    for found in imports_of(module, for_types=True):
        yield found.module.partition(".")[0], found


def test_no_module_stands_in_two_rows() -> None:
    entries = [entry for row in ROWS for entry in row]
    assert sorted(entries) == sorted(set(entries))


@ENGINE_MODULES
def test_a_module_imports_nothing_above_it(module: Module) -> None:
    row = row_of(module.name)
    above = [f"line {line}: {target}" for target, line in targets_of(module) if row_of(target) < row]
    assert not above, f"{module.name} imports from a row above its own"


def test_imports_make_no_cycle() -> None:
    graph = {name: {target for target, _ in targets_of(module)} - {name} for name, module in ENGINE.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("a cycle of imports, so a layer is missing: " + " <- ".join(error.args[1]))


@ENGINE_MODULES
def test_the_engine_imports_no_pack_and_no_library_of_one(module: Module) -> None:
    banned = NEVER - EXCEPT.get(entry_of(module.name) or "", set())
    assert not [f"line {found.line}: {root}" for root, found in roots_of(module) if root in banned]


@PACK_MODULES
def test_a_pack_imports_only_public_names(module: Module) -> None:
    """Those of `dataflow`, of `dataflow.authoring` and, by `__all__`, of other packs."""
    public = {"dataflow": dataflow.__all__, "dataflow.authoring": authoring.__all__}
    own = next(pack for pack in PACK_PACKAGES if f"{module.name}.".startswith(f"{pack}."))
    for root, found in roots_of(module):
        if root not in ("dataflow", *PACKS) or f"{found.module}.".startswith(f"{own}."):
            continue
        if found.module in PACKS:
            public[found.module] = importlib.import_module(found.module).__all__
        name = f"line {found.line}: {found.module}.{found.name}"
        assert found.name in public.get(found.module, ()), (
            f"{name} is not public; import public names one by one"
        )


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
        for part in ("failure", "ports", "document.flow", "document.parts", "document.sources")
    }
    assert imported <= allowed | {*REFERENCE}


@pytest.mark.parametrize("code", ["import dataflow", "from dataflow import *", RUNNING])
def test_neither_importing_nor_running_loads_anything_heavy(code: str) -> None:
    loaded = {name.partition(".")[0] for name in modules_after(code)}
    assert not sorted(loaded & NOT_AT_IMPORT)


def test_a_flow_is_wired_without_what_it_only_needs_to_run() -> None:
    assert not NOT_TO_WIRE.intersection(modules_after("from dataflow import Flow, node, threaded, collect"))


def test_a_flow_of_plain_functions_runs_without_what_it_does_not_use() -> None:
    assert not NOT_TO_RUN.intersection(modules_after(RUNNING))


def test_no_module_has_the_name_of_a_public_name() -> None:
    modules = {name.split(".")[1] for name in ENGINE if "." in name}
    assert not modules & set(dataflow.__all__)
