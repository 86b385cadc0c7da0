"""What the store in an SQLite file does on a full disk and in a folder that is read-only (B27)."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from dataflow import Flow
from dataflow.errors import StoreError
from dataflow.stores import Batch, Record, Store
from dataflow.testing.peers import Peer
from dataflow.testing.samples import answer_to, batch_of, blob_of, new_run, record
from tests.stores.sqlite_stores import Sqlite, owned, seqs_of
from tests.support.stored_runs import one_ask

SMALL: Final = "size=400k"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a small file system in memory."""
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
    """Leave no room on a disk."""
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
        """Return a folder with a store that nobody can write to."""
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
