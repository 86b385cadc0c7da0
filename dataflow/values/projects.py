"""Tell the modules of the project of a function from libraries, and find what its code refers to there.

A module is of a library if its top-level package lies in a folder of installed distributions:
`site-packages`, `dist-packages`, or one with a `*.dist-info`. Python's own modules, the engine and its packs
are neither. All others are of the project: scripts, notebooks, and packages that are installed to be edited.
"""

from __future__ import annotations

import dis
import sys
from enum import Enum
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec, resolve_name
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "OWN_PACKAGES",
    "Origin",
    "Reference",
    "imported",
    "module_of",
    "origin_of",
    "references_in",
]

#: The packages of this distribution.
OWN_PACKAGES: Final = frozenset(
    {"dataflow", "dataflow_agent", "dataflow_control", "dataflow_desktop", "dataflow_formats"}
)
_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})
_LOADS: Final = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
_ATTRIBUTES: Final = frozenset({"LOAD_ATTR", "LOAD_METHOD"})


class Origin(Enum):
    """Where a module comes from."""

    PROJECT = "project"
    LIBRARY = "library"
    FIXED = "fixed"  # Python or the engine


class Reference(NamedTuple):
    """What code refers to: a global variable with attributes of it, or a name that it imports."""

    names: tuple[str, ...]  # empty for a module that is imported as a whole
    module: str | None = None  # what is imported inside a function
    level: int = 0


@lru_cache(maxsize=10_000)
def origin_of(module: str) -> Origin:
    """Return where a module comes from; does not import it."""
    root = module.partition(".")[0]
    if root in sys.stdlib_module_names or root in OWN_PACKAGES:
        return Origin.FIXED
    file = _file_of(module, root)
    if file is None:  # as of a notebook
        return Origin.PROJECT
    depth = module.count(".") + (file.name == "__init__.py")
    folders = file.parents
    return Origin.LIBRARY if _is_installed(folders[min(depth, len(folders) - 1)]) else Origin.PROJECT


def _file_of(module: str, root: str) -> Path | None:
    loaded = sys.modules.get(module)
    if loaded is not None:
        file = getattr(loaded, "__file__", None)
    else:
        try:
            spec = find_spec(root)
        except (ImportError, ValueError):  # a module without a spec, such as `__main__`
            spec = None
        file = None if spec is None or not spec.has_location else spec.origin
    return Path(file) if isinstance(file, str) else None


@lru_cache(maxsize=1_000)
def _is_installed(folder: Path) -> bool:
    return not _INSTALLED.isdisjoint(folder.parts) or next(folder.glob("*.dist-info"), None) is not None


def module_of(value: Any) -> str:
    """Return the name of the module that a function, class or module is from, empty if it has none."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return name if isinstance(name, str) else ""


@lru_cache(maxsize=10_000)
def references_in(code: CodeType) -> tuple[Reference, ...]:
    """List what a code object and its inner code objects refer to by name, in a fixed order."""
    found: dict[Reference, None] = {}
    codes = [code]
    for one in codes:  # grows while it is walked
        codes += [constant for constant in one.co_consts if isinstance(constant, CodeType)]
        found |= dict.fromkeys(_references_in(one))
    return tuple(sorted(found, key=repr))


def _references_in(code: CodeType) -> Iterator[Reference]:
    steps = list(dis.get_instructions(code))
    for number, step in enumerate(steps):
        if step.opname in _LOADS:
            yield Reference((step.argval, *_following(steps, number + 1, _ATTRIBUTES)))
        elif step.opname == "IMPORT_NAME":
            level = steps[number - 2].argval
            level = level if isinstance(level, int) else 0
            names = [one.argval for one in steps[number + 1 :] if one.opname == "IMPORT_FROM"]
            fromlist = steps[number - 1].argval
            wanted = [name for name in names if name in fromlist] if isinstance(fromlist, tuple) else []
            yield from (Reference((name,), step.argval, level) for name in wanted)
            if not wanted:
                yield Reference((), step.argval, level)


def _following(steps: list[dis.Instruction], start: int, names: frozenset[str]) -> Iterator[str]:
    for step in steps[start:]:
        if step.opname not in names:
            return
        yield step.argval


def imported(reference: Reference, variables: Mapping[str, Any]) -> ModuleType | str | None:
    """Return the module that code imports; of a library or Python only its name, None if there is none.

    A module of the project is imported now, as the code would: what it refers to is part of the code.
    """
    name = reference.module or ""
    if reference.level:
        try:
            name = resolve_name("." * reference.level + name, str(variables.get("__package__") or ""))
        except ImportError:
            return None
    if origin_of(name) is not Origin.PROJECT:
        return name
    try:
        return import_module(name)
    except Exception:  # noqa: BLE001 - code of the project; the node itself fails with it if it gets there
        return None
