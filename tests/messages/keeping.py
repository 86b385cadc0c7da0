# mypy: disable-error-code="arg-type"
"""What stores say, and what is said of runs that live in them, also when they are forked (S11 to S13)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any, Final

import anyio

from dataflow import Config, Flow, NodeOutput, Ports, RunFailed, Secret, StoreError, node
from dataflow.inspection.stored_run import firing_object, read_run
from dataflow.stores import Answer, Batch, Hold, Record, Store, StoredRun
from dataflow.stores.memory import MemoryStore
from dataflow.stores.store import NOTHING
from dataflow.testing.samples import answer_to, batch_of, blob_of, new_run
from tests.messages.telling import Row, Stimulus, files, later
from tests.support.known_secrets import forgetting
from tests.support.quick_nodes import one
from tests.support.stored_runs import retold

DATA: Final = b"data"
[BLOB] = blob_of(DATA)


def with_run(store: Store) -> Store:
    hold = store.begin(new_run())
    store.commit("run", batch_of(1))
    hold.release()
    return store


def in_memory(act: Callable[[Store], object]) -> Stimulus:
    return lambda: act(with_run(Store.memory()))


def in_file(act: Callable[[Store], object]) -> Stimulus:
    return files(lambda folder: act(with_run(Store.sqlite(folder / "runs.db"))))


def answered_with_a_secret(store: Store) -> None:
    with forgetting():
        store.answer("run", Answer("ask", json.dumps(Secret("KEY", "key-12345").reveal())))


def answered_twice(store: Store) -> None:
    store.answer("run", answer_to())
    store.answer("run", answer_to())


def removed(folder: Path) -> None:
    store = Store.sqlite(folder / "runs.db")
    hold = store.begin(new_run())
    try:
        (folder / "runs.db").unlink()
        store.commit("run", batch_of(1))
    finally:
        (folder / "runs.db").touch()
        hold.release()


def below_a_file(folder: Path) -> None:
    (folder / "file").touch()
    Store.sqlite(folder / "file" / "runs.db").begin(new_run())


def of_something_else(folder: Path) -> None:
    (folder / "runs.db").touch()
    Store.sqlite(folder / "runs.db").runs()


def of_text(folder: Path) -> None:
    (folder / "runs.db").write_text("no database\n" * 100)
    Store.sqlite(folder / "runs.db").runs()


def of_a_later_release(folder: Path) -> None:
    store = with_run(Store.sqlite(folder / "runs.db"))
    with closing(sqlite3.connect(folder / "runs.db")) as connection:
        connection.execute("PRAGMA user_version = 7")
    store.runs()


def of_a_user() -> None:
    raise StoreError("at home", "the door is closed")


STORES: Final = [
    Row("a problem of a user's store", of_a_user),
    Row("no such run in a file", in_file(lambda store: store.find("other"))),
    Row("no run at all", files(lambda folder: Store.sqlite(folder / "runs.db").find("run"))),
    Row("a run twice", in_memory(lambda store: store.begin(new_run()))),
    Row("a run twice in a file", in_file(lambda store: store.begin(new_run()))),
    Row("a record twice", in_memory(lambda store: store.commit("run", batch_of(1)))),
    Row("a record twice in a file", in_file(lambda store: store.commit("run", batch_of(1)))),
    Row("no such blob", in_memory(lambda store: store.blob(BLOB))),
    Row("an answer twice", in_memory(answered_twice)),
    Row("an answer with a secret", in_memory(answered_with_a_secret)),
    Row("a file that was removed", files(removed)),
    Row("a folder that cannot be made", files(below_a_file)),
    Row("a file of something else", files(of_something_else)),
    Row("a file that is no database", files(of_text)),
    Row("a file of a later release", files(of_a_later_release)),
    Row("a store that is a path", lambda: Flow("f").using(store="runs.db")),
]


Wire = Callable[[Flow], object]


async def two() -> int:
    return 2


async def anything() -> Any:
    return object()


async def breaks() -> int:
    raise ValueError("no paper")


@node(ports=lambda _: Ports({}, {"out": int}))
async def notes() -> NodeOutput:
    return NodeOutput({"out": 1}, metadata={"cost": 2})


def edited(function: Any, other: Any) -> Any:
    made = FunctionType(other.__code__, function.__globals__, function.__name__)
    made.__qualname__, made.__annotations__ = function.__qualname__, function.__annotations__
    return made


def asks(first: Any = one, name: str = "first", *, more: bool = False, prompt: str = "How many?") -> Flow:
    with Flow("f") as f:
        f.input("n", int, 1)
        f.output("first", f.add(node(name=name)(first)).out)
        f.output("answer", f.ask(int, prompt).out)
        if more:
            f.add(one)
    return f


@later
def begun(wire: Wire, **inputs: Any) -> object:
    f = Flow("f")
    wire(f)
    return f.using(store=Store.memory()).run_sync(**inputs)


def paused() -> tuple[MemoryStore, str]:
    store = MemoryStore()
    return store, asks().using(store=store).run_sync().run_id


def resume(store: Store, run: str, flow: Flow | None = None, **answers: Any) -> list[str]:
    resumed = (flow or asks()).using(store=store).resume
    return [*anyio.run(partial(resumed, run, answers)).warnings]


def with_edited(flow: Callable[[], Flow], **answers: Any) -> Stimulus:
    return lambda: resume(*paused(), flow(), **answers)


@later
def with_answer_left(value: str, flow: Flow | None = None, **answers: Any) -> list[str]:
    store, run = paused()
    store.answer(run, Answer("ask", value))
    return resume(store, run, flow, **answers)


def spoilt(kind: str, change: Callable[[dict[str, Any]], object], first: Any = notes) -> Stimulus:
    def changed(record: Record) -> Record:
        if record.kind != kind:
            return record
        data = json.loads(record.data)
        change(data)
        return replace(record, data=json.dumps(data))

    def stimulus() -> list[str]:
        store = MemoryStore()
        flow = asks(first)
        run = flow.using(store=store).run_sync().run_id
        return resume(retold(store, run, changed), run, flow)

    return stimulus


#: What cannot be read as a value.
NONE: Final = {"$": 1}


def with_shape(text: str) -> Stimulus:
    return spoilt("run_started", lambda data: data.update(shape=text))


@later
def cut_off(back: int) -> list[str]:
    store, run = paused()
    *_, newest = store.records(run)
    seq = newest.seq - back
    torn = retold(store, run, lambda one: replace(one, data="{") if one.seq == seq else one)
    return resume(torn, run)


class Overtaken(MemoryStore):
    def hold(self, run: str) -> Hold:
        self.commit(run, Batch())
        return super().hold(run)


def overtaken() -> list[str]:
    store = Overtaken()
    return resume(store, asks().using(store=store).run_sync().run_id)


def completed() -> list[str]:
    store, run = paused()
    resume(store, run, ask=1)
    return resume(store, run)


def unwritten() -> list[str]:
    store = MemoryStore()
    store.begin(new_run("RUN")).release()
    return resume(store, "RUN")


class Defective(MemoryStore):
    def begin(self, run: StoredRun, batch: Batch = NOTHING) -> Hold:
        raise KeyError(run.flow)


def defective() -> object:
    return asks().using(store=Defective()).run_sync()


def not_begun() -> object:
    with Flow("f") as f:
        f.after(f.add(notes), f.ask(int, "How many?").done)
    store = MemoryStore()
    run = store.find(f.using(store=store).run_sync().run_id)
    return firing_object(read_run(store, run), store, "notes")


def failed_before() -> str:
    def flow() -> Flow:
        with Flow("f") as f:
            f.output("answer", f.ask(int, "How many?").out)
            f.add(breaks)
        return f.using(store=store, errors="continue")

    store = MemoryStore()
    run = flow().run_sync().run_id
    try:
        anyio.run(partial(flow().resume, run, {"ask": 1}))
    except RunFailed as failed:
        return str(failed.__cause__)
    return "it has not failed"


STORING: Final = [
    Row("a default that cannot be stored", begun(lambda f: f.add(node(default=object())(anything)))),
    Row("an input that cannot be stored", begun(lambda f: f.input("x", Any), x=object())),
    Row("an output that cannot be stored", begun(lambda f: f.add(anything))),
    Row("a run that goes on elsewhere", overtaken),
    Row("a run that has completed", completed),
    Row("a run of which nothing was written", unwritten),
    Row("a second answer, to an ask whose first waits", with_answer_left("1", ask=2)),
    Row("an answer that is no JSON", with_answer_left("{")),
    Row("an answer to an ask that was edited", with_answer_left("1", asks(prompt="How few?"))),
    Row("a failure that stands", failed_before),
    Row("code that was edited", with_edited(lambda: asks(edited(one, two)), ask=1)),
    Row("a flow that was edited", with_edited(lambda: asks(two, "other", more=True))),
    Row("a newest record that was cut off", cut_off(0)),
    Row("a record that was cut off", cut_off(1)),
    Row("inputs that cannot be read", spoilt("run_started", lambda data: data.update(inputs={"n": NONE}))),
    Row("a flow that cannot be read", spoilt("run_started", lambda data: data.update(shape=NONE))),
    Row("no shape", with_shape("{}")),
    Row("a later shape", with_shape('{"shape": 2, "texts": [], "nodes": {}}')),
    Row("metadata that cannot be read", spoilt("node_finished", lambda data: data.update(metadata=NONE))),
    Row(
        "a port that cannot be read",
        spoilt("node_finished", lambda data: data["ports"]["out"].update(value=NONE)),
    ),
    Row("an ask that cannot be read", spoilt("ask_opened", lambda data: data.update(show=NONE))),
    Row("a store that raises something else", defective),
    Row("a node that has not begun", not_begun),
]


class Scale(Config):
    by: int = 1
    even: Any = None


async def scaled(x: int, config: Scale = Scale()) -> int:  # noqa: B008 - frozen
    return x * config.by


async def plain(x: int) -> int:
    return x


def wired(store: Store, function: Any = scaled) -> Flow:
    with Flow("f") as f:
        first = f.ask(int, "How many?", name="first")
        f.output("o", f.ask(int, "And?", name="second", show=f.add(function, x=first.out).out).out)
    return f.using(store=store)


@later
def fork(changes: Mapping[str, object], later: Any = None) -> object:
    store = Store.memory()
    flow = wired(store)
    run = flow.run_sync().run_id
    anyio.run(partial(flow.resume, run, {"first": 1}))
    forked = anyio.run(partial(flow.fork, run, changes=changes))
    if later is None:
        return forked
    return anyio.run(partial(wired(store, later).fork, forked, changes={}))


FORKS: Final = [
    Row("an unknown key", fork({"secnd": 1})),
    Row("no model", fork({"model": "large"})),
    Row("an answer to what is asked anew", fork({"first": 2, "second": 1})),
    Row("a config of another type", fork({"scaled.config.by": "x"})),
    Row("a config that is no JSON", fork({"scaled.config.even": print})),
    Row("a changed config that is gone", fork({"scaled.config.by": 2}, plain)),
    Row("no store", lambda: wired(Store.memory()).using(store=None).forking("r", changes={})),
    Row(
        "no store to find runs in", lambda: anyio.run(wired(Store.memory()).using(store=None).diff, "r", "s")
    ),
]

TABLES: Final = {"stores": STORES, "storing": STORING, "forks": FORKS}
