"""Read JSON and YAML files to trees that record the position of each value."""

from __future__ import annotations

import errno
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import yaml

from dataflow.base.wording import shortened
from dataflow.diagnostics.documents import (
    CHARACTER_INVALID,
    FILE_NOT_UTF8,
    FILE_TOO_LARGE,
    FILE_UNREADABLE,
    JSON_INVALID,
    MERGE_KEY,
    SECOND_DOCUMENT,
    TAG_MISMATCH,
    TAG_UNKNOWN,
    YAML_INVALID,
)
from dataflow.errors import FormatError
from dataflow.formats.tree import Lines, Positions, Tree, place_of
from dataflow.maximums import maximum

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

__all__ = ["MOST_BYTES", "decode", "read", "read_data", "read_file", "reason_of"]

MOST_BYTES: Final = maximum("DOCUMENT_BYTES", 10_000_000)
BYTE_ORDER_MARK: Final = "\ufeff"
_BLANK: Final = re.compile(r"[ \t\n\r]*")
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_DECODER: Final = json.JSONDecoder()
#: libyaml if PyYAML was built with it: about twenty times as fast.
PARSER: Any = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
#: The maximum length of a message of the parser, which may quote the text, and of a value.
MOST_CHARACTERS: Final = 200
MOST_OF_VALUE: Final = 60
_REFUSED: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TAG: Final = "tag:yaml.org,2002:"
_WORDS: Final[Mapping[str, object]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_FLOATS: Final[Mapping[str, float]] = {
    **{sign + word: float(sign + "inf") for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")},
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_BEGINS: Final = frozenset("~nNtTfF.+-0123456789")
_INT: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_BASES: Final = {"0o": 8, "0x": 16}


def read_data(path: str | PathLike[str]) -> Any:
    """Read a file in YAML, or in JSON if its name ends in `.json`, by the rules for flow documents.

    Raises FormatError, with line and column, for an invalid file and for content that no document may have:
    keys that are not strings or occur twice, aliases that expand beyond 10 MB, more than 10 MB, more than
    100 levels.
    """
    name = str(path)
    value, _ = read(decode(read_file(Path(path)), name), name)
    return value


def read_file(file: Path) -> bytes:
    """Read a file that is not too large; raises FormatError.

    Pipes and devices are refused: some never end, and opening a pipe without a writer blocks forever.
    """
    try:
        if file.exists() and not (file.is_file() or file.is_dir()):
            raise FormatError(str(file), FILE_UNREADABLE(error="it is not a regular file"))
        with file.open("rb") as stream:
            return stream.read(MOST_BYTES + 4)  # a byte order mark does not count
    except (OSError, ValueError) as error:
        raise FormatError(str(file), FILE_UNREADABLE(error=reason_of(error))) from error


def reason_of(error: OSError | ValueError | RuntimeError) -> str:
    """Return why a file cannot be read, without its name; `Path.resolve` raises RuntimeError before 3.13."""
    if isinstance(error, RuntimeError) or getattr(error, "errno", None) == errno.ELOOP:
        return "a loop of symbolic links"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def decode(data: bytes, name: str) -> str:
    """Return the text of a file; raises FormatError if it is not UTF-8, or too large."""
    tree = Tree(name)
    data = data.removeprefix(BYTE_ORDER_MARK.encode())
    if len(data) > MOST_BYTES:
        _fail_size(data, tree)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        found = f"the byte 0x{data[error.start]:02x}"
        tree.fail(FILE_NOT_UTF8(found=found), Lines(before).place(len(before)))


def read(text: str, name: str, *, takes_words: bool = False) -> tuple[Any, Positions]:
    """Read a document, as JSON if the name of its file ends in `.json`, else as YAML.

    With `takes_words` the keys `true:` and `false:` are strings, and the first is reported as `refused` of
    the positions.

    Raises FormatError with line and column for invalid YAML or JSON, duplicate keys, keys that are not
    strings, aliases inside their own anchor, aliases that expand beyond 10 MB, more than 10 MB, more than
    100 levels, and numbers of more than 1000 digits.
    """
    tree = Tree(name, takes_words=takes_words)
    _check_size(text, tree)
    text = text.removeprefix(BYTE_ORDER_MARK)
    if name.lower().endswith(".json"):
        read_json(text, tree)
    else:
        read_yaml(text, tree)
    return tree.finish()


def _check_size(text: str, tree: Tree) -> None:
    if len(text) * 4 <= MOST_BYTES:
        return
    data = text.encode(errors="surrogatepass")
    if len(data) > MOST_BYTES:
        _fail_size(data, tree)


def _fail_size(data: bytes, tree: Tree) -> NoReturn:
    before = data[:MOST_BYTES].decode(errors="ignore")
    most = f"at most {MOST_BYTES / 1_000_000:g} MB"
    tree.fail(FILE_TOO_LARGE(expected=most), Lines(before).place(len(before)))


def read_json(text: str, tree: Tree) -> None:
    """Parse a JSON text into the tree; raises FormatError."""
    _Scanner(text, tree).scan()


class _Scanner:
    """Scans the text once, without recursion; strings and numbers are read by `json`."""

    def __init__(self, text: str, tree: Tree) -> None:
        self.text = text
        self.tree = tree
        self.lines = Lines(text)
        self.index = 0  # of the next character
        self.just_opened = False  # so that the innermost container may close without an entry

    def scan(self) -> None:
        if not self._next():
            return
        self._entry()
        while (container := self.tree.innermost) is not None:
            closing = "}" if isinstance(container, dict) else "]"
            char = self._next()
            if char == closing:
                self.index += 1
                self.just_opened = False
                self.tree.close()
            elif self.just_opened:
                self.just_opened = False
                self._entry()
            elif char == ",":
                self.index += 1
                self._entry()
            else:
                self._fail(f"`,` or `{closing}` is missing")
        if self._next():
            self._fail("something follows the document")

    def _next(self) -> str:
        """Skip to the next significant character and return it, an empty string at the end."""
        match = _BLANK.match(self.text, self.index)
        assert match is not None, "the pattern matches the empty text too"
        self.index = match.end()
        return self.text[self.index : self.index + 1]

    def _entry(self) -> None:
        """Read an item, or a key with its value; containers are only opened."""
        char = self._next()
        if self.tree.expects_key:
            if char != '"':
                self._fail("a key is not in double quotes")
            self._scalar()
            if self._next() != ":":
                self._fail("`:` is missing")
            self.index += 1
            char = self._next()
        if char in ("{", "["):
            self.tree.open({} if char == "{" else [], self.lines.place(self.index))
            self.index += 1
            self.just_opened = True
        else:
            self._scalar()

    def _scalar(self) -> None:
        start = self.index
        number = _NUMBER.match(self.text, start)
        if number is not None:
            read = float if set(number[0]) & set(".eE") else int
            value: object = self.tree.number(number[0], read, self.lines.place(start))
            self.index = number.end()
        else:
            value = self._word_or_text()
        self.tree.scalar(value, self.lines.place(start))

    def _word_or_text(self) -> object:
        try:
            value, self.index = _DECODER.raw_decode(self.text, self.index)
        except json.JSONDecodeError as error:
            self.index = error.pos
            self._fail(error.msg[:1].lower() + error.msg[1:].removesuffix(" at"))
        return value

    def _fail(self, error: str) -> NoReturn:
        self.tree.fail(JSON_INVALID(error=error), self.lines.place(self.index))


def read_yaml(text: str, tree: Tree) -> None:
    """Parse a YAML text into the tree; raises FormatError."""
    refused = _REFUSED.search(text)
    if refused is not None:
        place = Lines(text).place(refused.start())
        tree.fail(CHARACTER_INVALID(character=f"the character U+{ord(refused[0]):04X}"), place)
    try:
        for event in yaml.parse(text, Loader=PARSER):
            _take(event, tree)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        assert mark is not None, "both parsers report their position"
        reason = " ".join(part for part in (error.problem, error.context) if part)
        if "nesting depth" in reason:  # libyaml reads ahead, and has its own limit
            tree.fail_depth(place_of(mark.line + 1, mark.column + 1))
        reason = shortened(reason, MOST_CHARACTERS) + _advice(text, mark, reason)
        problem = YAML_INVALID(error=reason)
        raise FormatError(tree.name, problem, mark.line + 1, mark.column + 1) from error


def _advice(text: str, mark: yaml.Mark, reason: str) -> str:
    """Return what the words of the parser mean for a person, where that is known."""
    lines = text.split("\n")
    around = lines[mark.line][: mark.column + 1] if mark.line < len(lines) else ""
    if "\t" in around and not around.strip():
        return " (a tab cannot indent; use spaces)"
    return " (look at the indentation)" if "block" in reason else ""


def _take(event: yaml.Event, tree: Tree) -> None:
    mark: Any = event.start_mark
    place = place_of(mark.line + 1, mark.column + 1)
    match event:
        case yaml.ScalarEvent():
            if event.value == "<<" and event.implicit[0] and tree.expects_key:
                tree.fail(MERGE_KEY(), place)
            tree.scalar(_value(event, tree, place), place, event.anchor)
        case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            if event.tag not in (None, "!", _TAG + ("map" if is_mapping else "seq")):
                _refuse_tag(event.tag, tree, place)
            tree.open({} if is_mapping else [], place, event.anchor)
        case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
            tree.close()
        case yaml.AliasEvent():
            tree.alias(str(event.anchor), place)
        case yaml.DocumentStartEvent() if tree.found:
            tree.fail(SECOND_DOCUMENT(), place)


def _value(event: yaml.ScalarEvent, tree: Tree, place: int) -> object:
    text: str = event.value
    tag = event.tag
    if tag is None:
        return _plain(text, tree, place) if event.implicit[0] else text
    if tag in ("!", _TAG + "str"):
        return text
    kinds = {"null": type(None), "bool": bool, "int": int, "float": float}
    kind = kinds.get(tag.removeprefix(_TAG)) if tag.startswith(_TAG) else None
    if kind is None:
        _refuse_tag(tag, tree, place)
    value = _plain(text, tree, place)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        found = repr(shortened(text, MOST_OF_VALUE))
        tree.fail(TAG_MISMATCH(expected=tag.removeprefix(_TAG), found=found), place)
    return value


def _plain(text: str, tree: Tree, place: int) -> object:
    """Read an unquoted scalar by the core schema."""
    if text and text[0] not in _BEGINS:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if text in _FLOATS:
        return _FLOATS[text]
    if _INT.fullmatch(text):
        return tree.number(text, _int, place)
    return tree.number(text, float, place) if _FLOAT.fullmatch(text) else text


def _int(text: str) -> int:
    base = _BASES.get(text[:2])
    return int(text[2:], base) if base else int(text)


def _refuse_tag(tag: str, tree: Tree, place: int) -> None:
    written = f"!!{tag.removeprefix(_TAG)}" if tag.startswith(_TAG) else tag
    tree.fail(TAG_UNKNOWN(tag=shortened(written, MOST_OF_VALUE)), place)
