"""Word messages: escaped control characters, choices, counts, times, and locations in a document."""

from __future__ import annotations

import difflib
import re
from datetime import UTC
from itertools import chain, islice
from reprlib import Repr
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from datetime import datetime

__all__ = [
    "MOST_CHOICES",
    "MaskedRepr",
    "choices",
    "conceal",
    "conceal_with",
    "counted",
    "has_secrets",
    "listed",
    "moment",
    "nearest",
    "on_one_line",
    "read_place",
    "short_repr",
    "shortened",
    "visible",
    "within_file",
    "write_place",
]

#: The maximum number of names that a message lists.
MOST_CHOICES: Final = 12

#: The maximum number of characters of one problem in a message: a name may be as long as a document.
LONGEST_PROBLEM: Final = 2_000

#: The maximum number of characters of a value in the repr of what holds it, and of items of a container.
LONGEST_PART: Final = 500
MOST_ITEMS: Final = 50

# Characters that control a terminal or change how the text around them is read: control characters, line
# separators, lone surrogates and bidirectional marks.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_PLACE: Final = re.compile(r"(\d+):(\d+) ")

_conceal: Callable[[str], str] | None = None


def conceal(text: str) -> str:
    """Return a finished text with the known secrets of the process masked (S12.4)."""
    return text if _conceal is None else _conceal(text)


def has_secrets() -> bool:
    """Return whether a secret was revealed in this process."""
    return _conceal is not None


def conceal_with(function: Callable[[str], str]) -> None:
    """Set the function that masks secrets; called when the first secret of the process is revealed."""
    global _conceal  # noqa: PLW0603 - most processes know no secret, and import nothing for it
    _conceal = function


def visible(text: str) -> str:
    """Escape invisible characters except line breaks, so that no text can control a terminal."""
    return _UNSEEN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def on_one_line(text: str) -> str:
    """Write a problem on one line with secrets masked; a very long one loses its middle. Idempotent."""
    return visible(shortened(text, LONGEST_PROBLEM)).replace("\n", "\\n").replace("\t", "\\t")


def shortened(text: str, most: int, *, in_clear: bool = False) -> str:
    """Return a text with secrets masked; in one of more than `most` characters a note replaces the middle.

    `in_clear` keeps secrets, for text that is passed on and not displayed. The note counts towards `most`,
    and is written even where it is longer than that.
    """
    if not in_clear:
        text = conceal(text)  # before it is cut, which could leave half of one (S12.4)
    if len(text) <= most:
        return text
    kept = max(most - len(_left_out(len(text))), 0)
    head, tail = -(-kept // 2), kept // 2
    return f"{text[:head]}{_left_out(len(text) - kept)}{text[len(text) - tail :]}"


class MaskedRepr(Repr):
    """The repr of a value in which secrets are masked before texts are cut: half of one is not found."""

    def repr_str(self, x: str, level: int) -> str:
        return super().repr_str(conceal(x), level)

    def repr_instance(self, x: object, level: int) -> str:
        try:
            text = conceal(repr(x))
        except Exception:  # noqa: BLE001 - foreign code; the class is shown instead
            return conceal(super().repr_instance(x, level))
        return super().repr_instance(_Text(text), level)


class _Text(str):
    """Is its own repr."""

    __slots__ = ()
    __repr__ = str.__str__


class _Brief(MaskedRepr):
    """The repr of a value without most of its items; dicts keep their order."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdeque = self.maxarray = (
            MOST_ITEMS
        )
        self.maxdict, self.maxstring, self.maxother, self.maxlong = (
            MOST_ITEMS,
            LONGEST_PART,
            LONGEST_PART,
            100,
        )

    def repr_dict(self, x: dict[object, object], level: int) -> str:
        pairs = [
            f"{self.repr1(key, level - 1)}: {self.repr1(x[key], level - 1)}" for key in islice(x, MOST_ITEMS)
        ]
        return f"{{{', '.join([*pairs, *(['...'] if len(x) > MOST_ITEMS else [])])}}}"


def short_repr(value: object, most: int = LONGEST_PART) -> str:
    """Return the repr of a value with secrets masked; of a large one the first items, and how many it has."""
    text = shortened(_Brief().repr(value), most)
    if isinstance(value, (list, tuple, dict, set, frozenset)) and len(value) > MOST_ITEMS:
        return f"{text} ({len(value):,} items)"
    return text


def _left_out(count: int) -> str:
    return f"... {count:,} characters ..."


def choices(*names: Collection[str], write: Callable[[str], str] = str, near: str | None = None) -> str:
    """List the names that exist, for a message about one that does not: `choices: a, b`; 12 at most.

    They keep their order, or are sorted by similarity to the name in `near`. `write` formats each of them.
    """
    if near is not None:
        names = (nearest(chain.from_iterable(names), near),)
    count = sum(map(len, names))
    if not count:
        return "there are none"
    return f"choices: {listed(map(write, chain.from_iterable(names)), count)}"


def nearest(names: Iterable[str], meant: str) -> list[str]:
    """Sort names, with those first that are similar to the one that was meant."""
    known = sorted(names)
    near = difflib.get_close_matches(meant, known, n=3)
    return [*near, *(name for name in known if name not in near)]


def listed(names: Iterable[str], count: int) -> str:
    """Join the first names with commas, and add how many of the `count` are not shown."""
    shown = ", ".join(islice(names, MOST_CHOICES))
    rest = count - MOST_CHOICES
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def counted(count: int, noun: str) -> str:
    """Write a count with its noun: `1 round`, `3 rounds`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def moment(time: datetime) -> str:
    """Format a time in UTC, as in the ids of runs."""
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def write_place(text: str, line: int, column: int) -> str:
    """Prefix a problem with its line and column in a document, both counted from 1."""
    return f"{line}:{column} {text}"


def read_place(problem: str) -> tuple[str, int | None, int | None]:
    """Split a problem into its text, and its line and column where they are known."""
    place = _PLACE.match(problem)
    if place is None:
        return problem, None, None
    return problem[place.end() :], int(place[1]), int(place[2])


def within_file(file: str, problem: str) -> str:
    """Prefix a problem with its file, in front of its line and column."""
    text, line, column = read_place(problem)
    return f"{file}: {text}" if line is None else f"{file}:{line}:{column}: {text}"
