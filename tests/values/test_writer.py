"""What is refused, where, and why (S12.3), as the page on stored values has it; what is written beside."""

from __future__ import annotations

import io
import json
import re
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from hashlib import sha256
from typing import Any, Final

import pytest
from pydantic import BaseModel, SecretStr

from dataflow.base.markers import MISSING, SKIP
from dataflow.errors import ValueRefused
from dataflow.values.classes import OWN, classes_of
from dataflow.values.kinds import KINDS, NUMBER_BITS
from dataflow.values.reader import Reader
from dataflow.values.refusals import MOST_LEVELS
from dataflow.values.writer import MOST_BYTES, MOST_TEXT, Writer
from tests.docs.pages import DOCS
from tests.values.examples import Color


class Plain:
    """A class that tells no fields."""


class Text(str):
    __slots__ = ()


class Zone(tzinfo):
    def utcoffset(self, _: datetime | None) -> timedelta:
        return timedelta()

    dst = utcoffset

    def tzname(self, _: datetime | None) -> str:
        return "odd"


class Hashless(type):
    __hash__ = None  # type: ignore[assignment]


class Odd(metaclass=Hashless):
    pass


@dataclass
class Job:
    name: str
    lock: Any = None


@dataclass
class Settings(dict[str, int]):
    name: str = ""


@dataclass
class Slotted:
    __slots__ = ("__inner", "name")
    name: str

    def keep(self, inner: object) -> Slotted:
        self.__inner = inner
        return self


class Form(BaseModel):
    given: Any


def refusal(value: object, *types: object) -> ValueRefused:
    with pytest.raises(ValueRefused) as caught:
        Writer(classes_of(types), lambda *_: None).write(value, "a.out")
    return caught.value


PLACES: Final[dict[str, tuple[Any, str, str]]] = {
    "the value itself": (print, "a.out", "builtin_function_or_method"),
    "in a list in a dict": ({"h": [0, object()]}, 'a.out["h"][1]', "object"),
    "in a tuple": ((1, (2, print)), "a.out[1][1]", "builtin_function_or_method"),
    "in a set": ({1, Text("a")}, "a.out[?]", "Text"),
    "behind a number": ({1: {2: Plain()}}, "a.out[1][2]", "Plain"),
    "a key": ({Text("a"): 1}, "a.out.keys()", "Text"),
    "behind a key of two": ({(1, 2): Plain()}, "a.out[tuple]", "Plain"),
    "behind a long key": (
        {"k" * 100: Plain()},
        f'a.out["{"k" * 19}... 62 characters ...{"k" * 19}"]',
        "Plain",
    ),
    "in a field": (Job("a", [threading.Lock()]), "a.out.lock[0]", "lock"),
    "in a model": (Form(given={"a": Plain()}), 'a.out.given["a"]', "Plain"),
    "behind $": ({"$a": Plain()}, 'a.out["$a"]', "Plain"),
}


def test_a_refusal_has_the_place_and_the_type_of_the_part() -> None:
    for name, (value, place, found) in PLACES.items():
        error = refusal(value, Job, Form)
        assert (error.place, error.found) == (place, found), name


def generator() -> Iterator[int]:
    yield 1


#: Values that cannot be stored; `tests/messages/values.py` has what is said of each.
REFUSED: Final[dict[str, Any]] = {
    "a function": lambda: 0, "a generator": generator(), "a class": Plain, "a module": sys,
    "an exception": ValueError("x"), "a plain object": Plain(), "a marker": SKIP, "the other marker": MISSING,
    "a zone": Zone(),
    "a moment in an odd zone": datetime(2024, 1, 1, tzinfo=Zone()),
    "a text of a class of its own": Text("a"),
    "a defaultdict": defaultdict(lambda: 1),
    "a secret": SecretStr("a"), "an unknown class": Color.RED, "a class without a hash": Odd(),
    "an open file": io.BytesIO(), "a context manager": threading.Lock(),
}  # fmt: skip


def test_a_value_in_itself_is_refused_where_it_closes() -> None:
    items: list[Any] = [1]
    items.append({"again": items})
    told = refusal({"top": items})
    assert (told.code, told.place) == ("DF0624", 'a.out["top"][1]["again"]')
    assert told.reason.startswith('list contains itself: it is a.out["top"]')


def test_what_is_nested_too_deep_is_refused() -> None:
    value: Any = ()
    for _ in range(10_000):
        value = (value,)
    told = refusal(value)
    assert told.code == "DF0623"
    assert told.place.endswith("and 180 more steps")
    value = 1
    for _ in range(199):
        value = {(1,): value}
    text = json.dumps(Writer(classes_of([]), lambda *_: None).write(value, "a.out"))
    assert json.loads(text)["$"] == "dict"


def test_odd_classes_are_refused() -> None:
    assert refusal(Settings(), Settings).code == "DF0620"
    assert refusal(Slotted("a").keep(print), Slotted).place == "a.out._Slotted__inner"


def test_a_large_value_is_a_blob_by_its_hash() -> None:
    for value in ("é" * 10_000, b"x" * 2_000, bytearray(2_000)):
        blobs: dict[str, bytes] = {}
        stored = Writer(classes_of([]), blobs.__setitem__).write([value, value], "a.out")
        ((name, data),) = blobs.items()
        assert name == sha256(data).hexdigest()
        assert data == (value.encode() if isinstance(value, str) else bytes(value))
        assert len(json.dumps(stored)) < 300


PAGE: Final = (DOCS / "reference" / "stored-values.md").read_text(encoding="utf-8")
#: What stands under "$" in the rows of the table.
_, *ROWS = re.findall(r"^\| .+? \| `([^`|]+)`[^|]* \| .+? \|$", PAGE, re.MULTILINE)


def test_the_table_has_each_kind_class_and_size_and_a_refusal() -> None:
    written = [kind.name for kind in KINDS]
    special = sorted(Reader(classes_of([]), lambda _: b"", "runs.db")._readers)
    assert [row for row in ROWS if row in written] == written
    others = [row for row in ROWS if row not in written and ":" not in row and row != "$"]
    assert sorted(others) == special
    named = [re.search(rf"^\| .*`{kind.__name__}`.* \| `dataflow:", PAGE, re.MULTILINE) for kind in OWN]
    assert all(named)
    for size in (NUMBER_BITS, MOST_TEXT, MOST_BYTES, MOST_LEVELS):
        assert f"{size:,} " in PAGE
    with pytest.raises(ValueRefused) as caught:
        Writer(classes_of([]), lambda *_: None).write({"h": [0, object()]}, "a.out")
    assert f"```text\n{caught.value}\n```" in PAGE
