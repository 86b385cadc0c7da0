# ruff: noqa: E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type, attr-defined"
"""What is said of memos: of what cannot have one, of where outcomes are, why one was not known (S13.1)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from dataflow import Flow, Memo, ProcessMemo, node
from dataflow.stores import Store, StoredOutcome
from dataflow.stores.memory import MemoryOutcomes, MemoryStore
from tests.behaviour.flow_parts import inc
from tests.messages.telling import Row, Stimulus, document, wired

__all__ = ["ROWS"]


async def anything(x: Any = 1) -> Any:
    return x


async def numbers() -> Iterator[int]:
    return iter([1])


async def repeated(x: Any) -> int:
    return len(x)


class Full(MemoryOutcomes):
    """A table that has no room."""

    def remember(self, outcome: StoredOutcome, blobs: Mapping[str, bytes]) -> bool:
        return False


class Broken(MemoryOutcomes):
    """A table of somebody whose code fails."""

    def recall(self, key: str, now: object, run: str = "") -> StoredOutcome | None:
        raise RuntimeError("no line")

    def forget(self, key: str) -> None:
        raise RuntimeError("no line either")


def with_table(kind: type[MemoryOutcomes]) -> Store:
    store = MemoryStore()
    store.outcomes = kind(store._guard, store._add_blobs)
    return store


def placed(function: Any, memo: Any, place: ProcessMemo | Store | None = None, **inputs: Any) -> Flow:
    """Wire a flow with one node, `n`, whose outcomes are remembered in a place."""
    f = Flow("f")
    f.add(node(name="n", version=inputs.pop("version", "1"), memo=memo)(function), **inputs)
    return f if place is None else f.using(memo=place)


def why(*runs: Flow) -> Stimulus:
    """Run flows one after the other; tell why the last has called its node, or has not."""
    return lambda: [flow.run_sync() for flow in runs][-1].why("n")


def warned(flow: Flow) -> Stimulus:
    return lambda: list(flow.run_sync().warnings)


def in_one(*inputs: int, memo: Any = "process", **more: Any) -> Stimulus:
    """Run a node with each of some inputs, and tell why it was called with the last."""
    place = ProcessMemo()
    *flows, last = [placed(inc, memo, place, x=x) for x in inputs]
    return why(*flows, placed(inc, memo, place, x=inputs[-1], **more) if more else last)


def expired() -> str:
    """Ask for an outcome that has just been remembered, and counts for no time worth the name."""
    place = ProcessMemo()
    return str(why(*[placed(inc, Memo("process", ttl=1e-9), place, x=1)] * 2)())


def changed(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


def spoilt_late() -> None:
    """Ask for an outcome behind one that is known, and damaged."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        first = node(name="n", memo="store")(anything)
        for version in ("1", "2"):
            f = Flow("f")
            text = f.add(first, x="x" * 20_000).out
            f.add(node(memo="store", version=version)(repeated), x=text)
            f.using(memo=Store.sqlite(path)).run_sync()
            changed(path, "UPDATE blobs SET data = x'00'")


def spoilt(statement: str = "UPDATE memo SET data = replace(data, '2', '3')") -> str:
    """Ask for an outcome that was changed by somebody."""
    with TemporaryDirectory() as folder:
        store = Store.sqlite(Path(folder) / "runs.db")
        flow = placed(anything, "store", store, x="2" * 20_000)
        flow.run_sync()
        changed(Path(folder) / "runs.db", statement)
        result = flow.run_sync()
        return "\n".join((*result.warnings, result.why("n")))


#: The id of a run, and what else differs from run to run where there is a store.
RUN: Final = r"\d{8}T\w+-\w+"
STORED: Final = rf"{RUN}|/\S*/(?=runs\.db)|\b[0-9a-f]{{40}}\b"

# fmt: off
ROWS: Final = [
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
    Row("a port that cannot be stored", why(placed(numbers, "store", MemoryStore()))),
    Row("no room in the store", why(placed(inc, "store", with_table(Full), x=1))),
    Row("a store that fails", warned(placed(inc, "store", with_table(Broken), x=1))),
    Row("an outcome that is damaged when it is read at last", spoilt_late, hide=STORED),
    Row("an outcome without its blob", partial(spoilt, "DELETE FROM blobs"), hide=STORED),
    Row("a damaged outcome", spoilt, hide=STORED),
]
# fmt: on
