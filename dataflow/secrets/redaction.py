"""Redaction: the process knows its revealed secrets by value, and writes marks in their place (S12.4)."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from dataflow.base.wording import conceal_with

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["Marked", "Secrets", "filled", "filled_bytes", "know", "known", "redacted", "revealed"]

T = TypeVar("T")
S = TypeVar("S", str, bytes)

_MARK: Final = re.compile(r"\[secret:([A-Za-z_][\w.-]*)((?::[\w.-]+)*)\]", re.ASCII)


class Marked(NamedTuple):
    """A text or bytes with marks in place of secrets, and where each mark begins and ends."""

    value: Any
    spans: list[list[int]]


@dataclass(frozen=True, slots=True)
class Secrets:
    """The secrets that are known, as text and as bytes: what each form stands for, and what finds them."""

    values: Mapping[str, str]  # the newest value by name
    marks: Mapping[str, str]  # the mark by form
    in_text: re.Pattern[str]
    in_bytes: re.Pattern[bytes]

    def mark(self, text: str) -> Marked | None:
        """Write marks for the secrets in a text; None if there are none."""
        if self.in_text.search(text) is None:
            return None
        return _marked(text, self.in_text.finditer(text), self.marks.__getitem__)

    def mark_bytes(self, data: bytes) -> Marked | None:
        """Write marks for the secrets in bytes; None if there are none."""
        if self.in_bytes.search(data) is None:
            return None
        return _marked(data, self.in_bytes.finditer(data), lambda form: self.marks[form.decode()].encode())

    def without(self, text: str) -> str:
        """Return a text with marks in place of secrets."""
        return self.in_text.sub(lambda found: self.marks[found[0]], text)

    def bytes_without(self, data: bytes) -> bytes:
        """Return bytes with marks in place of secrets."""
        return self.in_bytes.sub(lambda found: self.marks[found[0].decode()].encode(), data)


_known: Secrets | None = None
_changing: Final = threading.Lock()


def known() -> Secrets | None:
    """Return the secrets that were revealed in this process, None if none was."""
    return _known


def revealed(name: str) -> str | None:
    """Return the value that a secret had when it was last revealed in this process."""
    return None if _known is None else _known.values.get(name)


def know(name: str, value: str) -> bool:
    """Note a secret that is about to be revealed; tell whether it is the first of the process."""
    global _known  # noqa: PLW0603 - replaced as a whole, so that readers need no lock
    from dataflow.secrets.secret_forms import forms_of  # most processes have no secret

    with _changing:
        before = _known
        if before is None:
            conceal_with(redacted)
        if before is not None and before.values.get(name) == value:
            return False
        marks = dict(before.marks) if before else {}
        for form, encoding in forms_of(value).items():
            marks.setdefault(form, f"[secret:{name}:{encoding}]" if encoding else f"[secret:{name}]")
        longest_first = sorted(marks, key=lambda form: (-len(form), form))
        _known = Secrets(
            {**(before.values if before else {}), name: value},
            marks,
            re.compile("|".join(map(re.escape, longest_first))),
            re.compile(b"|".join(re.escape(form.encode()) for form in longest_first)),
        )
        return before is None


def filled(marked: str, spans: Iterable[Iterable[int]], look_up: Callable[[str], str]) -> str:
    """Put secrets in the place of the marks at these places; raises ValueError if there is none."""
    return _filled(marked, spans, look_up)


def filled_bytes(marked: bytes, spans: Iterable[Iterable[int]], look_up: Callable[[str], str]) -> bytes:
    """Put secrets in the place of the marks in bytes; raises as `filled` does."""
    text = _filled(marked.decode("latin-1"), spans, look_up, lambda form: form.encode().decode("latin-1"))
    return text.encode("latin-1")


def _filled(
    marked: str,
    spans: Iterable[Iterable[int]],
    look_up: Callable[[str], str],
    written: Callable[[str], str] = str,
) -> str:
    from dataflow.secrets.secret_forms import form_of  # as above

    pieces: list[str] = []
    end = 0
    for start, stop in spans:
        if not (type(start) is type(stop) is int and end <= start < stop <= len(marked)):
            raise ValueError(f"no mark can be at {start!r}")
        mark = _MARK.fullmatch(marked, start, stop)
        if mark is None:
            raise ValueError(f"there is no mark at {start}")
        form = form_of(mark[2].removeprefix(":"), look_up(mark[1]))
        pieces += (marked[end:start], written(form))
        end = stop
    pieces.append(marked[end:])
    return "".join(pieces)


def redacted(value: T) -> T:
    """Mask the known secrets in a value: return it if it has none, else a copy with marks for them (S12.4).

    Texts, bytes, what lists, tuples, dicts and sets hold, and the fields of other objects are looked through.
    What cannot be copied is told as text.
    """
    if _known is None:
        return value
    from dataflow.secrets.redacting import Redaction  # most processes have no secret

    clean: T = Redaction(_known).of(value)
    return clean


def _marked(value: S, found: Iterable[re.Match[S]], mark_of: Callable[[S], S]) -> Marked:
    pieces: list[S] = []
    spans: list[list[int]] = []
    end = place = 0
    for match in found:
        before, mark = value[end : match.start()], mark_of(match[0])
        place += len(before)
        spans.append([place, place + len(mark)])
        place += len(mark)
        pieces += (before, mark)
        end = match.end()
    pieces.append(value[end:])
    return Marked(type(value)().join(pieces), spans)
