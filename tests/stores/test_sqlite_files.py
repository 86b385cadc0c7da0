"""What the store in an SQLite file does with files: its own, those of others, on full disks (B27)."""

from __future__ import annotations

import multiprocessing
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import pytest

from dataflow import Flow
from dataflow.errors import AnswerRefused, RunTaken, StoreError
from dataflow.stores import Batch, Hold, Record, Store, database
from dataflow.stores.sqlite import SqliteStore
from dataflow.testing.peers import Peer
from dataflow.testing.samples import answer_to, batch_of, blob_of, new_run, record
from tests.stores.sqlite_stores import Sqlite, owned, seqs_of, written
from tests.support.stored_runs import one_ask


def files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


VERSION_1: Final = Path(__file__).parents[1] / "golden" / "runs_version_1.sql"


def changed(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


class TestMaking:
    def test_reading_makes_nothing(self, tmp_path: Path) -> None:
        store = Store.sqlite(tmp_path / "folder" / "runs.db")
        assert not store.runs()
        for read in (store.find, store.inbox, store.records, store.hold, store.delete, store.blob):
            with pytest.raises(StoreError):
                read("missing")
        with pytest.raises(StoreError, match="DF1102"):
            store.answer("missing", answer_to())
        with pytest.raises(StoreError, match="DF1102"):
            store.commit("missing", Batch())
        assert not files_in(tmp_path)

    def test_the_first_run_makes_the_file_with_the_tables_of_version_1(self, tmp_path: Path) -> None:
        path = tmp_path / "new" / "folder" / "runs.db"
        written(path)
        with closing(sqlite3.connect(path)) as connection:
            tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
            columns = [row[1] for row in connection.execute("PRAGMA table_info(records)")]
            settings = [
                connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("user_version", "journal_mode")
            ]
        required = {"runs", "records", "blobs", "memo", "schedules", "inbox"}
        assert {name for (name,) in tables} == required | {"held_blobs"}
        assert columns == ["run", "seq", "kind", "path", "data"]
        assert settings == [1, "wal"]

    def test_a_run_is_owned_whatever_its_name(self, tmp_path: Path) -> None:
        store = Store.sqlite(tmp_path / "runs.db")
        for run in ("..", "a/b", "a\x00b", "half \ud83d", "x" * 5_000):
            with owned(store.begin(new_run(run))), pytest.raises(RunTaken):
                store.hold(run)
        assert files_in(tmp_path) == ["runs.db", "runs.db-locks"]

    def test_stores_that_are_made_at_once_are_one(self, tmp_path: Path) -> None:
        def begin(number: int) -> None:
            Store.sqlite(tmp_path / "runs.db").begin(new_run(f"run-{number}")).release()

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(begin, range(8)))
        assert len(Store.sqlite(tmp_path / "runs.db").runs()) == 8

    def test_a_path_is_taken_from_the_folder_of_then_and_may_have_any_character(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        store = written(Path("50%?mode=ro#ä b.db"))
        monkeypatch.chdir("/")
        assert [run.id for run in store.runs()] == ["run"]
        assert files_in(tmp_path) == ["50%?mode=ro#ä b.db", "50%?mode=ro#ä b.db-locks"]


class TestOtherFiles:
    """Files that cannot be used stay as they are."""

    def expect_refusal(self, path: Path, text: str) -> None:
        before = path.read_bytes() if path.is_file() else None
        store = Store.sqlite(path)
        with pytest.raises(StoreError, match=text) as reading:
            store.runs()
        with pytest.raises(StoreError, match=text):
            store.begin(new_run())
        assert str(path) in str(reading.value)
        assert (path.read_bytes() if path.is_file() else None) == before

    def test_a_file_that_is_not_a_store_is_refused(self, tmp_path: Path) -> None:
        written(tmp_path / "newer.db")
        changed(tmp_path / "newer.db", "PRAGMA user_version = 7")
        changed(tmp_path / "other.db", "CREATE TABLE theirs (a)")
        (tmp_path / "empty.db").touch()
        (tmp_path / "notes.txt").write_text("no database\n" * 1_000)
        (tmp_path / "folder").mkdir()
        self.expect_refusal(tmp_path / "newer.db", "DF1111")
        self.expect_refusal(tmp_path / "other.db", "DF1108")
        self.expect_refusal(tmp_path / "empty.db", "DF1108")
        self.expect_refusal(tmp_path / "notes.txt", "DF1107 .*not a database")
        self.expect_refusal(tmp_path / "folder", "DF1107 .*make sure that")

    def test_a_damaged_file_is_told(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.db"
        written(path, 5_000)
        content = path.read_bytes()
        path.write_bytes(content[:8_192] + b"\xa5" * (len(content) - 8_192))
        store = Store.sqlite(path)
        with pytest.raises(StoreError, match=r"DF1107 .*put it aside"):
            list(store.records("run"))


class TestGone:
    def test_a_file_that_is_removed_or_replaced_during_a_run_is_reported(self, tmp_path: Path) -> None:
        store = Store.sqlite(tmp_path / "runs.db")
        with owned(store.begin(new_run())):
            (tmp_path / "runs.db").unlink()
            with pytest.raises(StoreError, match="DF1110"):
                store.commit("run", batch_of(1))
            with pytest.raises(StoreError, match="DF1110"):
                store.begin(new_run("other"))
            written(tmp_path / "other.db").runs()
            (tmp_path / "other.db").rename(tmp_path / "runs.db")
            with pytest.raises(StoreError, match="DF1110"):
                store.commit("run", batch_of(1))


def write_in_child(pipe: Connection, store: Store, hold: Hold, path: Path) -> None:
    """Write runs with the store of the parent and a new one, and try to own the run of the parent."""
    told: list[object] = []
    hold.release()
    for name, one in {"old": store, "new": Store.sqlite(path)}.items():
        try:
            with owned(one.begin(new_run(name))):
                told.append(len(list(one.records("run"))))
            with pytest.raises(RunTaken):
                one.hold("run")
        except StoreError as error:
            told.append(str(error).split(":")[0])
    pipe.send(told)
    pipe.recv()


@contextmanager
def forked(store: Store, hold: Hold, path: Path) -> Iterator[list[object]]:
    """Run `write_in_child` and yield what it reports, before the child ends."""
    forking = multiprocessing.get_context("fork")
    ours, theirs = forking.Pipe()
    with ours, theirs:
        child = forking.Process(target=write_in_child, args=(theirs, store, hold, path))
        child.start()
        try:
            yield ours.recv()
        finally:
            ours.send(None)
            child.join()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
class TestForks:
    def test_a_child_uses_the_file_that_its_parent_has_open_and_owns_nothing(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.db"
        store = Store.sqlite(path)
        with owned(store.begin(new_run())) as hold:
            store.commit("run", batch_of(1))
            with forked(store, hold, path) as told:
                assert told == [1, 1]
                store.commit("run", batch_of(2))  # which the child's connections do not keep from its log
                with pytest.raises(RunTaken):
                    Store.sqlite(path).hold("run")
                hold.release()
                Store.sqlite(path).hold("run").release()
        assert {run.id for run in store.runs()} == {"run", "old", "new"}
        assert seqs_of(store) == [1, 2]

    def test_a_file_in_use_during_the_fork_is_refused_in_the_child(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(database, "FORKING", 0.0)
        path = tmp_path / "runs.db"
        store = SqliteStore(path)
        with owned(store.begin(new_run())) as hold:
            store.commit("run", batch_of(1))
            with store._database.writing(), forked(store, hold, path) as told:
                assert told == 2 * [f"DF1109 store {path}"]
            store.commit("run", batch_of(2))
        assert seqs_of(store) == [1, 2]


def test_what_version_1_has_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_1.read_text(encoding="utf-8"))
    store = Store.sqlite(path)
    assert [(run.id, run.status) for run in store.runs()] == [
        ("20260102T123000Z-4567cdef", "completed"),
        ("20260101T123000Z-0123abcd", "paused"),
    ]
    paused = replace(new_run("20260101T123000Z-0123abcd"), status="paused")
    assert replace(store.find(paused.id), updated=paused.updated) == paused
    assert list(store.records(paused.id)) == [
        record(1, "run_started", ""),
        record(2, "ask_opened", "p/ask"),
        Record(3, "node_started", "half \ud83d", "{}"),
    ]
    assert store.blob(*blob_of(b"a long text")) == b"a long text"
    assert list(store.inbox(paused.id)) == [answer_to("p/ask")]
    with owned(store.hold(paused.id)):
        store.commit(paused.id, Batch([record(4, "ask_answered", "p/ask")], taken=["p/ask"]))
    with pytest.raises(AnswerRefused):
        store.answer(paused.id, answer_to("p/ask"))
    store.delete(paused.id)
    with pytest.raises(StoreError, match="DF1105"):
        store.blob(*blob_of(b"a long text"))


SMALL: Final = "size=400k"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    yield from mounted(tmp_path / "disk", SMALL)


def mounted(folder: Path, options: str) -> Iterator[Path]:
    folder.mkdir()
    if shutil.which("mount") is None:
        pytest.skip("no file system can be mounted here: there is no `mount`")
    command = ["mount", "-t", "tmpfs", "-o", options, "dataflow-tests", str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def filled(folder: Path) -> Path:
    filling = folder / "filling"
    with filling.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4_096))
    assert not shutil.disk_usage(folder).free
    return filling


class TestFullDisk:
    def test_a_batch_for_which_there_is_no_room_is_told_and_not_written(self, small_disk: Path) -> None:
        store = Store.sqlite(small_disk / "runs.db")
        with owned(store.begin(new_run())):
            store.commit("run", batch_of(1))
            filling = filled(small_disk)
            big = Batch([record(2), Record(3, "node_finished", "a", "x" * 50_000)], blob_of(bytes(50_000)))
            for _ in range(2):
                with pytest.raises(StoreError, match=r"runs\.db: .*(full|disk).*nothing was written"):
                    store.commit("run", big)
            assert seqs_of(store) == [1]
            filling.unlink()
            store.commit("run", big)
            assert seqs_of(store) == [1, 2, 3]
        assert seqs_of(Store.sqlite(small_disk / "runs.db")) == [1, 2, 3]


class TestRunOnAFullDisk:
    """A run for which there is no room ends with a clear error, and goes on when there is."""

    def flow(self, folder: Path, *, is_full: bool) -> Flow:
        async def fill(x: int) -> int:
            if is_full:
                filled(folder)
            return x

        async def big(x: int) -> bytes:
            return bytes(100_000 + x)

        async def length(data: bytes, more: int) -> int:
            return len(data) + more

        with Flow("filling") as f:
            given = f.add(big, x=f.add(fill, x=f.add(one_ask).out).out)
            f.output("o", f.add(length, data=given.out, more=1).out)
        return f.using(store=Store.sqlite(folder / "runs.db"))

    async def test_it_ends_with_an_error_and_its_older_state_is_resumed_when_there_is_room(
        self, small_disk: Path
    ) -> None:
        paused = await self.flow(small_disk, is_full=False).run()
        with pytest.raises(StoreError, match=r"runs\.db: .*(full|room)"):
            await self.flow(small_disk, is_full=True).resume(paused, {"ask": 0}, edited="keep")
        (small_disk / "filling").unlink()
        flow = self.flow(small_disk, is_full=False)
        again = await flow.resume(paused.run_id, edited="keep")
        if again.status == "paused":  # the answer was among what could not be written
            again = await flow.resume(again, {"ask": 0}, edited="keep")
        assert again["o"] == 100_001


class TestReadOnlyFolder:
    @pytest.fixture
    def folder(self, small_disk: Path) -> Path:
        store = Store.sqlite(small_disk / "runs.db")
        with owned(store.begin(new_run())):
            store.commit("run", Batch([record(1)], blob_of(b"data")))
        remount(small_disk, "ro")
        return small_disk

    def test_a_read_only_folder_is_read_and_stays_as_it_is(self, folder: Path) -> None:
        store = Store.sqlite(folder / "runs.db")
        assert [run.status for run in store.runs()] == ["interrupted"]
        assert seqs_of(store) == [1]
        assert store.blob(*blob_of(b"data")) == b"data"
        assert not store.inbox("run")
        store = Store.sqlite(folder / "runs.db")
        with pytest.raises(StoreError, match=r"runs\.db: .*read-?only.*writ"):
            store.answer("run", answer_to())
        for write in (store.hold, store.delete):
            with pytest.raises(StoreError, match=r"runs\.db: .*[Rr]ead-only.*writ"):
                write("run")
        with pytest.raises(StoreError, match=r"runs\.db: .*[Rr]ead-only.*writ"):
            store.begin(new_run("other"))
        assert [run.id for run in store.runs()] == ["run"]

    def test_a_log_that_cannot_be_replayed_is_not_passed_over(self, small_disk: Path) -> None:
        with Peer(Sqlite, small_disk) as peer:
            peer.ask("begin", new_run())
            peer.ask("commit", "run", batch_of(1))
            peer.kill()
        (small_disk / "runs.db-shm").unlink()
        remount(small_disk, "ro")
        with pytest.raises(StoreError, match=r"runs\.db: .*folder can be read and written"):
            Store.sqlite(small_disk / "runs.db").runs()


def remount(folder: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True)
