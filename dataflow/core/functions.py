"""Import functions that documents name as `<module>:<qualname>`, and name functions so (S1.2)."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from dataflow.base.failure import Interruption, text_of_error
from dataflow.base.wording import shortened
from dataflow.core.public_names import OWN_PACKS, package_of, public_module
from dataflow.diagnostics.arguments import FUNCTION_UNSUITABLE
from dataflow.diagnostics.node_types import IMPORT_FAILED, IMPORTED_NOT_CALLABLE
from dataflow.errors import ArgumentInvalid, PackError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType

__all__ = [
    "SHOWN_NAMES",
    "NamedFunction",
    "check_function",
    "function_of",
    "import_function",
    "import_node",
    "importing",
    "is_function_name",
    "is_hidden",
    "is_module",
    "loaded_object",
    "mark_awaited",
    "module_name",
    "name_of_function",
    "name_of_node",
]

K = TypeVar("K")

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
        found = f"the async function {getattr(function, '__name__', '')}".rstrip()
        raise ArgumentInvalid(FUNCTION_UNSUITABLE(expected=function_of(values), found=found))
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
        problem = FUNCTION_UNSUITABLE(expected=function_of(values), found=found)
        raise ArgumentInvalid(problem) from None


def function_of(values: Iterable[str]) -> str:
    """Describe a plain function by its arguments."""
    return f"a plain function of the {' and the '.join(values)}"


def name_of_function(function: Callable[..., Any]) -> str | None:
    """Return a name by which `import_function` finds a function; None for lambdas, local and bound ones.

    A function that is exported by a package with a public name is named by that package, if the name leads
    back to it. A function whose name leads to another one, of a pack of the engine, has no name.
    """
    module = getattr(function, "__module__", None)
    qualname = getattr(function, "__qualname__", None)
    if module is None or qualname is None or not is_function_name(f"{module}:{qualname}"):
        return None
    if public := _exported_name(module, qualname, function):
        return public
    if _within(sys.modules.get(module), qualname) is not function or is_hidden(function):
        return None
    return _plain_name(module, qualname)


def name_of_node(function: Callable[..., Any]) -> str:
    """Return a name by which `import_node` finds the function of a node type, or the node made of it."""
    module, qualname = function.__module__, function.__qualname__
    found = _within(sys.modules.get(module), qualname)
    return _exported_name(module, qualname, found) or _plain_name(module, qualname)


def is_hidden(function: object) -> bool:
    """Return whether a pack of the engine has another function of the same name, which is found instead."""
    module = str(getattr(function, "__module__", None))
    name = _plain_name(module, str(getattr(function, "__qualname__", None)))
    place = _place_of(name) if name.partition(":")[0] in OWN_PACKS else None
    return place is not None and _imported(place) is not function


def _plain_name(module: str, qualname: str) -> str:
    return f"{module_name(module) if module == '__main__' else SHOWN_NAMES.get(module, module)}:{qualname}"


def _exported_name(module: str, qualname: str, found: object) -> str | None:
    """Return the public name of an object that its package exports, if it leads back to the package."""
    package = package_of(module)
    if package is None or found is None or _within(package, qualname) is not found:
        return None
    prefix = public_module(module)
    name = f"{prefix}:{qualname}"
    if prefix == package.__name__:
        return name
    is_free = prefix in OWN_PACKS or not is_module(prefix)
    return name if is_free and _place_of(name) == f"{package.__name__}:{qualname}" else None


def is_module(name: str) -> bool:
    """Return whether a module at the top of the import path has this name, without importing it."""
    return name in sys.modules or importlib.util.find_spec(name) is not None


def loaded_object(place: str) -> Any:
    """Return what is at a location, `module:qualname`, if the module is loaded; None if it is not."""
    module, _, qualname = place.partition(":")
    return _within(sys.modules.get(module), qualname)


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
        inner = error.diagnostics[0] if error.diagnostics else IMPORT_FAILED(error=str(error))
        raise PackError(wanted_by, inner) from error
    except (KeyboardInterrupt, Interruption):
        raise
    except BaseException as error:
        line = " ".join(text_of_error(error)[: 2 * MOST_CHARACTERS].split())
        if isinstance(error, SyntaxError) and error.filename:  # its own text has the name without the folder
            line = f"{error.msg} ({error.filename}, line {error.lineno})"
        described = f"{type(error).__name__}: {shortened(line, MOST_CHARACTERS)}".removesuffix(": ")
        raise PackError(
            wanted_by, IMPORT_FAILED("" if what == wanted_by else what, error=described)
        ) from error


def mark_awaited(kind: type[K]) -> type[K]:
    """Have `inspect.iscoroutinefunction` say that calls of instances are awaited, from Python 3.12 on.

    The class has the mark: an attribute of each instance would be part of its content hash.
    """
    if sys.version_info >= (3, 12):
        inspect.markcoroutinefunction(kind)
    return kind


def import_function(name: str) -> Callable[..., Any]:
    """Import a function by its current or a former name; raises PackError.

    A name that a pack of the engine has leads to the pack, as `control:read_text`.
    """
    with importing(name, name):
        # A script next to the document may have the name of one of our packs; it is not imported instead.
        own = _place_of(name) if name.partition(":")[0] in OWN_PACKS else None
    return import_node(own or name, name)


def import_node(name: str, wanted_by: str = "") -> Callable[..., Any]:
    """Import the function of a node type, or a node; raises PackError.

    A module of the name comes before a pack, whose node types are called `pack.name`.
    """
    wanted_by = wanted_by or name
    with importing(wanted_by, wanted_by):
        try:
            found = _imported(name)
        except (ModuleNotFoundError, AttributeError) as error:
            place = _place_of(name) if _is_missing(name.partition(":")[0], error) else None
            if place is None:
                raise
            found = _imported(place)
    if not callable(found):
        raise PackError(wanted_by, IMPORTED_NOT_CALLABLE(found=type(found).__name__))
    return found  # type: ignore[no-any-return]  # callable, as just checked


def _is_missing(module: str, error: ModuleNotFoundError | AttributeError) -> bool:
    """Return whether the module or its attribute does not exist, rather than that the module fails."""
    if isinstance(error, AttributeError):
        return module in sys.modules
    return f"{module}.".startswith(f"{error.name}.")


def _imported(name: str) -> Any:
    module, _, qualname = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


def _place_of(name: str) -> str | None:
    from dataflow.core.former_names import place_of  # reads the metadata of all packages

    return place_of(name)
