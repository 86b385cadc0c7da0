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
    "Secrets",
    "filled",
    "filled_bytes",
    "know",
    "known",
    "redacted",
    "revealed",
]

T = TypeVar("T")
S = TypeVar("S", str, bytes)
_MARK: Final = re.compile(r"\[secret:([A-Za-z_][\w.-]*)((?::[\w.-]+)*)\]", re.ASCII)
# The characters that percent-encoders leave unescaped: quote_plus and form data, Python's quote, the
# encodeURIComponent of browsers, encodeURI, and what RFC 3986 allows in a path and in a query.
_SAFE: Final = {
    "": "",
    "path": "/",
    "component": "!'()*",
    "uri": ";,/?:@&=+$#!'()*",
    "segment": "!$&'()*+,;=:@/",
    "query": "!$&'()*+,;=:@/?",
}
_BASE64: Final = {"base64": b64encode, "base64url": urlsafe_b64encode}
_changing: Final = threading.Lock()
_known: Secrets | None = None


class Marked(NamedTuple):
    """A string or bytes with secrets masked, and the span of each mask."""

    value: Any
    spans: list[list[int]]


@dataclass(frozen=True, slots=True)
class Secrets:
    """The known secrets: their values, the mask of each encoding, and the patterns that find them."""

    values: Mapping[str, str]  # the newest value by name
    marks: Mapping[str, str]  # the mask by encoded value
    in_text: re.Pattern[str]
    in_bytes: re.Pattern[bytes]

    def mark(self, text: str) -> Marked | None:
        """Mask the secrets in a string; return None if there are none."""
        if self.in_text.search(text) is None:
            return None
        return _marked(text, self.in_text.finditer(text), self.marks.__getitem__)

    def mark_bytes(self, data: bytes) -> Marked | None:
        """Mask the secrets in bytes; return None if there are none."""
        if self.in_bytes.search(data) is None:
            return None
        return _marked(data, self.in_bytes.finditer(data), lambda form: self.marks[form.decode()].encode())

    def without(self, text: str) -> str:
        """Return a string with secrets masked."""
        return self.in_text.sub(lambda found: self.marks[found[0]], text)

    def bytes_without(self, data: bytes) -> bytes:
        """Return bytes with secrets masked."""
        return self.in_bytes.sub(lambda found: self.marks[found[0].decode()].encode(), data)


def known() -> Secrets | None:
    """Return the secrets that were revealed in this process, or None."""
    return _known


def revealed(name: str) -> str | None:
    """Return the last value of a secret that was revealed in this process, or None."""
    return None if _known is None else _known.values.get(name)


def know(name: str, value: str) -> bool:
    """Register a secret that is about to be revealed; return whether it is the first of the process."""
    global _known  # noqa: PLW0603 - replaced as a whole, so that readers need no lock
    with _changing:
        before = _known
        if before is None:
            conceal_with(redacted)
        if before is not None and before.values.get(name) == value:
            return False
        marks = dict(before.marks) if before else {}
        for form, encoding in _encoded(value).items():
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
    """Replace the masks at these spans by the secrets' values; raises ValueError where there is no mask."""
    return _filled(marked, spans, look_up)


def filled_bytes(marked: bytes, spans: Iterable[Iterable[int]], look_up: Callable[[str], str]) -> bytes:
    """Replace the masks in bytes by the secrets' values; raises as `filled` does."""
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
            raise ValueError(f"no mask can be at {start!r}")
        mark = _MARK.fullmatch(marked, start, stop)
        if mark is None:
            raise ValueError(f"there is no mask at {start}")
        encoding = mark[2].removeprefix(":")
        encode = _ENCODINGS.get(encoding)
        value = look_up(mark[1])
        if encode is None:
            raise ValueError(f"there is no encoding {encoding!r}")
        pieces += (marked[end:start], written(encode(value)))
        end = stop
    pieces.append(marked[end:])
    return "".join(pieces)


def redacted(value: T) -> T:
    """Mask the known secrets in a value: return the value itself if it has none, else a masked copy.

    Strings, bytes, the items of lists, tuples, dicts and sets, and the fields of other objects are searched.
    An object that cannot be copied is replaced by its masked text.
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


def _encoded(value: str) -> dict[str, str]:
    """Encode a secret in every encoding: the name of the first encoding by the encoded value."""
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
    """Return the base64 characters that depend on the secret alone, after `ahead` bytes of other data."""
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
