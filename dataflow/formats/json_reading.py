"""Read the text of a JSON document, with places."""

from __future__ import annotations

import json
import re
from typing import Final, NoReturn

from dataflow.formats.tree import Lines, Tree

__all__ = ["read_json"]

_BLANK: Final = re.compile(r"[ \t\n\r]*")
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_DECODER: Final = json.JSONDecoder()


def read_json(text: str, tree: Tree) -> None:
    """Put a JSON text into the tree; raises FormatError."""
    _Scanner(text, tree).scan()


class _Scanner:
    """Goes over the text once, without recursion; single texts and numbers are read by `json`."""

    def __init__(self, text: str, tree: Tree) -> None:
        self.text = text
        self.tree = tree
        self.lines = Lines(text)
        self.index = 0  # how far the text has been read
        self.just_opened = False  # the innermost container may close without an entry

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
                self._fail(f"expected `,` or `{closing}`")
        if self._next():
            self._fail("nothing may follow the document")

    def _next(self) -> str:
        """Go on to the next character that counts; at the end there is none."""
        match = _BLANK.match(self.text, self.index)
        assert match is not None, "the pattern matches the empty text too"
        self.index = match.end()
        return self.text[self.index : self.index + 1]

    def _entry(self) -> None:
        """Take an item, or a key with its value; containers are only opened."""
        char = self._next()
        if self.tree.expects_key:
            if char != '"':
                self._fail("expected a key in double quotes")
            self._scalar()
            if self._next() != ":":
                self._fail("expected `:`")
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

    def _fail(self, reason: str) -> NoReturn:
        self.tree.fail(reason, self.lines.place(self.index))
