# ruff: noqa: E501 - a row is a line, and messages are compared whole
"""What is said of values that cannot be stored, and of stored data that makes no value (S12.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, make_dataclass
from datetime import datetime, timedelta, tzinfo
from enum import Enum
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

from pydantic import BaseModel

from dataflow import Secret
from dataflow.values.classes import classes_of
from dataflow.values.reader import Reader
from dataflow.values.writer import Writer
from tests.messages.telling import Row, Stimulus
from tests.support.known_secrets import forgetting

__all__ = ["ROWS"]

HERE: Final = __name__


@dataclass
class Data:
    old: int
    new: int


class Exact(BaseModel):
    old: int


class Color(Enum):
    RED = 1


class Pair(NamedTuple):
    one: int
    other: int


@dataclass
class Broken:
    """Has a field that cannot be looked at."""

    x: int

    def __getattribute__(self, name: str) -> Any:
        if name == "x":
            raise OSError("the disk is gone")
        return object.__getattribute__(self, name)


class Fixed(BaseModel):
    @property
    def more(self) -> int:
        return 1


class Nowhere(tzinfo):
    def utcoffset(self, moment: datetime | None) -> timedelta:
        return timedelta(0)

    dst = utcoffset

    def tzname(self, moment: datetime | None) -> str:
        return "nowhere"


#: Another class of the name of Data.
TWIN: Final = make_dataclass("Data", [("old", int)], namespace={"__module__": HERE})


def undeclared() -> Color:
    member = object.__new__(Color)
    member._name_ = "BLUE"
    return member


def unusual_path() -> PurePosixPath:
    path = PurePosixPath("a")
    path._str = "/b"  # type: ignore[attr-defined]  # as a class of another library may keep it
    return path


def written(value: object, *types: object) -> Stimulus:
    """Write a value that node `a` gives at port `out`."""
    return lambda: Writer(classes_of(types), lambda _name, _data: None).write(value, "a.out")


def read(data: object, *types: object, blobs: Mapping[str, bytes] | None = None) -> Stimulus:
    """Read a value from data that a store has."""
    reader = Reader(classes_of(types), (blobs or {}).__getitem__, "runs.db")
    return lambda: reader.read(data)


def stored(name: str, **parts: object) -> dict[str, object]:
    """Give the data of an instance of a class of this module."""
    return {"$": f"{HERE}:{name}", **parts}


def history(part: bytes) -> Stimulus:
    return read({"$": "history", "v": "digest"}, blobs={"digest": part})


def of_another_encoding() -> object:
    """Read a secret that is written in a way that this release does not know."""
    marked = f"[secret:{HERE}:rot13]"
    with forgetting():
        Secret(HERE, "correct horse").reveal()
        return read({"$": "secret", "v": [marked, [[0, len(marked)]]]})()


def endless() -> list[Any]:
    data: list[Any] = []
    data.append(data)
    return data


# fmt: off
WRITING: Final = [
    Row("a field that raises", written(Broken(1), Broken), "a.out: Broken cannot be stored: taking it apart raised OSError: the disk is gone"),
    Row("a class that no port names", written({"h": [0, Data(1, 2)]}), f"""a.out["h"][1]: Data cannot be stored: its class {HERE}:Data is not among those that the types of the flow's ports name, so it could not be read back; name it in the type of the port"""),
    Row("two classes of a name", written(Data(1, 2), Data, TWIN), f"a.out: Data cannot be stored: two classes of the flow have the name {HERE}:Data; give them different ones"),
    Row("a member without a declaration", written(undeclared(), Color), "a.out: Color cannot be stored: it is no member that its class has under this name; declare it in the class"),
    Row("a named tuple of another length", written(tuple.__new__(Pair, (1,)), Pair), "a.out: Pair cannot be stored: it has more or fewer items than its class has fields"),
    Row("a zone of one's own", written(datetime(2026, 1, 2, tzinfo=Nowhere())), "a.out: datetime cannot be stored: its zone is of the class Nowhere; use `timezone` or a `ZoneInfo` with a key"),
    Row("a path that its text does not tell", written(unusual_path()), "a.out: PurePosixPath cannot be stored: its text reads as another path; pass the text"),
]
READING: Final = [
    Row("no JSON", read({1, 2}), "store runs.db: a value cannot be read: set is no JSON"),
    Row("no end", read(endless()), "store runs.db: a value cannot be read: it is nested too deep"),
    Row("a key with a dollar", read({"$a": 1}), "store runs.db: a value cannot be read: the key '$a' is not escaped"),
    Row("a kind that is no text", read({"$": 1, "v": 2}), "store runs.db: a value cannot be read: its kind is no text"),
    Row("something besides the value", read({"$": "tuple", "v": [], "w": 1}), "store runs.db: a value cannot be read: a stored tuple has something besides its value"),
    Row("another simpler value", read({"$": "tuple", "v": "ab"}), "store runs.db: a value cannot be read: a stored tuple holds str"),
    Row("no value of its kind", read({"$": "Decimal", "v": "one"}), "store runs.db: a value cannot be read: a stored Decimal is none: InvalidOperation: [<class 'decimal.ConversionSyntax'>]"),
    Row("a backslash", read({"$": "str", "v": "a\\b"}), "store runs.db: a value cannot be read: a stored str: a single backslash at 1"),
    Row("a float", read({"$": "float", "v": "1"}), "store runs.db: a value cannot be read: a stored float: expected nan, inf or -inf"),
    Row("a key twice", read({"$": "dict", "v": [[1, 2], [1, 3]]}), "store runs.db: a value cannot be read: a stored dict: a key is there twice"),
    Row("an item twice", read({"$": "set", "v": [1, True]}), "store runs.db: a value cannot be read: a stored set: an item is there twice"),
    Row("the name of a blob", read({"$": "blob", "v": 1}), "store runs.db: a value cannot be read: the name of a blob is no text"),
    Row("a class that no type names", read({"$": "os:system", "v": "true"}), "store runs.db: a value cannot be read: no type of the flow's ports names a class 'os:system'"),
    Row("two classes of a stored name", read(stored("Data", v={}), Data, TWIN), f"store runs.db: a value cannot be read: two classes of the flow have the name {HERE}:Data"),
    Row("a part of no class", read(stored("Data", v={}, w=1), Data), f"store runs.db: a value cannot be read: a stored {HERE}:Data has a part 'w'; choices: more, unset, v"),
    Row("no fields", read(stored("Data", v=1), Data), f"store runs.db: a value cannot be read: a stored {HERE}:Data: expected names with values under 'v'"),
    Row("no names", read(stored("Data", v={}, unset=1), Data), f"store runs.db: a value cannot be read: a stored {HERE}:Data: expected a list of names under 'unset'"),
    Row("no name of a member", read(stored("Color", v=1), Color), f"store runs.db: a value cannot be read: a stored {HERE}:Color: expected one str under 'v'"),
    Row("a field that was removed", read(stored("Data", v={"older": 1}), Data), f"store runs.db: a value cannot be read: a stored {HERE}:Data: class Data has no field 'older' any more"),
    Row("a field that was added", read(stored("Data", v={"old": 1}), Data), f"store runs.db: a value cannot be read: a stored {HERE}:Data: class Data has a field 'new' now, which the stored value lacks; give it a default"),
    Row("a member that was removed", read(stored("Color", v="BLUE"), Color), f"store runs.db: a value cannot be read: a stored {HERE}:Color: enum Color has no member 'BLUE' any more; choices: RED"),
    Row("an extra field that is not allowed any more", read(stored("Exact", v={"old": 1}, extra={"x": 2}), Exact), f"store runs.db: a value cannot be read: a stored {HERE}:Exact: class Exact takes no field 'x' any more"),
    Row("an attribute that cannot be set", read(stored("Fixed", v={}, more={"more": 1}), Fixed), f"store runs.db: a value cannot be read: a stored {HERE}:Fixed cannot be made: AttributeError: property 'more' of 'Fixed' object has no setter"),
    Row("no secret", read({"$": "dataflow:Secret", "v": 1}, Secret), "store runs.db: a value cannot be read: a stored dataflow:Secret: expected one str under 'v'"),
    Row("marks in a list", read({"$": "secret", "v": [[], []]}), "store runs.db: a value cannot be read: marks of secrets are in text or bytes"),
    Row("a mark out of the text", read({"$": "secret", "v": ["plain", [[0, 9]]]}), "store runs.db: a value cannot be read: a stored secret is none: ValueError: no mark can be at 0"),
    Row("a mark that is none", read({"$": "secret", "v": ["plain", [[0, 5]]]}), "store runs.db: a value cannot be read: a stored secret is none: ValueError: there is no mark at 0"),
    Row("an encoding of a secret", of_another_encoding, "store runs.db: a value cannot be read: a stored secret is none: ValueError: there is no encoding 'rot13'"),
    Row("no part of a history", history(b"[]"), "store runs.db: a value cannot be read: a part of a history is none"),
    Row("a part that comes after itself", history(b'{"before": "digest", "items": []}'), "store runs.db: a value cannot be read: a part of a history comes after itself"),
    Row("a part without messages", history(b'{"before": null, "items": 1}'), "store runs.db: a value cannot be read: a part of a history has no list of messages"),
    Row("a history of nothing", read({"$": "history", "v": None}), "store runs.db: a value cannot be read: a history has no part"),
]
# fmt: on
ROWS: Final = [*WRITING, *READING]
