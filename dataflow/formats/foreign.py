"""Foreign formats: a file of another system becomes a native document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar

from pydantic import ValidationError

from dataflow.base.wording import choices
from dataflow.core.wiring import Remark
from dataflow.errors import FlowInvalid, FormatError
from dataflow.formats.files import read_file
from dataflow.formats.native.document import FlowDocument
from dataflow.formats.problems import Problem, problems_of, report
from dataflow.formats.reading import decode
from dataflow.formats.reading import read as read_text

if TYPE_CHECKING:
    from dataflow.core.events import Event
    from dataflow.core.wiring import Places
    from dataflow.formats.tree import DocumentPath

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
