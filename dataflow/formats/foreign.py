"""Foreign formats: a file of another system becomes a native document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from pydantic import ValidationError

from dataflow.document.flow import FlowDocument
from dataflow.errors import FlowInvalid
from dataflow.formats.problems import Problem, problems_of, report
from dataflow.remarks import Remark
from dataflow.wording import choices

if TYPE_CHECKING:
    from dataflow.events import Event
    from dataflow.formats.tree import Path
    from dataflow.wiring import Places, Wiring

__all__ = [
    "MADE_OF",
    "NO_OPTIONS",
    "Format",
    "JsonDict",
    "Notes",
    "Options",
    "Origins",
    "Records",
    "Words",
    "translated",
]

JsonDict: TypeAlias = dict[str, Any]

#: What was said besides the file, such as the branch that is meant, by name.
Options: TypeAlias = Mapping[str, str]
NO_OPTIONS: Final[Options] = MappingProxyType({})

#: Where the meta of a document have the name of the format of the file that it was made of.
MADE_OF: Final = "format"
#: How many steps tell a node or an edge of a native document: `("nodes", id)`, `("edges", index)`.
STEPS: Final = 2


class Words(Protocol):
    """Tells a run in the words of the system that its flow was written for."""

    def see(self, event: Event) -> Iterable[str]:
        """Return the lines that an event comes to."""

    def end(self, outputs: Mapping[str, Any]) -> Iterable[str]:
        """Return the lines that stand at the end; `outputs` are the flow's, as far as they have values."""


class Records(Protocol):
    """Keeps a run in files as the system does that its flow was written for."""

    def see(self, event: Event) -> None:
        """Write what an event comes to; raises OSError."""


@dataclass(slots=True)
class Notes:
    """What translating a file finds out besides the document; `folder` is where the file stands."""

    folder: FilePath = FilePath()
    problems: list[Problem] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    origins: dict[Path, Path] = field(default_factory=dict)  # parts of the document -> parts of the file

    def problem(self, path: Path, text: str) -> None:
        """Note what is wrong with a part of the file."""
        self.problems.append(Problem(path, text))

    def remark(self, node: str, original: str, here: str) -> None:
        """Note where the flow means something else here; all are told, in the order in which they came."""
        self.remarks.append(Remark(node, original, here))

    def origin(self, node: str, path: Path) -> None:
        """Say which part of the file has become a node of the document."""
        self.origins["nodes", node] = path


@dataclass(frozen=True, slots=True)
class Format:
    """A foreign format: how it is recognised, and how a file of it becomes a native document.

    `recognises` looks at a file that has been read, which may hold anything, and raises nothing.
    `translate` notes every problem with its place; what it returns counts only if there is none.
    `words` tell a run, and `records` keep it below a folder, as the system does.
    `takes_words` says that keys may be the words `true` and `false`, which are booleans in YAML elsewhere.
    """

    name: str
    recognises: Callable[[Any], bool]
    translate: Callable[[Any, Options, Notes], JsonDict]
    options: frozenset[str] = frozenset()
    words: Callable[[Wiring], Words] | None = None
    records: Callable[[Wiring, FilePath], Records] | None = None
    takes_words: bool = False


@dataclass(frozen=True, slots=True)
class Origins:
    """Where the parts of a native document stand in the foreign file that it was translated from."""

    file: Places
    origins: Mapping[Path, Path]

    def find(self, path: Iterable[str | int]) -> tuple[int, int]:
        """Return line and column, counted from 1, of what a part was made of, else of the whole file."""
        return self.file.find(self.origins.get(tuple(path)[:STEPS], ()))


def translated(
    format: Format, data: Any, options: Options, places: Places, name: str
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


def _check_options(format: Format, options: Options, notes: Notes) -> None:
    for option in sorted(options.keys() - format.options):
        notes.problem(
            (), f"a file of {format.name} has no option {option!r}; {choices(sorted(format.options))}"
        )
