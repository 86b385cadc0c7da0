"""The kinds of values that JSON does not have, and the simpler value that each is stored as (S12.3).

Here are those of Python itself; those of other libraries are in the modules `library_*`, found by `codecs`.
"""

from __future__ import annotations

import math
import re
from base64 import b64decode, b64encode
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from operator import attrgetter
from pathlib import PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic_core import TzInfo

from dataflow.base.wording import shortened
from dataflow.core.context import Variables
from dataflow.diagnostics.values import DATA_MALFORMED
from dataflow.values.refusals import Refused, Unreadable, not_storable

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BY_NAME", "BY_TYPE", "KINDS", "NUMBER_BITS", "Kind", "escaped", "is_plain_number"]

#: Longer integers are written in hexadecimal: Python may be configured to read only 640 decimal digits.
NUMBER_BITS: Final = 2_000
#: The factories that a `defaultdict` may have to be stored, by name.
_FACTORIES: Final[dict[str, Any]] = {
    kind.__name__: kind for kind in (bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset)
}
_MICROSECOND: Final = timedelta(microseconds=1)
_ESCAPED: Final = re.compile(r"\\(\\|ud[89a-f][0-9a-f]{2})?")


@dataclass(frozen=True, slots=True)
class Kind:
    """How a type is stored: as {"$": name, "v": the simpler value, encoded}.

    simpler: the type of the simpler value; `object` for any
    content: returns what the content hash is made of; None for the simpler value
    shown: returns the JSON form of a value; None for its repr
    is_inherited: whether values of derived classes are stored too, and read as values of this type
    """

    name: str
    of: type
    simpler: type | tuple[type, ...]
    apart: Callable[[Any], Any]
    together: Callable[[Any], Any]
    content: Callable[[Any], object] | None = None
    shown: Callable[[Any], object] | None = None
    is_inherited: bool = False


def escaped(text: str) -> str:
    r"""Escape lone surrogates as `\ud800`, and double backslashes."""
    return re.sub(
        r"[\\\ud800-\udfff]", lambda found: "\\\\" if found[0] == "\\" else f"\\u{ord(found[0]):x}", text
    )


def _unescaped(text: str) -> str:
    def put_back(found: re.Match[str]) -> str:
        if found[1] is None:
            raise Unreadable(DATA_MALFORMED(expected="two backslashes", found=f"one at {found.start()}"))
        return "\\" if found[1] == "\\" else chr(int(found[1][1:], 16))

    return _ESCAPED.sub(put_back, text)


def is_plain_number(number: float) -> bool:
    """Return whether JSON represents a number exactly."""
    return number.bit_length() <= NUMBER_BITS if isinstance(number, int) else math.isfinite(number)


def _float(text: str) -> float:
    if text not in ("nan", "inf", "-inf"):
        raise Unreadable(DATA_MALFORMED(expected="nan, inf or -inf", found=repr(shortened(text, 60))))
    return float(text)


def _int(text: str) -> int:
    return int(text, 16 if "x" in text else 10)


def _zone_apart(moment: datetime | time) -> Any:
    """Write the zone of a time: by name, or as microseconds from UTC and its name if it has one."""
    zone = moment.tzinfo
    if zone is None:
        return None
    if type(zone) is ZoneInfo and type(zone.key) is str:
        return zone.key
    if type(zone) is timezone:
        offset, *name = zone.__getinitargs__()  # type: ignore[attr-defined]  # what it is pickled as
        return [offset // _MICROSECOND, *name]
    if type(zone) is TzInfo:  # pydantic's zone from JSON; it is read back as the equal `timezone`
        return [(zone.utcoffset(None) or timedelta()) // _MICROSECOND]
    why = f"its zone is of the class {type(zone).__qualname__}"
    raise Refused(not_storable(type(moment), why, "use `timezone` or a `ZoneInfo` with a key"))


def _zone(stored: Any) -> tzinfo | None:
    if stored is None:
        return None
    if type(stored) is str:
        return ZoneInfo(stored)
    offset, *name = stored
    return timezone(offset * _MICROSECOND, *name)


def _moment_apart(moment: datetime | time) -> Any:
    """Write a time as ISO text if that is complete, else with its fold and zone."""
    zone = _zone_apart(moment)
    if moment.fold == 0 and (zone is None or (type(zone) is list and len(zone) == 1)):
        return moment.isoformat()
    return [moment.replace(tzinfo=None, fold=0).isoformat(), moment.fold, zone]


def _moment(kind: type[datetime | time]) -> Callable[[Any], Any]:
    def together(stored: Any) -> datetime | time:
        if type(stored) is str:
            return kind.fromisoformat(stored)
        text, fold, zone = stored
        return kind.fromisoformat(text).replace(fold=fold, tzinfo=_zone(zone))

    return together


def _path_apart(path: PurePath) -> str:
    text = str(path)
    if type(path)(text) != path:
        raise Refused(not_storable(type(path), "its text reads as another path", "pass the string"))
    return text


def _bytes(text: str) -> bytes:
    return b64decode(text, validate=True)


def _dict(pairs: list[Any]) -> dict[Any, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise Unreadable(DATA_MALFORMED(expected="different keys", found="a key twice"))
    return made


def _set_of(kind: type) -> Callable[[list[Any]], Any]:
    def together(items: list[Any]) -> Any:
        made = kind(items)
        if len(made) != len(items):
            raise Unreadable(DATA_MALFORMED(expected="different items", found="an item twice"))
        return made

    return together


def _by_text(kind: type) -> Kind:
    return Kind(kind.__name__, kind, str, str, kind, shown=str)


def _path(kind: type[PurePath]) -> Kind:
    return Kind(kind.__name__, kind, str, _path_apart, kind)


def _pairs(mapping: dict[Any, Any]) -> list[list[Any]]:
    return [[key, value] for key, value in dict.items(mapping)]


def _factory_apart(value: defaultdict[Any, Any]) -> list[Any]:
    factory: Any = value.default_factory
    name = None if factory is None else getattr(factory, "__name__", "")
    if name is not None and _FACTORIES.get(name) is not factory:
        why = f"its factory is not one of {', '.join(_FACTORIES)}"
        raise Refused(not_storable(defaultdict, why, "make a dict of it"))
    return [name, _pairs(value)]


def _with_factory(stored: list[Any]) -> defaultdict[Any, Any]:
    name, pairs = stored
    return defaultdict(None if name is None else _FACTORIES[name], _dict(pairs))


def _pattern_apart(pattern: re.Pattern[Any]) -> list[Any]:
    return [pattern.pattern, int(pattern.flags)]


def _pattern(stored: list[Any]) -> re.Pattern[Any]:
    text, flags = stored
    return re.compile(text, flags)


#: In the order of the documentation of stored values.
KINDS: Final = (
    Kind("tuple", tuple, list, list, tuple),
    Kind("set", set, list, list, _set_of(set)),
    Kind("frozenset", frozenset, list, list, _set_of(frozenset)),
    Kind("dict", dict, list, lambda value: list(map(list, value.items())), _dict),
    Kind("float", float, str, repr, _float),
    Kind("int", int, str, hex, _int),
    Kind("str", str, str, escaped, _unescaped),
    Kind("bytes", bytes, str, lambda value: b64encode(value).decode(), _bytes),
    Kind("bytearray", bytearray, bytes, bytes, bytearray),
    Kind("date", date, str, date.isoformat, date.fromisoformat),
    Kind("time", time, (str, list), _moment_apart, _moment(time)),
    Kind("datetime", datetime, (str, list), _moment_apart, _moment(datetime)),
    Kind(
        "timedelta",
        timedelta,
        list,
        lambda value: [value.days, value.seconds, value.microseconds],
        lambda stored: timedelta(*stored),
    ),
    _by_text(Decimal),
    _by_text(UUID),
    _path(PosixPath),
    _path(WindowsPath),
    _path(PurePosixPath),
    _path(PureWindowsPath),
    Kind("variables", Variables, dict, dict, Variables),
    Kind("complex", complex, list, lambda v: [v.real, v.imag], lambda v: complex(*v), shown=str),
    _by_text(Fraction),
    Kind("range", range, list, lambda v: [v.start, v.stop, v.step], lambda v: range(*v), shown=list),
    Kind("deque", deque, list, lambda v: [v.maxlen, list(v)], lambda v: deque(v[1], v[0]), shown=list),
    Kind("OrderedDict", OrderedDict, list, _pairs, lambda pairs: OrderedDict(_dict(pairs))),
    Kind("defaultdict", defaultdict, list, _factory_apart, _with_factory),
    Kind("Counter", Counter, list, _pairs, lambda pairs: Counter(_dict(pairs))),
    Kind("Pattern", re.Pattern, list, _pattern_apart, _pattern, shown=attrgetter("pattern")),
    *map(_by_text, (IPv4Address, IPv6Address, IPv4Interface, IPv6Interface, IPv4Network, IPv6Network)),
)

BY_NAME: Final = {kind.name: kind for kind in KINDS}
BY_TYPE: Final = {kind.of: kind for kind in KINDS}
