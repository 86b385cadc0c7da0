# ruff: noqa: E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type, call-overload, type-var, attr-defined"
"""What is said of secrets, of values that cannot be stored or have no digest, and of memos (S12.3, S13)."""

from __future__ import annotations

import io
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, make_dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from pydantic import BaseModel

from dataflow import Flow, Memo, NodeOutput, ProcessMemo, Secret, digester, node, register_codec
from dataflow.stores import Store, StoredOutcome
from dataflow.stores.memory import MemoryOutcomes, MemoryStore
from dataflow.values.classes import classes_of
from dataflow.values.digests import NoDigest, digest
from dataflow.values.reader import Reader
from dataflow.values.writer import Writer
from tests.behaviour.flow_parts import inc
from tests.messages.telling import Row, Stimulus, document, later, wired
from tests.support.known_secrets import forgetting
from tests.values.test_digests import NONE
from tests.values.test_writer import REFUSED

NAME: Final = "DATAFLOW_NO_SUCH_SECRET"


def given(name: str, value: Any = None) -> Stimulus:
    return lambda: Secret(name, value).reveal()


def revealing(value: str) -> Stimulus:
    def reveal() -> object:
        with forgetting():
            try:
                return Secret("WEAK", value).reveal()
            except UserWarning as warning:
                return warning

    return reveal


def changed() -> None:
    Secret(NAME).name = "other"


def of_bytes() -> object:
    os.environb[NAME.encode()] = b"\xff" * 8
    try:
        return Secret(NAME).reveal()
    finally:
        del os.environb[NAME.encode()]


SECRETS: Final = [
    Row("a secret that is nowhere", given(NAME)),
    Row("a short secret", revealing("abc")),
    Row("a word for a secret", revealing("password")),
    Row("bytes for a secret", of_bytes),
    Row("a name of a secret", given("my secret")),
    Row("a secret that is not text", given(NAME, b"bytes")),
    Row("a secret that is changed", changed),
]


HERE: Final = __name__


@dataclass
class Data:
    old: int
    new: int


class Color(Enum):
    RED = 1


@dataclass
class Broken:
    x: int

    def __getattribute__(self, name: str) -> Any:
        if name == "x":
            raise OSError("the disk is gone")
        return object.__getattribute__(self, name)


class Coded:
    """Has a codec that neither writes nor reads."""

    NAME = f"{HERE}:Coded"


register_codec(Coded, lambda coded: coded, lambda stored: stored)


class Called:
    def __call__(self) -> int:
        return 1


#: Another class of the name of Data.
TWIN: Final = make_dataclass("Data", [("old", int)], namespace={"__module__": HERE})


class Exact(BaseModel):
    old: int


class Pair(NamedTuple):
    one: int
    other: int


class Fixed(BaseModel):
    @property
    def more(self) -> int:
        return 1


def undeclared() -> Color:
    member = object.__new__(Color)
    member._name_ = "BLUE"
    return member


def written(value: object, *types: object) -> Stimulus:
    return lambda: Writer(classes_of(types), lambda _name, _data: None).write(value, "a.out")


def read(data: object, *types: object, blobs: Mapping[str, bytes] | None = None) -> Stimulus:
    reader = Reader(classes_of(types), (blobs or {}).__getitem__, "runs.db")
    return lambda: reader.read(data)


def stored(name: str, **parts: object) -> dict[str, object]:
    return {"$": f"{HERE}:{name}", **parts}


def history(part: bytes) -> Stimulus:
    return read({"$": "history", "v": "digest"}, blobs={"digest": part})


WRITING: Final = [
    *(Row(name, written(value)) for name, value in REFUSED.items()),
    Row("a field that raises", written(Broken(1), Broken)),
    Row("a class that no port names", written({"h": [0, Data(1, 2)]})),
    Row("a member without a declaration", written(undeclared(), Color)),
    Row("a named tuple of another length", written(tuple.__new__(Pair, (1,)), Pair)),
    Row("two classes of a name", written(Data(1, 2), Data, TWIN)),
    Row("a codec that gives the same", written(Coded())),
    Row("an object that can be called", written(Called())),
]
READING: Final = [
    Row("no JSON", read({1, 2})),
    Row("a key with a dollar", read({"$a": 1})),
    Row("something besides the value", read({"$": "tuple", "v": [], "w": 1})),
    Row("another simpler value", read({"$": "tuple", "v": "ab"})),
    Row("a codec that makes something else", read({"$": Coded.NAME, "v": [1]})),
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
    Row("an attribute that cannot be set", read(stored("Fixed", v={}, more={"more": 1}), Fixed)),
    Row("an extra field that was removed", read(stored("Exact", v={"old": 1}, extra={"x": 2}), Exact)),
    Row("marks in a list", read({"$": "secret", "v": [[], []]})),
    Row("a mark out of the text", read({"$": "secret", "v": ["plain", [[0, 9]]]})),
    Row("a mark that is none", read({"$": "secret", "v": ["plain", [[0, 5]]]})),
    Row("no part of a history", history(b"[]")),
    Row("a part that comes after itself", history(b'{"before": "digest", "items": []}')),
    Row("a part without messages", history(b'{"before": null, "items": 1}')),
    Row("a history of nothing", read({"$": "history", "v": None})),
]
STORED_VALUES: Final = [*WRITING, *READING]


class Torn(io.BytesIO):
    pass


class Endless(io.BytesIO):
    pass


class Same(io.BytesIO):
    pass


digester(Same, lambda same: same)
digester(Torn, lambda _: [].pop())
digester(Endless, lambda _: [Endless()])


@later
def undigested(value: object) -> str:
    try:
        digest(value)
    except NoDigest as error:
        return str(error)
    return "it has one"


def in_itself() -> list[Any]:
    items: list[Any] = [1]
    items.append({"h": items})
    return items


DIGESTS: Final = [
    *(Row(name, undigested(value)) for name, value in NONE.items()),
    Row("a part without digest", undigested({"h": [1, io.BytesIO()]})),
    Row("what is in itself", undigested(in_itself())),
    Row("a digester that fails", undigested([Torn()])),
    Row("what has no end", undigested(Endless())),
    Row("a digester that gives the same", undigested(Same())),
    Row("a digester of no class", lambda: digester("numpy.ndarray", repr)),
    Row("a codec of no class", lambda: register_codec("numpy.ndarray", str, int)),
    Row("a codec of what is stored in another way", lambda: register_codec(dict, list, dict)),
    Row("a codec with the name of another", lambda: register_codec(Exception, str, Exception, name="dict")),
    Row("a digester of what has one", lambda: digester(dict, repr)),
    Row("a digester that is no function", lambda: digester(Same, 5)),
]


async def anything(x: Any = 1) -> Any:
    return x


async def numbers() -> Iterator[int]:
    return iter([1])


async def repeated(x: Any) -> int:
    return len(x)


class FullTable(MemoryOutcomes):
    def remember(self, outcome: StoredOutcome, blobs: Mapping[str, bytes]) -> bool:
        return False


class BrokenTable(MemoryOutcomes):
    def recall(self, key: str, now: object, run: str = "") -> StoredOutcome | None:
        raise RuntimeError("no line")

    def forget(self, key: str) -> None:
        raise RuntimeError("no line either")


class Silent(MemoryOutcomes):
    def remember(self, outcome: StoredOutcome, blobs: Mapping[str, bytes]) -> bool:
        raise RuntimeError("no line")


async def opens() -> Any:
    return object()


async def raw() -> NodeOutput:
    return NodeOutput({}, metadata={"a": object()})


def with_table(kind: type[MemoryOutcomes]) -> Store:
    store = MemoryStore()
    store.outcomes = kind(store._guard, store._add_blobs)
    return store


def placed(function: Any, memo: Any, place: ProcessMemo | Store | None = None, **inputs: Any) -> Flow:
    f = Flow("f")
    f.add(node(name="n", version=inputs.pop("version", "1"), memo=memo)(function), **inputs)
    return f if place is None else f.using(memo=place)


def why(*runs: Flow) -> Stimulus:
    return lambda: [flow.run_sync() for flow in runs][-1].why("n")


def warned(flow: Flow) -> Stimulus:
    return lambda: list(flow.run_sync().warnings)


def in_one(*inputs: int, memo: Any = "process", **more: Any) -> Stimulus:
    place = ProcessMemo()
    *flows, last = [placed(inc, memo, place, x=x) for x in inputs]
    return why(*flows, placed(inc, memo, place, x=inputs[-1], **more) if more else last)


def expired() -> str:
    place = ProcessMemo()
    return str(why(*[placed(inc, Memo("process", ttl=1e-9), place, x=1)] * 2)())


def spoil(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


def spoilt_late() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        first = node(name="n", memo="store")(anything)
        for version in ("1", "2"):
            f = Flow("f")
            text = f.add(first, x="x" * 20_000).out
            f.add(node(memo="store", version=version)(repeated), x=text)
            f.using(memo=Store.sqlite(path)).run_sync()
            spoil(path, "UPDATE blobs SET data = x'00'")


def spoilt(statement: str = "UPDATE memo SET data = replace(data, '2', '3')") -> str:
    with TemporaryDirectory() as folder:
        store = Store.sqlite(Path(folder) / "runs.db")
        flow = placed(anything, "store", store, x="2" * 20_000)
        flow.run_sync()
        spoil(Path(folder) / "runs.db", statement)
        result = flow.run_sync()
        return "\n".join((*result.warnings, result.why("n")))


#: The id of a run, and what else differs from run to run where there is a store.
RUN: Final = r"\d{8}T\w+-\w+"
STORED: Final = rf"{RUN}|/\S*/(?=runs\.db)|\b[0-9a-f]{{40}}\b"

# fmt: off
MEMOS: Final = [
    Row("a memo that never hits", warned(placed(anything, "process", ProcessMemo(), x=object()))),
    Row("a reach that is none", lambda: Memo("ever")),
    Row("no time to live", lambda: Memo("run", ttl=0)),
    Row("an environment that is a text", lambda: Memo("run", environment="LANG")),
    Row("a table without room", lambda: ProcessMemo(most=0)),
    Row("a place that is none", lambda: Flow("f").using(memo="store")),
    Row("a memo of a flow", document("...\nnodes: {a: {flow: {dataflow: 1, nodes: {b: {type: control.value, config: {value: 1}}}}, policy: {memo: run}}}")),
    Row("a memo of an ask", document("...\nnodes: {a: {type: control.ask, config: {prompt: p}, policy: {memo: run}}}")),
    Row("a memo of an effect", wired(lambda f: f.add(node(memo="run", effect=True)(inc), x=1))),
    Row("no store that remembers", warned(placed(inc, "store", x=1))),
    Row("nothing known", in_one(1)),
    Row("a hit", in_one(1, 1), hide=RUN),
    Row("another input", in_one(1, 2)),
    Row("another input and version", in_one(1, 2, version="2")),
    Row("what has expired", expired, hide=r"(?<=expired )\S+"),
    Row("an input without a digest", why(placed(anything, "process", x=iter([1])))),
    Row("an output that is used up", why(placed(numbers, "process"))),
    Row("a store that takes nothing", warned(placed(inc, "store", with_table(Silent), x=1))),
    Row("a value that cannot be stored", why(placed(opens, "store", MemoryStore()))),
    Row("metadata that cannot be stored", why(placed(raw, "store", MemoryStore()))),
    Row("a port that cannot be stored", why(placed(numbers, "store", MemoryStore()))),
    Row("no room in the store", why(placed(inc, "store", with_table(FullTable), x=1))),
    Row("a store that fails", warned(placed(inc, "store", with_table(BrokenTable), x=1))),
    Row("an outcome that is damaged when it is read at last", spoilt_late, hide=STORED),
    Row("an outcome without its blob", partial(spoilt, "DELETE FROM blobs"), hide=STORED),
    Row("a damaged outcome", spoilt, hide=STORED),
]
# fmt: on

TABLES: Final = {"secrets": SECRETS, "stored_values": STORED_VALUES, "digests": DIGESTS, "memos": MEMOS}
