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


def _is_uri(text: str) -> object:
    from pydantic import AnyUrl  # which loads a lot

    return _is_read_as(AnyUrl, text)


def _anything(_: str) -> bool:
    return True


_LABEL: Final = r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)"
_HOST: Final = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*\Z")
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+\Z")
_POINTER: Final = re.compile(r"(/([^~/]|~[01])*)*\Z")
#: The formats that are checked. Numbers have none in JSON, so those of OpenAPI for numbers say nothing here.
FORMATS: Final[Mapping[str, Callable[[Any], object]]] = {
    "date": partial(_is_read_as, date),
    "date-time": partial(_is_read_as, datetime),
    "time": partial(_is_read_as, time),
    "duration": partial(_is_read_as, timedelta),
    "uuid": partial(_is_read_as, UUID),
    "uri": _is_uri,
    "email": _EMAIL.match,
    "hostname": _HOST.match,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "json-pointer": _POINTER.match,
    "regex": re.compile,
    **dict.fromkeys(("path", "file-path", "directory-path", "binary", "secret", "password"), _anything),
}  # fmt: skip
