"""Content hashes of values without parts: numbers, strings, bytes and constants (S13.2)."""

from __future__ import annotations

from array import array
from datetime import date, timedelta, timezone
from decimal import Decimal
from hashlib import blake2b
from pathlib import PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath
from struct import Struct
from types import EllipsisType, NoneType, NotImplementedType
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from pydantic_core import MultiHostUrl, PydanticUndefinedType, TzInfo, Url

from dataflow.secrets.masking import SHORTEST
from dataflow.secrets.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["LEAVES", "Digested", "hashed", "listed", "named", "text"]

#: Encodings of containers up to this number of bytes are used as content hashes unchanged.
LONGEST: Final = 32
#: Integers with as many digits as the shortest secret has characters may be secrets.
_SECRET_NUMBER: Final = 10 ** (SHORTEST - 1)
_double: Final = Struct("<d").pack
_MICROSECOND: Final = timedelta(microseconds=1)


class Digested:
    """A part whose content hash is already known."""

    __slots__ = ("digest",)

    def __init__(self, digest: bytes) -> None:
        self.digest = digest


def hashed(head: bytes, data: bytes | bytearray = b"") -> bytes:
    """Hash an encoding; `#`, the tag of hashes, is not a tag of encodings."""
    made = blake2b(head, digest_size=20)
    made.update(data)
    return b"#" + made.digest()


def named(name: str) -> bytes:
    """Encode a name with its length, so that its end is unambiguous."""
    data = name.encode("utf-8", "surrogatepass")
    return b"%d:%b" % (len(data), data)


def listed(head: bytes, digests: Sequence[bytes]) -> bytes:
    """Return the content hash of a container from those of its parts, in order."""
    encoding = b"%b%d:%b%b" % (head, len(digests), bytes(map(len, digests)), b"".join(digests))
    return encoding if len(encoding) <= LONGEST else hashed(encoding)


def _leaf(tag: bytes, data: bytes) -> bytes:
    """Return a content hash; data that is long enough to contain a secret is hashed, and cannot be read."""
    return tag + data if len(data) < SHORTEST else hashed(tag, data)


def text(value: str) -> bytes:
    """Return the content hash of a string, which may have lone surrogates."""
    data = str.encode(value, "utf-8", "surrogatepass")
    return b"s" + data if len(data) < SHORTEST else hashed(b"s", data)


def _integer(value: int) -> bytes:
    if -_SECRET_NUMBER < value < _SECRET_NUMBER:
        return b"i" + int.to_bytes(value, 4, "little", signed=True)
    return hashed(b"i", int.to_bytes(value, int.bit_length(value) // 8 + 1, "little", signed=True))


def _number(value: float) -> bytes:
    return b"f" + _double(value) if value == value else b"f"  # one for every nan


def _complex(value: complex) -> bytes:
    return listed(b"c", (_number(value.real), _number(value.imag)))


def _bytearray(value: bytearray) -> bytes:
    return hashed(b"a", value)  # it may be long, and is not copied


def _bytes(value: bytes) -> bytes:
    return b"b" + value if len(value) < SHORTEST else hashed(b"b", value)


def _kind(name: str, write: Callable[[Any], str]) -> Callable[[Any], bytes]:
    """Return the hash function of a type whose values are fully described by a text."""
    tag = b"k" + named(name)
    return lambda value: _leaf(tag, write(value).encode("utf-8", "surrogatepass"))


def _path(kind: type[PurePath]) -> Callable[[PurePath], bytes]:
    head = b"p" + named(kind.__name__)
    return lambda value: listed(head, [text(part) for part in value.parts])


def _array(value: array[Any]) -> bytes:
    return hashed(b"r" + named(value.typecode), array.tobytes(value))


def _timezone(value: timezone) -> bytes:
    offset, *name = value.__getinitargs__()  # type: ignore[attr-defined]  # what it is pickled as
    return listed(b"z", [_integer(offset // _MICROSECOND), *map(text, name)])


def _offset(value: TzInfo) -> bytes:
    """Return the content hash of pydantic's time zone: that of the `timezone` that it is stored as."""
    return _timezone(timezone(value.utcoffset(None) or timedelta()))


#: The hash functions by exact type; derived classes are handled in `digest_parts`.
LEAVES: Final[dict[type, Callable[[Any], bytes]]] = {
    str: text,
    int: _integer,
    float: _number,
    bool: lambda value: b"1" if value else b"0",
    NoneType: lambda _: b"n",
    bytes: _bytes,
    bytearray: _bytearray,
    complex: _complex,
    Digested: lambda value: value.digest,
    EllipsisType: lambda _: b"e",
    NotImplementedType: lambda _: b"o",
    PydanticUndefinedType: lambda _: b"u",
    Secret: lambda value: hashed(b"q", value.name.encode()),
    Decimal: _kind("Decimal", lambda value: Decimal.__str__(value).upper()),  # case of the exponent varies
    UUID: _kind("UUID", lambda value: value.hex),
    date: _kind("date", date.isoformat),
    timedelta: _kind("timedelta", lambda value: f"{value.days}:{value.seconds}:{value.microseconds}"),
    timezone: _timezone,
    TzInfo: _offset,
    Url: _kind("Url", str),
    MultiHostUrl: _kind("MultiHostUrl", str),
    array: _array,
    **{kind: _path(kind) for kind in (PosixPath, WindowsPath, PurePosixPath, PureWindowsPath)},
}
