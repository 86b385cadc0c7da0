"""What authors of packs and file formats need in addition to `dataflow`.

A pack imports `dataflow`, `dataflow.authoring` and the public names of other packs, nothing else. Each name
is imported when it is first used; the stub beside this file declares the names for type checkers.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

# By module of `dataflow`; lazy_loader supports only modules of the package itself.
_NAMES = {
    "authoring.loops": [
        "Gate",
        "GraphLoop",
        "entry_port",
        "find_gates",
        "find_loops",
        "gate_type",
        "reachable",
    ],
    "authoring.parts": ["PartReader", "get_mapping", "get_mappings", "unique_ids"],
    "authoring.writer": ["free_name", "qualified_model", "write_edge", "write_source"],
    "base.wording": ["shortened"],
    "core.config": ["TypeField", "resolve_path", "type_of_schema"],
    "core.functions": ["import_function", "is_function_name", "name_of_function"],
    "core.public_names": ["moved_names"],
    "core.wiring": ["node_of_path"],
    "diagnostics.catalogue": ["foreign"],
    "diagnostics.diagnostic": ["Kind", "kinds_of"],
    "formats.foreign": ["Format", "FormatOptions", "JsonDict", "Notes", "Records", "Words"],
    "formats.problems": ["describe_value"],
    "formats.reader": ["read_data"],
    "formats.tree": ["DocumentPath"],
    "maximums": ["maximum"],
    "packs.installed_node": ["InstalledNode"],
    "runtime.shared": ["sharing"],
    "secrets.known": ["redacted"],
    "types.validation": ["check_json", "json_schema"],
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(_HOMES)  # noqa: PLE0605 - type checkers read the stub


def __getattr__(name: str) -> _Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_import_module(f"dataflow.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__]
