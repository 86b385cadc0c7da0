"""How messages are written: what cannot be seen, choices, counts, times, and places in a document."""

from __future__ import annotations

import difflib
import re
from datetime import UTC
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from datetime import datetime

__all__ = [
    "MOST_CHOICES",
    "choices",
    "conceal",
    "conceal_with",
    "counted",
    "listed",
    "moment",
    "nearest",
    "on_one_line",
    "read_place",
    "shortened",
    "visible",
    "within_file",
    "write_place",
]

#: How many names a message lists.
MOST_CHOICES: Final = 12

#: How many characters of one problem a message shows: a name may be as long as a document.
LONGEST_PROBLEM: Final = 2_000

# What steers a terminal or changes how the text around it is read: controls, breaks of lines, halves of
# surrogate pairs, and the marks that turn the direction of writing.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


_conceal: Callable[[str], str] | None = None


def conceal(text: str) -> str:
    """Return a text with marks in place of the secrets that the process knows (S12.4)."""
    return text if _conceal is None else _conceal(text)


def conceal_with(function: Callable[[str], str]) -> None:
    """Set what puts marks in place of secrets; whoever knows the first secret of the process calls it."""
    global _conceal  # noqa: PLW0603 - most processes know no secret, and import nothing for it
    _conceal = function


def visible(text: str) -> str:
    """Write what cannot be seen as escapes, so that no text of others can steer a terminal; lines stay."""
    return _UNSEEN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def on_one_line(text: str) -> str:
    """Write a problem on one line, without secrets; a very long one loses its middle. Twice is as once."""
    return visible(shortened(text, LONGEST_PROBLEM)).replace("\n", "\\n").replace("\t", "\\t")


def shortened(text: str, most: int, *, in_clear: bool = False) -> str:
    """Return a text without secrets; of more than `most` characters the middle is left out, and told as cut.

    `in_clear` leaves secrets in it, for what is handed on and told to nobody. What stands in the place of the
    rest counts as well, and is there however few `most` are.
    """
    if not in_clear:
        text = conceal(text)  # before it is cut, which could leave half of one (S12.4)
    if len(text) <= most:
        return text
    kept = max(most - len(_left_out(len(text))), 0)
    head, tail = -(-kept // 2), kept // 2
    return f"{text[:head]}{_left_out(len(text) - kept)}{text[len(text) - tail :]}"


def _left_out(count: int) -> str:
    return f"... {count:,} characters ..."


def choices(*names: Collection[str], write: Callable[[str], str] = str, near: str | None = None) -> str:
    """List the names that exist, for a message about one that does not: `choices: a, b`; 12 at most.

    They come in the order given, and sorted by likeness to the name that was meant with `near`. `write`
    writes each of them.
    """
    if near is not None:
        names = (nearest(chain.from_iterable(names), near),)
    count = sum(map(len, names))
    if not count:
        return "there are none"
    return f"choices: {listed(map(write, chain.from_iterable(names)), count)}"


def nearest(names: Iterable[str], meant: str) -> list[str]:
    """Sort names, those first that are written much like the one that was meant."""
    known = sorted(names)
    near = difflib.get_close_matches(meant, known, n=3)
    return [*near, *(name for name in known if name not in near)]


def listed(names: Iterable[str], count: int) -> str:
    """Write so many names in a row; of many only the first."""
    shown = ", ".join(islice(names, MOST_CHOICES))
    rest = count - MOST_CHOICES
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def counted(count: int, noun: str) -> str:
    """Write a count with its noun: `1 round`, `3 rounds`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


_PLACE: Final = re.compile(r"(\d+):(\d+) ")


def moment(time: datetime) -> str:
    """Write a time in UTC, as ids of runs have it."""
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def write_place(text: str, line: int, column: int) -> str:
    """Put the place of a problem in a document, both counted from 1, in front of its text."""
    return f"{line}:{column} {text}"


def read_place(problem: str) -> tuple[str, int | None, int | None]:
    """Take a problem apart: its text, and line and column where they are known."""
    place = _PLACE.match(problem)
    if place is None:
        return problem, None, None
    return problem[place.end() :], int(place[1]), int(place[2])


def within_file(file: str, problem: str) -> str:
    """Name the file of a problem, in front of its place there."""
    text, line, column = read_place(problem)
    return f"{file}: {text}" if line is None else f"{file}:{line}:{column}: {text}"
