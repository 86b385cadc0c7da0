"""What is said of values that cannot be stored, and of stored data that makes no value (S12.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, make_dataclass
from enum import Enum
from typing import Any, Final

from dataflow.values.classes import classes_of
from dataflow.values.reader import Reader
from dataflow.values.writer import Writer
from tests.messages.telling import Row, Stimulus
from tests.values.test_writer import REFUSED

__all__ = ["ROWS"]

HERE: Final = __name__


@dataclass
class Data:
    old: int
    new: int


class Color(Enum):
    RED = 1


@dataclass
class Broken:
    """Has a field that cannot be looked at."""

    x: int

    def __getattribute__(self, name: str) -> Any:
        if name == "x":
            raise OSError("the disk is gone")
        return object.__getattribute__(self, name)


#: Another class of the name of Data.
TWIN: Final = make_dataclass("Data", [("old", int)], namespace={"__module__": HERE})


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


WRITING: Final = [
    *(Row(name, written(value)) for name, value in REFUSED.items()),
    Row("a field that raises", written(Broken(1), Broken)),
    Row("a class that no port names", written({"h": [0, Data(1, 2)]})),
    Row("two classes of a name", written(Data(1, 2), Data, TWIN)),
]
READING: Final = [
    Row("no JSON", read({1, 2})),
    Row("a key with a dollar", read({"$a": 1})),
    Row("something besides the value", read({"$": "tuple", "v": [], "w": 1})),
    Row("another simpler value", read({"$": "tuple", "v": "ab"})),
    Row("no value of its kind", read({"$": "Decimal", "v": "one"})),
    Row("a backslash", read({"$": "str", "v": "a\\b"})),
    Row("a float", read({"$": "float", "v": "1"})),
    Row("a key twice", read({"$": "dict", "v": [[1, 2], [1, 3]]})),
    Row("an item twice", read({"$": "set", "v": [1, True]})),
    Row("the name of a blob", read({"$": "blob", "v": 1})),
    Row("a class that no type names", read({"$": "os:system", "v": "true"})),
    Row("two classes of a stored name", read(stored("Data", v={}), Data, TWIN)),
    Row("a part of no class", read(stored("Data", v={}, w=1), Data)),
    Row("no fields", read(stored("Data", v=1), Data)),
    Row("no names", read(stored("Data", v={}, unset=1), Data)),
    Row("no name of a member", read(stored("Color", v=1), Color)),
    Row("a field that was removed", read(stored("Data", v={"older": 1}), Data)),
    Row("a field that was added", read(stored("Data", v={"old": 1}), Data)),
    Row("a member that was removed", read(stored("Color", v="BLUE"), Color)),
    Row("marks in a list", read({"$": "secret", "v": [[], []]})),
    Row("a mark out of the text", read({"$": "secret", "v": ["plain", [[0, 9]]]})),
    Row("a mark that is none", read({"$": "secret", "v": ["plain", [[0, 5]]]})),
    Row("no part of a history", history(b"[]")),
    Row("a part that comes after itself", history(b'{"before": "digest", "items": []}')),
    Row("a part without messages", history(b'{"before": null, "items": 1}')),
    Row("a history of nothing", read({"$": "history", "v": None})),
]
ROWS: Final = [*WRITING, *READING]
