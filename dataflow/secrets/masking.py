"""Find any of many known texts in a text, in one pass whose time does not grow with their number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SHORTEST", "Marked", "Masking"]

S = TypeVar("S", str, bytes)
#: The minimum length of a text that is found: shorter ones occur in any text by chance.
SHORTEST: Final = 8
#: In any SHORTEST characters in a row a piece of this length begins at a multiple of STRIDE.
PIECE: Final = 4
STRIDE: Final = SHORTEST - PIECE + 1


class Marked(NamedTuple):
    """A string or bytes with secrets masked, and the span of each mask."""

    value: Any
    spans: list[list[int]]


class Masking(Generic[S]):
    """Replaces known texts, or known bytes, by their marks; the first one that begins, and the longest.

    Only the pieces at multiples of STRIDE are looked up, all in one dict. What is known may grow meanwhile:
    an entry that leads to another is added after it.
    """

    __slots__ = ("_lengths", "_marks", "_offsets")

    def __init__(self) -> None:
        self._marks: dict[S, S] = {}  # by known text
        self._lengths: dict[S, tuple[int, ...]] = {}  # of known texts by their beginning, longest first
        self._offsets: dict[S, tuple[int, ...]] = {}  # of a piece from the beginnings of known texts

    def add(self, text: S, mark: S) -> None:
        """Mask a text of at least SHORTEST characters from now on, unless it has a mark already."""
        if text in self._marks:
            return
        self._marks[text] = mark
        head: S = text[:SHORTEST]
        self._lengths[head] = tuple(sorted({*self._lengths.get(head, ()), len(text)}, reverse=True))
        for offset in range(STRIDE):
            piece: S = text[offset : offset + PIECE]
            known: tuple[int, ...] = self._offsets.get(piece, ())
            self._offsets[piece] = known if offset in known else (*known, offset)

    def masked(self, text: S) -> S:
        """Return a text with marks; the text itself if nothing in it is known."""
        marked = self.mark(text)
        return text if marked is None else marked.value

    def mark(self, text: S) -> Marked | None:
        """Return a text with marks, and where they are; None if nothing in it is known."""
        pieces: list[S] = []
        spans: list[list[int]] = []
        end = place = 0
        for start, known in sorted(self._found(text)):
            if start < end:
                continue
            before, mark = text[end:start], self._marks[known]
            place += len(before)
            spans.append([place, place + len(mark)])
            place += len(mark)
            pieces += (before, mark)
            end = start + len(known)
        if not spans:
            return None
        pieces.append(text[end:])
        return Marked(type(text)().join(pieces), spans)

    def _found(self, text: S) -> Iterator[tuple[int, S]]:
        """Yield the longest known text at each place where one begins, with that place."""
        offsets = self._offsets
        for place in [at for at in range(0, len(text), STRIDE) if text[at : at + PIECE] in offsets]:
            for offset in offsets[text[place : place + PIECE]]:
                start = place - offset
                for length in self._lengths.get(text[start : start + SHORTEST], ()) if start >= 0 else ():
                    if (known := text[start : start + length]) in self._marks:
                        yield start, known
                        break
