"""What is read of stored values, of changed classes and secrets, and of data that no writer wrote (S12)."""

from __future__ import annotations

import base64
import json
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

import pytest
from pydantic import BaseModel, Field

from dataflow import Diagnostic, ExecutionContext, Message, Secret, SecretMissing
from dataflow.errors import StoreError
from dataflow.values.classes import class_name, classes_of
from dataflow.values.reader import Reader
from dataflow.values.writer import Writer
from tests.support.known_secrets import forgetting
from tests.values.examples import CLASSES, Box, same


@dataclass
class Data:
    old: int
    new: list[int] = field(default_factory=list)
    constant: int = 7


class Pair(NamedTuple):
    old: int
    new: int = 5


class Model(BaseModel):
    old: int
    new: list[int] = Field(default_factory=list)


def read(data: Any, *types: type) -> Any:
    blobs: dict[str, bytes] = {}
    return Reader(classes_of(types), blobs.__getitem__, "runs.db").read(data)


def problem(data: Any, *types: type) -> Diagnostic:
    with pytest.raises(StoreError) as caught:
        read(data, *types)
    return caught.value.diagnostics[0]


def test_fields_that_were_added_and_removed_are_known() -> None:
    for kind, expected in ((Data, Data(1)), (Pair, Pair(1)), (Model, Model(old=1))):
        assert read({"$": class_name(kind), "v": {"old": 1}}, kind) == expected
    data = {"$": class_name(Data), "v": {"old": 1}}
    assert read(data, Data).new is not read(data, Data).new
    for kind in (Data, Pair, Model):
        found = problem({"$": class_name(kind), "v": {"old": 1, "gone": 2}}, kind)
        assert (found.code, dict(found.details)["name"]) == ("DF0632", "gone")


def test_malformed_data_is_a_store_error() -> None:
    """Also `tests/messages/values.py`."""
    data = {
        "a value without its content": ({"$": "tuple"}, "DF0630"),
        "an item without a hash": ({"$": "set", "v": [[]]}, "DF0631"),
        "a missing blob": ({"$": "blob", "v": "0" * 64}, "DF0631"),
        "an unknown zone": ({"$": "datetime", "v": ["2024-01-01T00:00:00", 0, "No/Where"]}, "DF0631"),
    }
    assert {name: problem(given).code for name, (given, _) in data.items()} == {
        name: code for name, (_, code) in data.items()
    }


NAME: Final = "TOKEN_OF_TESTS"
VALUE: Final = "tok-9f$&é"
#: Parts that are in no form of another text here.
PARTS: Final = ("tok-9f", "dG9rLTlm")


@pytest.fixture(autouse=True)
def _revealed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(NAME, VALUE)
    with forgetting():
        Secret(NAME).reveal()
        yield


def stored(value: object) -> tuple[str, dict[str, bytes]]:
    blobs: dict[str, bytes] = {}
    return json.dumps(Writer(CLASSES, blobs.__setitem__).write(value, "a.out"), ensure_ascii=False), blobs


HOLDING: Final[dict[str, Any]] = {
    "the secret": VALUE,
    "in a header": {"Authorization": f"Bearer {VALUE}"},
    "in an address": f"https://example.org/?token={urllib.parse.quote(VALUE)}&again={VALUE}",
    "in JSON": [json.dumps({"token": VALUE}), json.dumps([VALUE], ensure_ascii=False)],
    "in base64": base64.b64encode(f"user:{VALUE}".encode()).decode(),
    "as a key": {VALUE: 1, "b": 2},
    "in bytes": [VALUE.encode(), bytearray(VALUE.encode()), b"\xff\x00" + VALUE.encode() + b"\xff"],
    "in a long text": "x" * 20_000 + VALUE + "é" * 20_000,
    "in many bytes": b"\xff" * 2_000 + VALUE.encode(),
    "in a dataclass": Box({VALUE}),
    "in a path": PurePosixPath("a") / VALUE,
    "in half a pair": f"\ud800{VALUE}\ud83d\ude00\\",
    "in a conversation": ExecutionContext("c").append(Message("user", VALUE)),
    "in what is in one": ExecutionContext(VALUE, variables={VALUE: VALUE}),
    "with marks of others": f"[secret:{NAME}] {VALUE} [secret:{NAME}:url]",
}


def test_a_secret_is_not_stored_and_comes_back(subtests: pytest.Subtests) -> None:
    for name, value in HOLDING.items():
        with subtests.test(name):
            text, blobs = stored(value)
            written = "\n".join([text, *(blob.decode("latin-1") for blob in blobs.values())])
            assert not [part for part in PARTS if part in written]
            assert same(Reader(CLASSES, blobs.__getitem__, "runs.db").read(json.loads(text)), value)


def test_the_value_is_looked_up_when_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text, blobs = stored([f"a {VALUE} b", urllib.parse.quote(VALUE)])
    monkeypatch.setenv(NAME, "another & value")
    found = Reader(CLASSES, blobs.__getitem__, "runs.db").read(json.loads(text))
    assert found == ["a another & value b", "another%20%26%20value"]
    text, blobs = stored(f"a {VALUE}")
    monkeypatch.delenv(NAME)
    with forgetting(), pytest.raises(SecretMissing, match=NAME):
        Reader(CLASSES, blobs.__getitem__, "runs.db").read(json.loads(text))


def test_names_marks_and_places_of_secrets_have_no_value() -> None:
    text, blobs = stored(f"[secret:{NAME}]")
    assert Reader(CLASSES, blobs.__getitem__, "runs.db").read(json.loads(text)) == f"[secret:{NAME}]"
    assert stored(Secret("X", "the value of x"))[0] == '{"$": "dataflow:Secret", "v": "X"}'
    with pytest.raises(Exception, match="cannot be stored") as caught:
        Writer(classes_of([]), lambda *_: None).write({VALUE: print}, "a.out")
    assert getattr(caught.value, "place", None) == f'a.out["[secret:{NAME}]"]'
