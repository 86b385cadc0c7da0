# mypy: disable-error-code="arg-type"
"""What stores say of runs, blobs and answers, and of their files (S12.1, S12.2)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from dataflow import Flow, StoreError
from dataflow.stores import Store
from dataflow.testing.samples import answer_to, batch_of, blob_of, new_run
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


def removed(folder: Path) -> None:
    store = Store.sqlite(folder / "runs.db")
    hold = store.begin(new_run())
    try:
        (folder / "runs.db").unlink()
        store.commit("run", batch_of(1))
    finally:
        (folder / "runs.db").touch()
        hold.release()


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


ROWS: Final = [
    Row("a problem of a user's store", of_a_user),
    Row("no such run in a file", in_file(lambda store: store.find("other"))),
    Row("no run at all", in_folder(lambda folder: Store.sqlite(folder / "runs.db").find("run"))),
    Row("a run twice", in_memory(lambda store: store.begin(new_run()))),
    Row("a run twice in a file", in_file(lambda store: store.begin(new_run()))),
    Row("a record twice", in_memory(lambda store: store.commit("run", batch_of(1)))),
    Row("a record twice in a file", in_file(lambda store: store.commit("run", batch_of(1)))),
    Row("no such blob", in_memory(lambda store: store.blob(BLOB))),
    Row("an answer twice", in_memory(answered_twice)),
    Row("a file that was removed", in_folder(removed)),
    Row("a file of something else", in_folder(of_something_else)),
    Row("a file that is no database", in_folder(of_text)),
    Row("a file of a later release", in_folder(of_a_later_release)),
    Row("a store that is a path", lambda: Flow("f").using(store="runs.db")),
]
