"""Foreign formats: recognise a file of another system and translate it to a native document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar

from pydantic import ValidationError

from dataflow.base.wording import choices
from dataflow.core.functions import importing
from dataflow.core.wiring import Remark
from dataflow.errors import FlowInvalid, FormatError, PackError
from dataflow.formats.native.document import FORMAT, FlowDocument
from dataflow.formats.problems import Problem, problems_of, report
from dataflow.formats.reader import decode, read_file
from dataflow.formats.reader import read as read_text

if TYPE_CHECKING:
    from dataflow.core.events import Event
    from dataflow.core.wiring import Places
    from dataflow.formats.tree import DocumentPath, Positions


__all__ = [
    "GROUP",
    "MADE_OF",
    "NATIVE",
    "NO_OPTIONS",
    "Format",
    "FormatOptions",
    "JsonDict",
    "Notes",
    "Origins",
    "Records",
    "Words",
    "chosen",
    "formats",
    "translated",
]

T = TypeVar("T")
#: A mapping of JSON values, such as a native document.
JsonDict: TypeAlias = dict[str, Any]
#: What the caller gave besides the file, such as the branch that is meant, by name.
FormatOptions: TypeAlias = Mapping[str, str]
NO_OPTIONS: Final[FormatOptions] = MappingProxyType({})
#: Where the meta of a document have the name of the format of the file that it was made of.
MADE_OF: Final = "format"
#: How many steps tell a node or an edge of a native document: `("nodes", id)`, `("edges", index)`.
STEPS: Final = 2
#: The entry points of formats.
GROUP: Final = "dataflow.formats"
NATIVE: Final = "native"
#: The key that makes a document a native one.
MARK: Final = "dataflow"


class Words(Protocol):
    """What writes the lines that the system of a flow would write of a run: one that is made for each run."""

    def see(self, event: Event) -> Iterable[str]:
        """Return the lines to write for an event."""

    def end(self, outputs: Mapping[str, Any]) -> Iterable[str]:
        """Return the lines to write after the run; `outputs` are those of the flow that have a value."""


class Records(Protocol):
    """What keeps a run in the files that the system of a flow would write: one that is made for each run."""

    def see(self, event: Event) -> None:
        """Write what the system writes for an event; raises OSError."""


@dataclass(slots=True)
class Notes:
    """What a format finds in a file besides the document: problems, remarks, origins of nodes.

    `folder` is that of the file. A file with a problem is not loaded: FlowInvalid has all of them, each with
    line and column.
    """

    folder: FilePath = FilePath()
    problems: list[Problem] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    #: By part of the document the part of the file that it is made of.
    origins: dict[DocumentPath, DocumentPath] = field(default_factory=dict)

    def problem(self, path: DocumentPath, text: str) -> None:
        """Note what is wrong with the part of the file at a path, such as `("nodes", 0, "type")`."""
        self.problems.append(Problem(path, text))

    def remark(self, node: str, original: str, here: str) -> None:
        """Note where a node means something else here than in the original, for `Flow.report`."""
        self.remarks.append(Remark(node, original, here))

    def origin(self, node: str, path: DocumentPath) -> None:
        """Record which part of the file a node of the document is made of, for the places of problems."""
        self.origins["nodes", node] = path

    def read_other(self, name: str, about: str, read: Callable[[Any, Notes], T]) -> T | None:
        """Read another file that the file names, from its folder; None if it cannot be read.

        `read` gets what the file holds and its own notes. Its problems are noted here, each after `about` and
        its place in that file.
        """
        path = self.folder / name
        try:
            data, places = read_text(decode(read_file(path), str(path)), str(path))
        except FormatError as error:
            self.problem((), f"{about}: {error}")
            return None
        inner = Notes(path.parent)
        found = read(data, inner)
        for problem in report(inner.problems, places):
            self.problem((), f"{about}: {name}:{problem}")
        return found


@dataclass(frozen=True, slots=True)
class Format:
    """A file format of another system: how its files are recognised, and become native documents.

    `recognises` gets what a file holds, which may be any JSON value, and raises nothing.
    `translate` gets the same, the options that the caller gave and the notes. It returns a native document,
    and notes each problem with its place; a document with problems is not used.
    `options` are the names that callers may give, as in `Flow.load(path, name="text")`.
    `words` and `records` get the native document of the flow that runs, and `records` the folder to write to.
    `takes_words` allows the keys `true` and `false`, which are booleans in YAML and refused elsewhere.
    """

    name: str
    recognises: Callable[[Any], bool]
    translate: Callable[[Any, FormatOptions, Notes], JsonDict]
    options: frozenset[str] = frozenset()
    words: Callable[[JsonDict], Words] | None = None
    records: Callable[[JsonDict, FilePath], Records] | None = None
    takes_words: bool = False


@dataclass(frozen=True, slots=True)
class Origins:
    """Where the parts of a native document stand in the foreign file that it was translated from."""

    file: Places
    origins: Mapping[DocumentPath, DocumentPath]

    def find(self, path: Iterable[str | int]) -> tuple[int, int]:
        """Return line and column, counted from 1, of what a part was made of, else of the whole file."""
        return self.file.find(self.origins.get(tuple(path)[:STEPS], ()))


def translated(
    format: Format, data: Any, options: FormatOptions, places: Places, name: str
) -> tuple[FlowDocument, Notes]:
    """Translate a file that has been read; raises FlowInvalid with every problem and its place."""
    notes = Notes(FilePath(name).parent)
    _check_options(format, options, notes)
    document = format.translate(data, options, notes)
    if notes.problems:
        raise FlowInvalid(name, report(notes.problems, places))
    document = {**document, "meta": {MADE_OF: format.name, **document.get("meta", {})}}
    try:
        return FlowDocument.model_validate(document), notes
    except ValidationError as error:
        found = problems_of(error, document)
        raise FlowInvalid(name, report(found, Origins(places, notes.origins))) from error


def _check_options(format: Format, options: FormatOptions, notes: Notes) -> None:
    for option in sorted(options.keys() - format.options):
        notes.problem(
            (), f"a file of {format.name} has no option {option!r}; {choices(sorted(format.options))}"
        )


def chosen(data: Any, asked: str | None, name: str, positions: Positions) -> Format | None:
    """Return the foreign format of a file that has been read, None for the native one.

    Raises FormatError where the asked format is none, and where none is asked for and several formats take
    the file for theirs, or none does.
    """
    if asked is not None:
        return None if asked == NATIVE else _find_format(asked, name)
    if not isinstance(data, (dict, list)) or MARK in data:
        return None
    taking: list[Format] = []
    faults: list[str] = []
    for point in _points().values():
        try:
            found = _loaded(point)
        except PackError as error:  # what is broken takes nothing else along
            faults.append(str(error))
        else:
            taking += [found] if found.recognises(data) else []
    if len(taking) > 1:
        names = " and ".join(repr(found.name) for found in taking)
        raise FormatError(name, f"could be of the formats {names}; say which", *positions.find(()))
    if not taking and faults:
        reason = f"is of no format that can be used; {'; '.join(faults)}"
        raise FormatError(name, reason, *positions.find(()))
    if not taking and isinstance(data, dict):
        raise FormatError(name, _no_format(), *positions.find(()))
    return taking[0] if taking else None


def _no_format() -> str:
    return f"is a file of no known format: write `{MARK}: {FORMAT}`, or say the format; {choices(_points())}"


def _find_format(asked: str, name: str) -> Format:
    """Find a foreign format by its name; raises FormatError for the file that it was asked for."""
    points = _points()
    if asked not in points:
        raise FormatError(name, f"there is no format {asked!r}; {choices([NATIVE, *points])}")
    return _loaded(points[asked])


def formats() -> list[Format]:
    """Import every foreign format; raises PackError for one that is broken."""
    return [_loaded(point) for point in _points().values()]


def _points() -> Mapping[str, metadata.EntryPoint]:
    return {point.name: point for point in sorted(metadata.entry_points(group=GROUP))}


def _loaded(point: metadata.EntryPoint) -> Format:
    """Import a format; raises PackError, as for node types."""
    with importing(f"format {point.name}", point.value):
        found = point.load()
        if not isinstance(found, Format):
            raise TypeError(f"{point.value} is of type {type(found).__name__}; expected a Format")
    return found
