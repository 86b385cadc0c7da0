"""Load documents, and the Python files that they name (S20).

Loading imports the files that a document names, so load only files you trust. With `imports=False` none of
them is imported, and types that cannot be inspected accept any port.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from dataflow.base.failure import text_of_error
from dataflow.builder.builtin import BUILT_IN
from dataflow.builder.placement import MOST_NESTED, is_too_deep
from dataflow.core.functions import SHOWN_NAMES, import_function, importing, is_function_name
from dataflow.core.nodetype import NodeType, opaque_type
from dataflow.diagnostics.documents import (
    FILE_IN_ITSELF,
    FILE_UNREADABLE,
    OPTION_UNKNOWN,
    SIGNATURE_UNREADABLE,
    USES_CIRCULAR,
    USES_FILE_MISSING,
    USES_FUNCTION_MISSING,
    USES_INVALID,
)
from dataflow.diagnostics.wiring import NESTED_TOO_DEEP
from dataflow.errors import DataflowError, FlowInvalid, FormatError, PackError
from dataflow.formats.foreign import NATIVE, NO_OPTIONS, Origins, chosen, translated
from dataflow.formats.native.reader import checked, files_in, wire
from dataflow.formats.reader import decode, read, read_file, reason_of
from dataflow.packs.pack import type_of
from dataflow.packs.registry import find_type, is_offered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike
    from types import ModuleType

    from dataflow.compiler.names import FindFunction, FindType
    from dataflow.core.wiring import Nested, Places, Remark, Wiring
    from dataflow.formats.foreign import FormatOptions
    from dataflow.formats.native.document import FlowDocument
    from dataflow.formats.tree import Positions

__all__ = ["import_file", "read_document"]

#: Makes a flow that can be nested from a graph definition.
MakeFlow: TypeAlias = "Callable[[Wiring, FindType, FindFunction], Nested]"
#: A nested file by its resolved path, and by its name in the document around it.
_Name: TypeAlias = tuple[Path, str]


def read_document(
    path: str | PathLike[str],
    make_flow: MakeFlow,
    *,
    format: str | None = None,
    options: FormatOptions = NO_OPTIONS,
    imports: bool = True,
    text: str | None = None,
) -> tuple[Wiring, FindType, FindFunction]:
    """Read a document without checking the flow; raises FormatError or FlowInvalid.

    A document of a foreign format is translated; `options` are the options of that format. The other
    results look up the node types and the functions that the document names. Each file that is nested in it
    is read once, before those that name it. A `text` is read in place of the file at that path.
    """
    known: dict[_Name, Nested | FormatError | FlowInvalid] = {}
    opened = [_opened(Path(path), "", (), _Reading(make_flow, imports, known), format, options, text)]
    while True:
        file = opened[-1]
        if file.waiting:
            name = file.waiting.pop()
            if name not in known:
                around = tuple(one.place for one in opened)
                try:
                    opened.append(
                        _opened(file.nesting.folder / name[1], name[1], around, file.nesting.reading)
                    )
                except (FormatError, FlowInvalid) as error:
                    known[name] = error
            continue
        opened.pop()
        if not opened:
            return file.wired()
        try:
            read = file.wired()
        except FlowInvalid as error:
            known[file.place, file.given] = error
        else:
            known[file.place, file.given] = make_flow(*read)
            opened[-1].nesting.remarks.extend(read[0].report)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What all files of one flow share: how flows are made, and the subflows that have been read."""

    make_flow: MakeFlow
    imports: bool
    known: dict[_Name, Nested | FormatError | FlowInvalid]  # or why it cannot be read


@dataclass(frozen=True, slots=True)
class _OpenFile:
    """A file that has been read, and waits for those that are nested in it."""

    given: str  # its name in the document around it
    name: str
    place: Path
    document: FlowDocument
    places: Places
    nesting: _Nesting
    waiting: list[_Name]  # the first is the last

    def wired(self) -> tuple[Wiring, FindType, FindFunction]:
        """Return the results of `read_document`; raises FormatError if subflows are nested too deep."""
        wiring = wire(self.document, self.places, self.name, self.nesting.nest)
        if any(map(is_too_deep, {id(one.wiring): one.wiring for one in wiring.nested}.values())):
            raise FormatError(self.name, NESTED_TOO_DEEP(expected=f"at most {MOST_NESTED} levels"))
        wiring.file, wiring.report = self.given, tuple(self.nesting.remarks)
        uses = self.nesting.uses(wiring)
        return wiring, uses.find_type, uses.find_function


def _opened(
    file: Path,
    given: str,
    around: tuple[Path, ...],
    reading: _Reading,
    format: str | None = None,
    options: FormatOptions = NO_OPTIONS,
    text: str | None = None,
) -> _OpenFile:
    """Read one file, which is nested in those around it."""
    name, place = str(file), _place(file)
    if place in around:
        files = " -> ".join(one.name for one in (*around, file))
        raise FormatError(name, FILE_IN_ITSELF(files=files))
    content = decode(read_file(file), name) if text is None else text
    data, positions = read(content, name, takes_words=True)
    foreign = chosen(data, format, name, positions)
    if positions.refused is not None and not (foreign is not None and foreign.takes_words):
        raise positions.refused
    nesting = _Nesting(file.parent, reading)
    places: Places = positions
    if foreign is None:
        document = _native(data, positions, name, options)
    else:
        document, notes = translated(foreign, data, options, positions, name)
        nesting.remarks.extend(notes.remarks)
        places = Origins(positions, notes.origins)
    waiting = [one for one in map(nesting.name, files_in(document)) if one is not None]
    return _OpenFile(given, name, place, document, places, nesting, waiting[::-1])


def _native(data: Any, positions: Positions, name: str, options: FormatOptions) -> FlowDocument:
    if options:
        problem = OPTION_UNKNOWN(format=NATIVE, option=min(options), available=())
        raise FormatError(name, problem.at(positions.find(())))
    return checked(data, positions, name)


def _place(file: Path) -> Path:
    """Return the resolved path of a file; raises FormatError for an invalid path, such as one with a NUL."""
    try:
        return file.resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise FormatError(str(file), FILE_UNREADABLE(error=reason_of(error))) from error


@dataclass(frozen=True, slots=True)
class _Nesting:
    """Makes the subflows of the nested documents of a document, and of the files that it names."""

    folder: Path
    reading: _Reading
    remarks: list[Remark] = field(default_factory=list)  # on the files that are nested in it
    used: dict[tuple[tuple[str, str], ...], _Uses] = field(default_factory=dict)  # by their `uses`

    def name(self, given: str) -> _Name | None:
        """Return the key of a nested file; None for an invalid path, which `nest` reports."""
        try:
            return _place(self.folder / given), given
        except FormatError:
            return None

    def nest(self, given: Wiring | str) -> Nested:
        """Make a node of a nested document, or of a file that has been read."""
        if isinstance(given, str):
            found = self.reading.known[_place(self.folder / given), given]
            if isinstance(found, FormatError | FlowInvalid):
                raise found
            return found
        uses = self.uses(given)
        return self.reading.make_flow(given, uses.find_type, uses.find_function)

    def uses(self, wiring: Wiring) -> _Uses:
        """Return the names that a document can use, shared by all documents with the same `uses`."""
        key = tuple(wiring.uses.items())
        if key not in self.used:
            self.used[key] = _Uses(self.folder, wiring.uses, self.reading.imports)
        return self.used[key]


@dataclass(frozen=True, slots=True)
class _Uses:
    """The names that a document can use: functions of its own files, and all installed node types."""

    folder: Path
    uses: Mapping[str, str]
    imports: bool
    found: dict[str, NodeType] = field(default_factory=dict)  # by id, for all documents with the same `uses`

    def find_type(self, id: str) -> NodeType:
        known = self.found.get(id)
        if known is None:
            known = self.found[id] = self._looked_up(id)
        return known

    def _looked_up(self, id: str) -> NodeType:
        prefix, dot, name = id.partition(".")
        if id not in BUILT_IN and dot and prefix in self.uses:
            return self._own_type(prefix, name, id) if self.imports else opaque_type(id)
        if is_function_name(id) and not self.imports and not is_offered(id):
            return opaque_type(id)
        return find_type(id)

    def _own_type(self, prefix: str, name: str, id: str) -> NodeType:
        found = self._own(prefix, name)
        try:
            return type_of(found, id)
        except DataflowError:
            raise
        except Exception as error:  # inspecting a foreign object may raise anything
            reason = f"{type(error).__name__}: {text_of_error(error)}"
            raise PackError(id, SIGNATURE_UNREADABLE(error=reason)) from error

    def find_function(self, name: str) -> Callable[..., Any] | None:
        """Find `prefix:function` in a file of the document, else `module:qualname`."""
        if not self.imports:
            return None
        prefix, _, qualname = name.partition(":")
        return self._own(prefix, qualname) if prefix in self.uses else import_function(name)

    def _own(self, prefix: str, name: str) -> Any:
        return _function(_used_module(self.folder, prefix, self.uses[prefix]), prefix, name)


def _function(module: ModuleType, prefix: str, name: str) -> Any:
    found: Any = module
    with importing(f"{prefix}.{name}", name):  # a module's own `__getattr__` may raise anything
        for part in name.split("."):
            found = getattr(found, part, None)
    if found is None or not callable(found):
        functions = [
            key for key, value in vars(module).items() if callable(value) and not key.startswith("_")
        ]
        if module.__name__ in _EXECUTED:
            raise PackError(f"{prefix}.{name}", USES_CIRCULAR(file=module.__file__))
        raise PackError(f"{prefix}.{name}", USES_FUNCTION_MISSING(available=functions, near=name))
    return found


def _used_module(folder: Path, prefix: str, place: str) -> ModuleType:
    if place.endswith(".py"):
        return import_file(folder / place, f"uses {prefix}")
    if place.startswith("."):
        raise PackError(f"uses {prefix}", USES_INVALID(name=place))
    with importing(f"uses {prefix}", place):
        return importlib.import_module(place)


#: Held while a file is imported; entered again if the file imports another flow.
_IMPORTING: Final = threading.RLock()
#: The names of the modules that are being imported, each by the one before it.
_EXECUTED: Final[list[str]] = []


def import_file(file: Path, wanted_by: str) -> ModuleType:
    """Import a Python file once, under a name that no installed module can have; raises PackError."""
    if not _is_file(file):
        raise PackError(wanted_by, USES_FILE_MISSING(file=file))
    real = file.resolve()
    name = f"_dataflow_{hashlib.sha256(str(real).encode()).hexdigest()[:12]}_{real.stem}"
    with _IMPORTING:
        return sys.modules.get(name) or _executed(real, name, wanted_by)


def _is_file(file: Path) -> bool:
    try:
        return file.is_file()
    except OSError:  # the name is too long
        return False


def _executed(file: Path, name: str, wanted_by: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None, "a path that ends in .py has a loader"
    assert spec.loader is not None, "as above"
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _EXECUTED.append(name)
    SHOWN_NAMES[name] = file.stem
    sys.path.insert(0, str(file.parent))  # so that it finds the modules beside it, as a script does
    try:
        with importing(wanted_by, str(file)):
            spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    finally:
        _EXECUTED.remove(name)
        if str(file.parent) in sys.path:  # the file may have changed the list
            sys.path.remove(str(file.parent))
    return module
