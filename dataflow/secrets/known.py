"""The secrets that this process has revealed, by value and in every encoding in which they may appear."""

from __future__ import annotations

import json
import re
import threading
from base64 import b64encode, urlsafe_b64encode
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar
from urllib.parse import quote, quote_plus

from dataflow.base.wording import conceal_with

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


__all__ = [
    "Marked",
    "Secrets",
    "filled",
    "filled_bytes",
    "form_of",
    "forms_of",
    "know",
    "known",
    "redacted",
    "revealed",
]

T = TypeVar("T")
S = TypeVar("S", str, bytes)
_MARK: Final = re.compile(r"\[secret:([A-Za-z_][\w.-]*)((?::[\w.-]+)*)\]", re.ASCII)
# What may stay as it is in percent-encoding, by who writes it so: quote_plus and form data, Python's quote,
# encodeURIComponent of browsers, encodeURI, and what RFC 3986 lets stand in a path and in a query.
_SAFE: Final = {
    "": "",
    "path": "/",
    "component": "!'()*",
    "uri": ";,/?:@&=+$#!'()*",
    "segment": "!$&'()*+,;=:@/",
    "query": "!$&'()*+,;=:@/?",
}
_BASE64: Final = {"base64": b64encode, "base64url": urlsafe_b64encode}


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
    from dataflow.secrets.masking import Redaction  # most processes have no secret

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


def form_of(encoding: str, value: str) -> str:
    """Write a secret in an encoding; raises ValueError if there is no such encoding."""
    encode = _ENCODINGS.get(encoding)
    if encode is None:
        raise ValueError(f"there is no encoding {encoding!r}")
    return encode(value)


def forms_of(value: str) -> dict[str, str]:
    """Write a secret in each encoding: its name by what it gives, of equal ones the first."""
    forms: dict[str, str] = {}
    for name, encode in _ENCODINGS.items():
        forms.setdefault(encode(value), name)
    return forms


def _json(value: str) -> str:
    return json.dumps(value)[1:-1]


def _json_utf8(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)[1:-1]


def _with_capitals(value: str) -> str:
    return re.sub(r"\\u[0-9a-f]{4}", lambda found: "\\u" + found[0][2:].upper(), _json(value))


def _repr(value: str) -> str:
    return repr(value)[1:-1]


def _repr_of_bytes(value: str) -> str:
    return repr(value.encode())[2:-1]


def _percent(value: str, safe: str, plus: bool, small: bool) -> str:
    written = (quote_plus if plus else quote)(value, safe)
    return re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), written) if small else written


def _padded(value: str, encode: Callable[[bytes], bytes]) -> str:
    return encode(value.encode()).decode()


def _unpadded(value: str, encode: Callable[[bytes], bytes]) -> str:
    return _padded(value, encode).rstrip("=")


def _inside(value: str, encode: Callable[[bytes], bytes], ahead: int) -> str:
    """Give the characters of base64 that the secret alone decides, behind `ahead` bytes of something else."""
    data = value.encode()
    written = encode(bytes(ahead) + data).decode()
    return written[-(-8 * ahead // 6) : 8 * (ahead + len(data)) // 6]


def _encodings() -> Iterator[tuple[str, Callable[[str], str]]]:
    yield "", str
    yield "json", _json
    yield "json.utf-8", _json_utf8
    yield "json.capitals", _with_capitals
    yield "repr", _repr
    yield "repr.bytes", _repr_of_bytes
    for kind, safe in _SAFE.items():
        for plus in (False, True):
            for small in (False, True):
                parts = ["url", kind, "plus" if plus else "", "small" if small else ""]
                yield ".".join(filter(None, parts)), partial(_percent, safe=safe, plus=plus, small=small)
    for name, encode in _BASE64.items():
        yield name, partial(_padded, encode=encode)
        yield f"{name}.unpadded", partial(_unpadded, encode=encode)
        for ahead in range(3):
            yield f"{name}.{ahead}", partial(_inside, encode=encode, ahead=ahead)


_ENCODINGS: Final[dict[str, Callable[[str], str]]] = dict(_encodings())
