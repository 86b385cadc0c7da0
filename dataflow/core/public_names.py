"""Public names of classes and functions, independent of the modules that define them (S1.2, S12.3).

A package can set a public name, `__stored_as__ = "agent"`: its classes and functions are then named
`agent:Toolbox` in stores, ids and documents, and may move among its modules. All others are named
`module:qualname`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from dataflow.diagnostics.node_types import PUBLIC_NAME_INVALID, PUBLIC_NAME_RESERVED
from dataflow.errors import PackError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

__all__ = ["OWN_PACKS", "moved_names", "package_of", "public_module", "public_name", "public_place"]

#: The packs that come with the engine, whose names are reserved (S1.2).
OWN_PACKS: Final = ("agent", "agentflow", "agentron", "cagent", "clickweave", "control", "desktop", "hifide")
#: The packages that may have the name of the engine or of a reserved pack.
OWN_PACKAGES: Final = frozenset(
    {"dataflow", "dataflow_agent", "dataflow_control", "dataflow_desktop", "dataflow_formats"}
)
ATTRIBUTE: Final = "__stored_as__"


def package_of(module: str) -> ModuleType | None:
    """Return the module, or the innermost package around it, that has a public name; None if none has.

    Raises PackError for a public name that is invalid, or reserved for the engine.
    """
    while module:
        found = sys.modules.get(module)
        if found is not None and ATTRIBUTE in vars(found):
            _check(module, vars(found)[ATTRIBUTE])
            return found
        module = module.rpartition(".")[0]
    return None


def _check(package: str, name: object) -> None:
    if not isinstance(name, str) or not name.isidentifier():
        raise PackError(package, PUBLIC_NAME_INVALID(found=repr(name)))
    if name in ("dataflow", *OWN_PACKS) and package.partition(".")[0] not in OWN_PACKAGES:
        raise PackError(package, PUBLIC_NAME_RESERVED(name=name))


def public_module(module: str) -> str:
    """Return the public name of a module's package, or the module's name if there is none."""
    package = package_of(module)
    return module if package is None else str(vars(package)[ATTRIBUTE])


def public_place(place: str) -> str:
    """Replace the module in `module:qualname` by the public name of its package, if it has one."""
    module, colon, qualname = place.partition(":")
    return f"{public_module(module)}{colon}{qualname}"


def public_name(of: Any) -> str:
    """Return the public name of a class or a function."""
    return public_place(f"{of.__module__}:{of.__qualname__}")


def moved_names(package: str, modules: Mapping[str, str]) -> dict[str, str]:
    """Return the public names by former name of classes and functions that were named by their modules.

    `modules` has the qualified names, separated by spaces, by the module that they were in; `package` is the
    public name of their package. The result is for `Pack(former=...)`.
    """
    return {
        f"{module}:{name}": f"{package}:{name}" for module, names in modules.items() for name in names.split()
    }
