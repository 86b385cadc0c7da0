"""Import functions that documents name as `<module>:<qualname>`, and name functions so (S1.2)."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.failure import Interruption, text_of_error
from dataflow.base.wording import shortened
from dataflow.core.public_names import OWN_PACKS, package_of, public_module
from dataflow.errors import PackError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

__all__ = [
    "SHOWN_NAMES",
    "NamedFunction",
    "check_function",
    "import_function",
    "importing",
    "is_function_name",
    "module_name",
    "name_of_function",
]

MOST_CHARACTERS: Final = 500  # of an error that a user's module raises
_NAME: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")

#: The displayed names of modules that were loaded by the path of their file.
SHOWN_NAMES: dict[str, str] = {}


def module_name(module: str) -> str:
    """Return the name of a module in ids: the public name of its package, or for scripts the file's name."""
    if module == "__main__":
        file = getattr(sys.modules.get("__main__"), "__file__", None)
        return Path(file).stem if file else module
    return SHOWN_NAMES.get(module) or public_module(module)


def is_function_name(text: str) -> bool:
    """Return whether a string has the form `module:qualname`, by which documents name functions."""
    return _NAME.fullmatch(text) is not None


def check_function(function: object, *values: str) -> None:
    """Raise ValueError for an async function, or one that does not take these positional arguments.

    Values that are not callable, and built-in types without a signature, are accepted.
    """
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        name = getattr(function, "__name__", "it")
        raise ValueError(f"expected a plain function, found the async function {name}; decide inside a node")
    if not callable(function):
        return
    try:
        signature = inspect.signature(function, follow_wrapped=False)  # a wrapper may take other values
    except (ValueError, TypeError):
        return
    try:
        signature.bind(*values)
    except TypeError:
        name = getattr(function, "__name__", type(function).__name__)
        bare = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
        found = f"{name}{signature.replace(parameters=bare, return_annotation=signature.empty)}"
        raise ValueError(f"expected a function of the {' and the '.join(values)}, found {found}") from None


def name_of_function(function: Callable[..., Any]) -> str | None:
    """Return a name by which `import_function` finds a function; None for lambdas, local and bound ones.

    A function that is exported by a package with a public name is named by that package.
    """
    module = getattr(function, "__module__", None)
    qualname = getattr(function, "__qualname__", None)
    if module is None or qualname is None or not is_function_name(f"{module}:{qualname}"):
        return None
    if _within(package_of(module), qualname) is function:
        return f"{public_module(module)}:{qualname}"
    if _within(sys.modules.get(module), qualname) is not function:
        return None
    return f"{SHOWN_NAMES.get(module, module) if module != '__main__' else module_name(module)}:{qualname}"


def _within(module: ModuleType | None, qualname: str) -> Any:
    found: Any = module
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found


@dataclass(frozen=True, slots=True)
class NamedFunction:
    """A function referred to by name in a document; it is looked up when the flow is compiled."""

    name: str

    def __call__(self, *_: Any) -> Any:
        raise AssertionError(f"{self.name} is looked up before it is called")


@contextmanager
def importing(wanted_by: str, what: str) -> Iterator[None]:
    """Convert any error raised by importing user code to a PackError that names both."""
    try:
        yield
    except PackError as error:
        raise PackError(wanted_by, str(error)) from error
    except (KeyboardInterrupt, Interruption):
        raise
    except BaseException as error:
        line = " ".join(text_of_error(error)[: 2 * MOST_CHARACTERS].split())
        described = f"{type(error).__name__}: {shortened(line, MOST_CHARACTERS)}".removesuffix(": ")
        reason = f"{what} cannot be imported: {described}"
        raise PackError(wanted_by, reason.removeprefix(f"{wanted_by} ")) from error


def import_function(name: str) -> Callable[..., Any]:
    """Import a function by its current or a former name; raises PackError."""
    with importing(name, name):
        try:
            # A script next to the document may have the name of one of our packs; it is not imported instead.
            own = _place_of(name) if name.partition(":")[0] in OWN_PACKS else None
            found = _imported(own or name)
        except (ImportError, AttributeError):
            place = _place_of(name)
            if place is None:
                raise
            found = _imported(place)
    if not callable(found):
        raise PackError(name, f"is no function, but {type(found).__name__}")
    return found  # type: ignore[no-any-return]  # callable, as just checked


def _imported(name: str) -> Any:
    module, _, qualname = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


def _place_of(name: str) -> str | None:
    from dataflow.core.former_names import place_of  # reads the metadata of all packages

    return place_of(name)
