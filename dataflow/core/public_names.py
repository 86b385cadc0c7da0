"""Public names of classes and functions, independent of the modules that define them (S1.2, S12.3).

A package can set a public name, `__stored_as__ = "agent"`: its classes and functions are then named
`agent:Toolbox` in stores, ids and documents, and may move among its modules. All others are named
`module:qualname`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["OWN_PACKS", "package_of", "public_module", "public_name", "public_place"]

#: The packs that come with the engine, whose names are reserved (S1.2).
OWN_PACKS: Final = ("agent", "agentflow", "agentron", "cagent", "clickweave", "control", "desktop", "hifide")
ATTRIBUTE: Final = "__stored_as__"


def package_of(module: str) -> ModuleType | None:
    """Return the module, or the innermost package around it, that has a public name; None if none has."""
    while module:
        found = sys.modules.get(module)
        if found is not None and ATTRIBUTE in vars(found):
            return found
        module = module.rpartition(".")[0]
    return None


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
