"""Build the value of a document from its parts, and record the position of each part."""

from __future__ import annotations

import json
import math
import re
import sys
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

from dataflow.base.wording import shortened
from dataflow.diagnostics.diagnostic import Location
from dataflow.diagnostics.documents import (
    ALIAS_RECURSIVE,
    ALIAS_UNKNOWN,
    ALIASES_TOO_LARGE,
    CHARACTER_INVALID,
    FILE_EMPTY,
    KEY_NOT_STRING,
    KEY_TWICE,
    NESTED_TOO_DEEP,
    NUMBER_TOO_LARGE,
    NUMBER_TOO_LONG,
)
from dataflow.errors import FormatError
from dataflow.maximums import maximum

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataflow.core.wiring import Places
    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = [
    "MOST_DIGITS",
    "MOST_LEVELS",
    "TOO_LARGE",
    "DocumentPath",
    "Lines",
    "Positions",
    "Tree",
    "Within",
    "has_surrogate",
    "place_of",
]

DocumentPath: TypeAlias = tuple[str | int, ...]

#: The maximum depth of nested mappings and lists.
MOST_LEVELS: Final = maximum("DOCUMENT_LEVELS", 100)
#: The maximum number of digits; Python itself refuses more than 4300.
MOST_DIGITS: Final = 1000
TOO_LARGE: Final = 10**MOST_DIGITS
#: The maximum size that aliases may add to a document, in characters; each value counts ten plus its text.
MOST_ALIASED: Final = maximum("ALIASED_CHARACTERS", 10_000_000)
SIZE_OF_VALUE: Final = 10
MOST_SHOWN: Final = 60  # characters of a name in a message

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_BREAK: Final = re.compile(r"\r\n?|\n")
_COLUMN_BITS: Final = 32
_COLUMN_MASK: Final = (1 << _COLUMN_BITS) - 1


def place_of(line: int, column: int) -> int:
    """Pack a line and a column, counted from 1, into one number, since a document has many positions."""
    return line << _COLUMN_BITS | column


def _line_and_column(place: int) -> tuple[int, int]:
    return place >> _COLUMN_BITS, place & _COLUMN_MASK


def has_surrogate(text: str) -> bool:
    """Return whether a text contains a lone surrogate, which UTF-8 cannot encode."""
    return not text.isascii() and _SURROGATE.search(text) is not None


class Lines:
    """The lines of a text, to compute the position of a character."""

    __slots__ = ("_starts",)

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in _BREAK.finditer(text))]

    def place(self, index: int) -> int:
        """Return the position of the character at an index."""
        line = bisect_right(self._starts, index)
        return place_of(line, index - self._starts[line - 1] + 1)


@dataclass(slots=True)
class _Marks:
    """The positions of the entries of one container: by key, or in order for a list."""

    entries: dict[str, int] | array[int]
    inner: dict[str | int, _Marks] | None = None  # of the entries that are containers themselves

    def add_inner(self, step: str | int, marks: _Marks) -> None:
        if self.inner is None:
            self.inner = {}
        self.inner[step] = marks


class Positions:
    """The positions of the parts of a document; that of a mapping entry is its key.

    `refused` is the error for the first key that only some formats allow.
    """

    __slots__ = ("_file", "_marks", "_root", "refused")

    def __init__(self, root: int, marks: _Marks | None, file: str = "") -> None:
        self._file = file
        self._root = root
        self._marks = marks
        self.refused: FormatError | None = None

    def find(self, path: Iterable[str | int]) -> Location:
        """Return the location of a part, or of the nearest part around it."""
        place, marks = self._root, self._marks
        for step in path:
            found = None if marks is None else _place_in(marks, step)
            if found is None:
                break
            place = found
            marks = marks.inner.get(step) if marks and marks.inner else None
        return Location(self._file, *_line_and_column(place))


@dataclass(frozen=True, slots=True)
class Within:
    """The positions of the parts of a document that is nested in another."""

    around: Places
    path: DocumentPath

    def find(self, path: Iterable[str | int]) -> Location:
        """Return the location of a part, or of the nearest part around it."""
        return self.around.find((*self.path, *path))


def _place_in(marks: _Marks, step: str | int) -> int | None:
    entries = marks.entries
    if isinstance(entries, dict):
        return entries.get(step) if isinstance(step, str) else None
    return entries[step] if isinstance(step, int) and step < len(entries) else None


@dataclass(slots=True)
class _Open:
    """A container that is being filled."""

    value: list[Any] | dict[str, Any]
    marks: _Marks
    place: int
    anchor: str | None
    key: str | None = None  # the key whose value comes next
    size: int = SIZE_OF_VALUE
    levels: int = 1


@dataclass(frozen=True, slots=True)
class _Anchored:
    """A value that aliases may refer to."""

    value: Any
    marks: _Marks | None
    size: int
    levels: int


@dataclass(slots=True)
class Tree:
    """A document under construction from the tokens of a scanner. Every method may raise FormatError."""

    name: str  # of the file, for messages
    stack: list[_Open] = field(default_factory=list)
    anchors: dict[str, _Anchored | None] = field(default_factory=dict)  # None while it is being filled
    aliased: int = 0  # the size added by aliases so far
    # the whole document, once it is complete
    found: list[tuple[Any, Positions]] = field(default_factory=list)
    takes_words: bool = False  # read keys that are booleans as strings, and only record the first
    refused: FormatError | None = None  # the first key that was recorded

    @property
    def innermost(self) -> list[Any] | dict[str, Any] | None:
        """The container that the next part is added to."""
        return self.stack[-1].value if self.stack else None

    @property
    def expects_key(self) -> bool:
        return bool(self.stack) and self.stack[-1].key is None and isinstance(self.stack[-1].value, dict)

    def fail(self, problem: Diagnostic, place: int) -> NoReturn:
        """Refuse the document for the part at a position."""
        raise FormatError(self.name, problem, *_line_and_column(place))

    def fail_depth(self, place: int) -> NoReturn:
        """Refuse the document because the part at a position is nested too deep."""
        self.fail(NESTED_TOO_DEEP(expected=f"at most {MOST_LEVELS} levels"), place)

    def finish(self) -> tuple[Any, Positions]:
        """Return the document with the positions of its parts."""
        if not self.found:
            self.fail(FILE_EMPTY(), place_of(1, 1))
        self.found[0][1].refused = self.refused
        return self.found[0]

    def number(self, text: str, read: Callable[[str], int | float], place: int) -> int | float:
        """Read a number that is not too long."""
        number = read(text) if len(text) <= MOST_DIGITS + 1 else TOO_LARGE
        if isinstance(number, int) and abs(number) >= TOO_LARGE:
            self.fail(NUMBER_TOO_LONG(expected=f"at most {MOST_DIGITS} digits"), place)
        if isinstance(number, float) and math.isinf(number):
            most, found = f"at most {sys.float_info.max:.2g}", shortened(text, MOST_SHOWN)
            self.fail(NUMBER_TOO_LARGE(expected=most, found=found), place)
        return number

    def scalar(self, value: object, place: int, anchor: str | None = None) -> None:
        """Add a string, number, bool or null: a key if one is expected, else a value."""
        size = SIZE_OF_VALUE
        if isinstance(value, str):
            size += len(value)
            if has_surrogate(value):
                self.fail(CHARACTER_INVALID(character="half of a surrogate pair"), place)
        if anchor is not None:
            self.anchors[anchor] = _Anchored(value, None, size, 0)
        if self.expects_key:
            self._key(value, place)
        else:
            self._add(value, None, place, size, 0)

    def open(self, value: list[Any] | dict[str, Any], place: int, anchor: str | None = None) -> None:
        """Begin an empty list or mapping, to which the following parts are added."""
        if self.expects_key:
            self._key(value, place)
        if len(self.stack) >= MOST_LEVELS:
            self.fail_depth(place)
        if anchor is not None:
            self.anchors[anchor] = None
        marks = _Marks({} if isinstance(value, dict) else array("Q"))
        self.stack.append(_Open(value, marks, place, anchor))

    def close(self) -> None:
        """End the innermost list or mapping."""
        done = self.stack.pop()
        marks = done.marks if done.value else None
        if done.anchor is not None:
            self.anchors[done.anchor] = _Anchored(done.value, marks, done.size, done.levels)
        self._add(done.value, marks, done.place, done.size, done.levels)

    def alias(self, name: str, place: int) -> None:
        """Add a copy of the value of an anchor."""
        if name not in self.anchors:
            self.fail(ALIAS_UNKNOWN(alias=shortened(name, MOST_SHOWN)), place)
        anchored = self.anchors[name]
        if anchored is None:
            self.fail(ALIAS_RECURSIVE(alias=shortened(name, MOST_SHOWN)), place)
        self.aliased += anchored.size
        if self.aliased > MOST_ALIASED:
            self.fail(ALIASES_TOO_LARGE(expected=f"at most {MOST_ALIASED / 1_000_000:g} MB"), place)
        if len(self.stack) + anchored.levels > MOST_LEVELS:
            self.fail_depth(place)
        if self.expects_key:
            self._key(anchored.value, place)
        else:
            self._add(_copy(anchored.value), anchored.marks, place, anchored.size, anchored.levels)

    def _key(self, key: object, place: int) -> None:
        top = self.stack[-1]
        entries = top.marks.entries
        assert isinstance(entries, dict), "only mappings have keys"
        if not isinstance(key, str):
            key = self._key_of(key, place)
        if key in entries:
            line, _ = _line_and_column(entries[key])
            self.fail(KEY_TWICE(key=shortened(key, MOST_SHOWN), line=line), place)
        entries[key] = place
        top.key = key
        top.size += SIZE_OF_VALUE + len(key)

    def _key_of(self, found: object, place: int) -> str:
        """Return the text of a key that is not a string: of a boolean where that is allowed."""
        problem = KEY_NOT_STRING(found=_described(found))
        if not (self.takes_words and isinstance(found, bool)):
            self.fail(problem, place)
        self.refused = self.refused or FormatError(self.name, problem, *_line_and_column(place))
        return "true" if found else "false"

    def _add(self, value: Any, marks: _Marks | None, place: int, size: int, levels: int) -> None:
        if not self.stack:
            self.found.append((value, Positions(place, marks, self.name)))
            return
        top = self.stack[-1]
        top.size += size
        top.levels = max(top.levels, levels + 1)
        into, entries = top.value, top.marks.entries
        if isinstance(into, dict):
            assert top.key is not None, "the key came first"
            step: str | int = top.key
            into[top.key] = value
            top.key = None
        else:
            assert isinstance(entries, array), "as made"
            step = len(into)
            into.append(value)
            entries.append(place)
        if marks is not None:
            top.marks.add_inner(step, marks)


def _copy(value: Any) -> Any:
    """Copy lists and mappings; they nest no deeper than MOST_LEVELS."""
    if isinstance(value, list):
        return [_copy(item) for item in value]
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return value


def _described(key: object) -> str:
    if isinstance(key, list | dict):
        return "a list" if isinstance(key, list) else "a mapping"
    kinds = {bool: "the boolean", int: "the number", float: "the number"}
    return f"{kinds.get(type(key), '')} {json.dumps(key)}".lstrip()
