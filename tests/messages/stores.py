# ruff: noqa: E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type"
"""What stores say of runs, blobs and answers, and of their files (S12.1, S12.2)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from dataflow import Flow
from dataflow.stores import Batch, Store
from dataflow.testing.samples import answer_to, batch_of, blob_of, new_run, record
from tests.messages.telling import Row, Stimulus, told

__all__ = ["ROWS"]

DATA: Final = b"data"
[BLOB] = blob_of(DATA)


def with_run(store: Store) -> Store:
    """Have a store hold a run that nobody owns."""
    hold = store.begin(new_run())
    store.commit("run", batch_of(1))
    hold.release()
    return store


def in_memory(act: Callable[[Store], object]) -> Stimulus:
    return lambda: act(with_run(Store.memory()))


def in_folder(act: Callable[[Path], object]) -> Stimulus:
    """Do something in a folder of its own, which is told as DIR."""

    def stimulus() -> str:
        with TemporaryDirectory() as folder:
            return told(lambda: act(Path(folder))).replace(folder, "DIR")

    return stimulus


def in_file(act: Callable[[Store], object]) -> Stimulus:
    return in_folder(lambda folder: act(with_run(Store.sqlite(folder / "runs.db"))))


def answered_twice(store: Store) -> None:
    store.answer("run", answer_to())
    store.answer("run", answer_to())


def answered_when_closed(store: Store) -> None:
    store.commit("run", Batch([record(2, "ask_closed")]))
    store.answer("run", answer_to())


def with_damaged_blob(store: Store) -> bytes:
    store.commit("run", Batch(blobs={BLOB: b"other"}))
    return store.blob(BLOB)


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


# fmt: off
ROWS: Final = [
    Row("no such run", in_memory(lambda store: store.find("other")), "store in memory: has no run 'other'; choices: run"),
    Row("no such run in a file", in_file(lambda store: store.find("other")), "store DIR/runs.db: has no run 'other'; choices: run"),
    Row("no run at all", in_folder(lambda folder: Store.sqlite(folder / "runs.db").find("run")), "store DIR/runs.db: has no run 'run'; there are none"),
    Row("a run twice", in_memory(lambda store: store.begin(new_run())), "store in memory: has a run 'run' already"),
    Row("a run twice in a file", in_file(lambda store: store.begin(new_run())), "store DIR/runs.db: has a run 'run' already"),
    Row("a record twice", in_memory(lambda store: store.commit("run", batch_of(1))), "store in memory: run run has a record 1 already"),
    Row("a record twice in a file", in_file(lambda store: store.commit("run", batch_of(1))), "store DIR/runs.db: run run has one of the records already; nothing was written"),
    Row("no such blob", in_memory(lambda store: store.blob(BLOB)), f"store in memory: has no blob {BLOB}"),
    Row("a damaged blob", in_file(with_damaged_blob), f"store DIR/runs.db: the blob {BLOB} is damaged: it is not what its name says"),
    Row("an answer twice", in_memory(answered_twice), "answer to 'a' refused: it has been answered or closed"),
    Row("an answer to what was closed", in_file(answered_when_closed), "answer to 'a' refused: it has been answered or closed"),
    Row("a file that was removed", in_folder(removed), "store DIR/runs.db: was removed or replaced while a run was being executed; put it back, or start the run again"),
    Row("a folder that cannot be made", in_folder(below_a_file), "store DIR/file/runs.db: [Errno 17] File exists: 'DIR/file'; make sure that its folder can be written and has room, or name another file"),
    Row("a file of something else", in_folder(of_something_else), "store DIR/runs.db: is empty, or an SQLite file of something else; name another file, or remove it if nobody needs it"),
    Row("a file that is no database", in_folder(of_text), "store DIR/runs.db: file is not a database; name another file, or put this one aside"),
    Row("a file of a later release", in_folder(of_a_later_release), "store DIR/runs.db: has schema version 7, and this release reads 1; use the release that wrote it, or a later one"),
    Row("a store that is a path", lambda: Flow("f").using(store="runs.db")),
]
# fmt: on
