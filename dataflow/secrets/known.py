"""The secrets that this process has revealed, by value and in every encoding in which they may appear."""

from __future__ import annotations

import json
import operator
import re
import threading
from base64 import b64encode, urlsafe_b64encode
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote, quote_plus

from dataflow.base.wording import conceal_with
from dataflow.secrets.masking import Masking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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
#: The depth to which plain values are masked; deeper parts are left out, since they may have a secret.
MOST_LEVELS: Final = 100
TOO_DEEP: Final = "[nested too deep]"
_PLAIN: Final = frozenset({list, tuple, dict})
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


class Secrets:
    """The known secrets: the newest value by name, and the masking of all values in every encoding."""

    __slots__ = ("data", "text", "values")

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.text: Masking[str] = Masking()
        self.data: Masking[bytes] = Masking()

    def add(self, name: str, value: str) -> None:
        """Mask a value from now on."""
        for form, encoding in _encoded(value).items():
            mark = f"[secret:{name}:{encoding}]" if encoding else f"[secret:{name}]"
            self.text.add(form, mark)
            self.data.add(form.encode(), mark.encode())


def known() -> Secrets | None:
    """Return the secrets that were revealed in this process, or None."""
    return _known


def revealed(name: str) -> str | None:
    """Return the last value of a secret that was revealed in this process, or None."""
    return None if _known is None else _known.values.get(name)


def know(name: str, value: str, *, is_masked: bool = True) -> bool:
    """Register a secret that is about to be revealed; return whether this value was not its last one."""
    global _known  # noqa: PLW0603 - most processes know no secret
    with _changing:
        secrets = _known or Secrets()
        if secrets.values.get(name) == value:
            return False
        if is_masked:
            secrets.add(name, value)
        secrets.values[name] = value
        _known = secrets
        conceal_with(redacted)
        return True


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
    """Mask the known secrets in a text, in bytes, or in the texts of plain lists, tuples and dicts.

    What has none is returned itself, as is any other object: nothing of it is read.
    """
    return value if _known is None else _redacted(value, _known, MOST_LEVELS, {})


def _redacted(value: Any, secrets: Secrets, levels: int, seen: dict[int, tuple[Any, Any]]) -> Any:
    kind = type(value)
    if kind is str:
        return secrets.text.masked(value)
    if kind is bytes:
        return secrets.data.masked(value)
    if kind not in _PLAIN or not value:
        return value
    if not levels:
        return TOO_DEEP
    if id(value) not in seen:
        seen[id(value)] = value, TOO_DEEP  # of a value that contains itself; keeps it alive, and its id
        held = [*value.items()] if kind is dict else [*value]  # another thread may change it meanwhile
        parts = [_redacted(part, secrets, levels - 1, seen) for part in held]
        is_clean = all(map(operator.is_, parts, held))
        seen[id(value)] = value, value if is_clean else kind(parts)
    return seen[id(value)][1]


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
