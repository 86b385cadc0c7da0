"""The formats of strings in JSON Schemas that are checked."""

from __future__ import annotations

import ipaddress
import json
import re
from datetime import date, datetime, time, timedelta
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["FORMATS", "has_format"]


def has_format(is_valid: Callable[[Any], object], value: object) -> bool:
    """Return whether a string has a format; a format says nothing about other values."""
    if not isinstance(value, str):
        return True
    try:
        return is_valid(value) is not None
    except (ValueError, ValidationError, RecursionError, OverflowError, re.error):
        return False


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _is_read_as(kind: Any, text: str) -> object:
    """Read a string as pydantic reads the type from JSON; raises ValidationError."""
    return _adapter(kind).validate_json(json.dumps(text), strict=True)


def _is_written_as(pattern: re.Pattern[str], kind: Any, text: str) -> object:
    """Read a string as `_is_read_as` if it has the form of the format; pydantic reads others too."""
    return _is_read_as(kind, text) if pattern.fullmatch(text) else None


def _is_ipv6(text: str) -> object:
    return None if "%" in text else ipaddress.IPv6Address(text)


def _is_uri(text: str) -> object:
    from pydantic import AnyUrl  # which loads a lot

    return _is_read_as(AnyUrl, text)


def _anything(_: str) -> bool:
    return True


#: As in RFC 3339; a time may have no offset, and a duration a sign and fractions, as types of Python have.
_DATE: Final = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME: Final = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?"
_OFFSET: Final = "([Zz]|[+-][0-9]{2}:[0-9]{2})"
_DURATION: Final = (
    r"[+-]?P(?=.)([0-9]+W|([0-9]+Y)?([0-9]+M)?([0-9]+D)?(T(?=.)([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]+)?S)?)?)"
)
_UUID: Final = "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
_LABEL: Final = r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)"
_HOST: Final = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*\Z")
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+\Z")
_POINTER: Final = re.compile(r"(/([^~/]|~[01])*)*\Z")
#: The formats that are checked. Numbers have none in JSON, so those of OpenAPI for numbers say nothing here.
FORMATS: Final[Mapping[str, Callable[[Any], object]]] = {
    "date": partial(_is_written_as, re.compile(_DATE), date),
    "date-time": partial(_is_written_as, re.compile(f"{_DATE}[Tt]{_TIME}{_OFFSET}"), datetime),
    "time": partial(_is_written_as, re.compile(f"{_TIME}({_OFFSET})?"), time),
    "duration": partial(_is_written_as, re.compile(_DURATION), timedelta),
    "uuid": partial(_is_written_as, re.compile(_UUID), UUID),
    "uri": _is_uri,
    "email": _EMAIL.match,
    "hostname": _HOST.match,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": _is_ipv6,
    "json-pointer": _POINTER.match,
    "regex": re.compile,
    **dict.fromkeys(("path", "file-path", "directory-path", "binary", "secret", "password"), _anything),
}  # fmt: skip
