"""Loading documents, and the Python that they name (S20).

Loading imports what a document names, so load only files you trust; with `imports=False` nothing of
theirs is imported, and types that are not looked into take any port.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dataflow.branching import BUILT_IN
from dataflow.errors import FormatError, PackError, choices
from dataflow.formats.native import load
from dataflow.functions import is_function_name
from dataflow.nodetype import NodeType, opaque_type
from dataflow.packs import find_type, type_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike
    from types import ModuleType

    from dataflow.declarations import FindType
    from dataflow.wiring import Wiring

__all__ = ["import_file", "read_document"]

FORMATS = ("native",)


def read_document(
    path: str | PathLike[str], *, format: str | None = None, imports: bool = True
) -> tuple[Wiring, FindType]:
    """Read a document without checking the flow; raises FormatError or FlowInvalid.

    The second result looks up the node types that the document names.
    """
    if format not in (None, *FORMATS):
        raise FormatError(str(path), f"there is no format {format!r}; {choices(FORMATS)}")
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(str(path), f"is no UTF-8 text: {error}") from error
    except OSError as error:
        raise FormatError(str(path), f"cannot be read: {error.strerror or error}") from error
    wiring = load(text, str(path))
    return wiring, partial(_find, file.parent, uses=wiring.uses, imports=imports)


def _find(folder: Path, id: str, *, uses: Mapping[str, str], imports: bool) -> NodeType:
    """Look up a type of a document: one of its own functions, or what any flow can use."""
    if id in BUILT_IN:
        return BUILT_IN[id]
    prefix, dot, name = id.partition(".")
    if dot and prefix in uses:
        if not imports:
            return opaque_type(id)
        return type_of(_function(_used_module(folder, prefix, uses[prefix]), prefix, name), id)
    if is_function_name(id) and not imports:
        return opaque_type(id)
    return find_type(id)


def _function(module: ModuleType, prefix: str, name: str) -> Any:
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None or not callable(found):
        functions = [
            key for key, value in vars(module).items() if callable(value) and not key.startswith("_")
        ]
        raise PackError(f"{prefix}.{name}", f"uses has no such function; {choices(functions)}")
    return found


def _used_module(folder: Path, prefix: str, place: str) -> ModuleType:
    if place.endswith(".py"):
        return import_file(folder / place, f"uses {prefix}")
    try:
        return importlib.import_module(place)
    except Exception as error:  # importing runs somebody's module, which may raise anything
        raise PackError(
            f"uses {prefix}", f"{place} cannot be imported: {type(error).__name__}: {error}"
        ) from error


def import_file(file: Path, wanted_by: str) -> ModuleType:
    """Import a Python file once, under a name that no installed module can have; raises PackError."""
    if not file.is_file():
        raise PackError(wanted_by, f"there is no file {file}")
    real = file.resolve()
    name = f"_dataflow_{hashlib.sha256(str(real).encode()).hexdigest()[:12]}_{real.stem}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, real)
    assert spec is not None, "a path that ends in .py has a loader"
    assert spec.loader is not None, "as above"
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # as above
        del sys.modules[name]
        raise PackError(wanted_by, f"{file} cannot be imported: {type(error).__name__}: {error}") from error
    return module
