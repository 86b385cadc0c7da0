"""Resolve the annotations of functions and classes, also those that name their own type parameters."""

from __future__ import annotations

import sys
import typing
from typing import Any, Final

__all__ = ["resolved_hints"]

#: Earlier versions of `get_type_hints` do not know the type parameters of `def f[T]` and `class C[T]`.
_KNOWS_PARAMETERS: Final = sys.version_info >= (3, 13)


def resolved_hints(target: Any) -> dict[str, Any]:
    """Return the annotations of a function or class by name; raises what their evaluation raises."""
    is_parametrised = any(map(_parameters, _defining(target)))
    if _KNOWS_PARAMETERS or not is_parametrised:
        return typing.get_type_hints(target, include_extras=True)
    if not isinstance(target, type):
        return typing.get_type_hints(target, localns=_parameters(target), include_extras=True)
    hints: dict[str, Any] = {}
    for base in reversed(_defining(target)):
        holder = type("holder", (), {"__annotations__": vars(base).get("__annotations__", {})})
        module = vars(sys.modules[base.__module__]) if base.__module__ in sys.modules else {}
        # As in `get_type_hints`, names of the module come before those of the class.
        names = {**module, **_parameters(base)}
        hints |= typing.get_type_hints(holder, dict(vars(base)), names, include_extras=True)
    return hints


def _defining(target: Any) -> tuple[Any, ...]:
    return target.__mro__ if isinstance(target, type) else (target,)


def _parameters(target: Any) -> dict[str, Any]:
    return {one.__name__: one for one in getattr(target, "__type_params__", ())}
