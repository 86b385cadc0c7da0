"""Foreign formats: recognise a file of another system and translate it to a native document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar

from pydantic import ValidationError

from dataflow.base.failure import text_of_error
from dataflow.base.wording import shortened
from dataflow.core.discovery import FORMATS, OURS, Offer, defect_of, offers
from dataflow.core.distributions import is_same_distribution
from dataflow.core.functions import importing
from dataflow.core.wiring import Remark
from dataflow.diagnostics.diagnostic import Diagnostic, Location
from dataflow.diagnostics.documents import (
    FORMAT_AMBIGUOUS,
    FORMAT_BROKEN,
    FORMAT_FAILED,
    FORMAT_RESULT,
    FORMAT_TYPE,
    FORMAT_UNKNOWN,
    FORMAT_UNRECOGNISED,
    OPTION_UNKNOWN,
)
from dataflow.diagnostics.foreign import FOREIGN_PROBLEM
from dataflow.errors import DataflowError, FlowInvalid, FormatError, PackError
from dataflow.formats.native.document import FlowDocument
from dataflow.formats.problems import Problem, describe_value, problems_of, problems_of_file, report
from dataflow.formats.reader import decode, read_file
from dataflow.formats.reader import read as read_text

if TYPE_CHECKING:
    from dataflow.core.events import Event
    from dataflow.core.wiring import Places
    from dataflow.formats.tree import DocumentPath, Positions

__all__ = [
    "MADE_OF",
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
#: Options of the caller in addition to the file, such as the branch to load, by name.
FormatOptions: TypeAlias = Mapping[str, str]
NO_OPTIONS: Final[FormatOptions] = MappingProxyType({})
#: The key in the meta of a document for the format of the file that it was translated from.
MADE_OF: Final = "format"
#: The length of the path of a node or an edge of a native document: `("nodes", id)`, `("edges", index)`.
STEPS: Final = 2
NATIVE: Final = "native"
MOST_CHARACTERS: Final = 500  # of an error that a format raises
#: The key that identifies a native document.
MARK: Final = "dataflow"


class Words(Protocol):
    """Writes the lines that the original system would print for a run: one instance per run."""

    def see(self, event: Event) -> Iterable[str]:
        """Return the lines to write for an event."""

    def end(self, outputs: Mapping[str, Any]) -> Iterable[str]:
        """Return the lines to write after the run; `outputs` are the outputs that have a value."""


class Records(Protocol):
    """Records a run in the files that the original system would write: one instance per run."""

    def see(self, event: Event) -> None:
        """Write the records of an event; raises OSError."""


@dataclass(slots=True)
class Notes:
    """What a format finds in a file in addition to the document: problems, remarks, origins of its parts.

    `folder` is the folder of the file. A file with a problem is not loaded: FlowInvalid has all problems,
    each with its location.
    """

    folder: FilePath = FilePath()
    problems: list[Problem] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    #: The part of the file that each part of the document was translated from.
    origins: dict[DocumentPath, DocumentPath] = field(default_factory=dict)

    def problem(self, path: DocumentPath, problem: Diagnostic | str) -> None:
        """Record a problem of the part of the file at a path, such as `("nodes", 0, "type")`.

        A string becomes a problem of the kind DF4001, for formats without kinds.
        """
        if not isinstance(problem, Diagnostic):
            problem = FOREIGN_PROBLEM(text=problem)
        self.problems.append(Problem(path, problem))

    def remark(self, node: str, original: str, here: str) -> None:
        """Record that a node behaves differently than in the original, for `Flow.report`."""
        self.remarks.append(Remark(node, original, here))

    def origin(self, node: str, path: DocumentPath) -> None:
        """Record which part of the file a node was translated from, for the locations of problems."""
        self.origins["nodes", node] = path

    def edge_origin(self, index: int, path: DocumentPath) -> None:
        """Record which part of the file an edge was translated from, by its index in the document."""
        self.origins["edges", index] = path

    def read_other(self, name: str, about: str, read: Callable[[Any, Notes], T]) -> T | None:
        """Read another file that the file names, from its folder; None if it cannot be read.

        `read` gets the content of the file and separate notes. Its problems are recorded here, each within
        `about` and with its location in that file.
        """
        path = self.folder / name
        try:
            data, places = read_text(decode(read_file(path), str(path)), str(path))
        except FormatError as error:
            for problem in problems_of_file(error):
                self.problem((), problem.within(about))
            return None
        inner = Notes(path.parent)
        found = read(data, inner)
        for problem in report(inner.problems, places):
            self.problem((), problem.within(about))
        return found


@dataclass(frozen=True, slots=True)
class Format:
    """A file format of another system: how to recognise its files and translate them to native documents.

    `recognises` gets the content of a file, which may be any JSON value, and must not raise. `translate`
    gets the same, the options that the caller gave and the notes. It returns a native document, and records
    each problem with its location; a document with problems is not used. `options` are the names that
    callers may give, as in `Flow.load(path, name="text")`. `words` and `records` get the native document of
    the flow that runs, and `records` the folder to write to. `takes_words` allows the keys `true` and
    `false`, which are booleans in YAML and refused elsewhere.
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
    """Locations of the parts of a native document in the foreign file that it was translated from."""

    file: Places
    origins: Mapping[DocumentPath, DocumentPath]

    def find(self, path: Iterable[str | int]) -> Location:
        """Return the location of the origin of a part, else of the whole file."""
        return self.file.find(self.origins.get(tuple(path)[:STEPS], ()))


def translated(
    format: Format, data: Any, options: FormatOptions, places: Places, name: str
) -> tuple[FlowDocument, Notes]:
    """Translate the content of a file; raises FlowInvalid with every problem and its location.

    Raises FormatError if the format itself fails.
    """
    notes = Notes(FilePath(name).parent)
    for option in sorted(options.keys() - format.options):
        known = sorted(format.options)
        notes.problem((), OPTION_UNKNOWN(format=format.name, option=option, available=known))
    document = _document_of(format, data, options, notes, name)
    if notes.problems:
        raise FlowInvalid(name, report(notes.problems, places))
    meta = document.get("meta", {})
    if isinstance(meta, Mapping):  # else it is a problem of the document
        document = {**document, "meta": {MADE_OF: format.name, **meta}}
    try:
        return FlowDocument.model_validate(document), notes
    except ValidationError as error:
        found = problems_of(error, document)
        raise FlowInvalid(name, report(found, Origins(places, notes.origins))) from error


def _document_of(format: Format, data: Any, options: FormatOptions, notes: Notes, name: str) -> JsonDict:
    """Call a format; raises FormatError, with the format's name, for any other error and for no mapping."""
    try:
        document: object = format.translate(data, options, notes)
    except DataflowError:
        raise
    except Exception as error:  # the code of a format may raise anything
        line = shortened(" ".join(text_of_error(error).split()), MOST_CHARACTERS)
        reason = f"{type(error).__name__}: {line}".removesuffix(": ")
        raise FormatError(name, FORMAT_FAILED(format=format.name, error=reason)) from error
    if not isinstance(document, dict):
        raise FormatError(name, FORMAT_RESULT(format=format.name, found=describe_value(document)))
    return document


def chosen(data: Any, asked: str | None, name: str, positions: Positions) -> Format | None:
    """Return the foreign format of the content of a file, None for the native one.

    Raises FormatError if the requested format does not exist, or if none is requested and not exactly one
    format recognises the file.
    """
    if asked is not None:
        return None if asked == NATIVE else _find_format(asked, name)
    if not isinstance(data, (dict, list)) or MARK in data:
        return None
    taking: list[Format] = []
    faults: list[str] = []
    for offer in _points().values():
        try:
            found = _loaded(offer)
        except PackError as error:  # a broken format does not affect the others
            faults.append(str(error))
        else:
            taking += [found] if found.recognises(data) else []
    if len(taking) > 1:
        several = FORMAT_AMBIGUOUS(available=[found.name for found in taking])
        raise FormatError(name, several.at(positions.find(())))
    if not taking and faults:
        raise FormatError(name, FORMAT_BROKEN(faults="; ".join(faults)).at(positions.find(())))
    if not taking and isinstance(data, dict):
        raise FormatError(name, FORMAT_UNRECOGNISED(available=_points()).at(positions.find(())))
    return taking[0] if taking else None


def _find_format(asked: str, name: str) -> Format:
    """Find a foreign format by its name; raises FormatError for the file that it was requested for."""
    points = _points()
    if asked not in points:
        raise FormatError(name, FORMAT_UNKNOWN(format=asked, available=[NATIVE, *points]))
    return _loaded(points[asked])


def formats() -> list[Format]:
    """Import every foreign format; raises PackError for a broken one."""
    return [_loaded(offer) for offer in _points().values()]


def _points() -> Mapping[str, Offer]:
    """Return the installed formats by name; of two with one name, the engine's own counts."""
    found = sorted(offers(FORMATS), key=lambda offer: is_same_distribution(offer.distribution, OURS))
    return {offer.pack: offer for offer in found if offer.value}


def _loaded(offer: Offer) -> Format:
    """Import a format; raises PackError, as for node types."""
    fault = defect_of(offer)
    if fault is not None:
        raise PackError(offer.pack, fault.problem.within(f"format {offer.pack!r} of {offer.label}"))
    with importing(f"format {offer.pack}", offer.value):
        found = EntryPoint(offer.pack, offer.value, FORMATS).load()
        if not isinstance(found, Format):
            raise PackError(offer.value, FORMAT_TYPE(found=type(found).__name__))
    return found
