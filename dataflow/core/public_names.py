"""Public names: what classes and functions are called outside the code, wherever they are (S1.2, S12.3).

A package may name itself, `__stored_as__ = "agent"`: its classes and functions are then `agent:Toolbox` in
stores, ids and documents, and may move among its modules. Anything else is called `module:qualname`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["OWN_PACKS", "package_of", "public_module", "public_name", "public_place"]

#: The packs that come with the engine, whose names nobody else may take (S1.2).
OWN_PACKS: Final = ("agent", "agentflow", "agentron", "cagent", "clickweave", "control", "desktop", "hifide")
ATTRIBUTE: Final = "__stored_as__"


def package_of(module: str) -> ModuleType | None:
    """Return the innermost package that names itself, of those around a module and the module; or None."""
    while module:
        found = sys.modules.get(module)
        if found is not None and ATTRIBUTE in vars(found):
            return found
        module = module.rpartition(".")[0]
    return None


def public_module(module: str) -> str:
    """Return what the package of a module calls itself, the module if none does."""
    package = package_of(module)
    return module if package is None else str(vars(package)[ATTRIBUTE])


def public_place(place: str) -> str:
    """Name what is at `module:qualname` by its package, or else as it is."""
    module, colon, qualname = place.partition(":")
    return f"{public_module(module)}{colon}{qualname}"


def public_name(of: Any) -> str:
    """Name a class or a function by its package, or else by its module."""
    return public_place(f"{of.__module__}:{of.__qualname__}")
