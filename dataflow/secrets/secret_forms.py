"""The forms in which a secret is met: as it is, escaped, percent-encoded, in base64 (S12.4)."""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["form_of", "forms_of"]

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
