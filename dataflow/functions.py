"""Functions named in documents as `<module>:<qualname>`: finding them, and naming one (S1.2)."""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import AfterValidator, PlainSerializer

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "SHOWN_NAMES",
    "FunctionReference",
    "NamedFunction",
    "is_function_name",
    "load_function",
    "module_name",
    "name_of_function",
]

_NAME: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


#: Modules that were loaded by the path of their file, and the names they are shown under.
SHOWN_NAMES: dict[str, str] = {}


def module_name(module: str) -> str:
    """Name a module in ids: `__main__` and a module loaded by its path are called like their file (S1.2)."""
    if module == "__main__":
        file = getattr(sys.modules.get("__main__"), "__file__", None)
        return Path(file).stem if file else module
    return SHOWN_NAMES.get(module, module)


def is_function_name(text: str) -> bool:
    """Tell whether the text has the form `module:qualname`."""
    return _NAME.fullmatch(text) is not None


def _check(value: object) -> object:
    if callable(value) or (isinstance(value, str) and is_function_name(value)):
        return value
    raise ValueError(f"expected a function, written module:qualname, found {value!r}")


def name_of_function(function: Callable[..., Any]) -> str | None:
    """Name a function so that `load_function` finds it; None for lambdas, local and bound ones."""
    module = getattr(function, "__module__", None)
    qualname = getattr(function, "__qualname__", None)
    if module is None or qualname is None or not is_function_name(f"{module}:{qualname}"):
        return None
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    if found is not function:
        return None
    return f"{module_name(module)}:{qualname}"


FunctionReference = Annotated[
    Any,
    AfterValidator(_check),
    PlainSerializer(lambda value: value if isinstance(value, str) else name_of_function(value)),
]


@dataclass(frozen=True, slots=True)
class NamedFunction:
    """A function that a document names; it is looked up when the flow is compiled."""

    name: str

    def __call__(self, *_: Any) -> Any:
        raise AssertionError(f"{self.name} is looked up before it is called")


def load_function(reference: str | Callable[..., Any]) -> Callable[..., Any]:
    """Return the function itself; raises ImportError or AttributeError naming what is missing."""
    return _load(reference) if isinstance(reference, str) else reference


@lru_cache(maxsize=1024)
def _load(name: str) -> Callable[..., Any]:
    module, _, qualname = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    if not callable(found):
        raise TypeError(f"{name} is no function, but {type(found).__name__}")
    return found  # type: ignore[no-any-return]  # callable, as just checked
