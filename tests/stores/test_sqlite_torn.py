"""What the store in an SQLite file has after its process died or its log was cut (B27)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dataflow.stores import Store
from dataflow.testing.peers import Peer
from dataflow.testing.samples import batch_of, new_run
from tests.stores.sqlite_stores import Sqlite, owned, seqs_of


@pytest.fixture
def torn(tmp_path: Path) -> tuple[Path, int]:
    """Return a folder as a killed process left it, and the length of its log before the last batch."""
    folder = tmp_path / "torn"
    folder.mkdir()
    with Peer(Sqlite, folder) as peer:
        peer.ask("begin", new_run())
        for seq in (1, 2, 3):
            peer.ask("commit", "run", batch_of(seq))
        before = (folder / "runs.db-wal").stat().st_size
        peer.ask("commit", "run", batch_of(4))
        peer.kill()
    return folder, before


def test_a_log_that_was_cut_gives_the_last_state_or_the_one_before(
    torn: tuple[Path, int], tmp_path: Path
) -> None:
    folder, before = torn
    log = (folder / "runs.db-wal").read_bytes()
    assert len(log) > before
    ends = {*range(before, len(log), 97), *range(before, before + 30), len(log) - 1, len(log)}
    for end in sorted(ends):
        copy = tmp_path / "copy"
        shutil.copytree(folder, copy)
        (copy / "runs.db-wal").write_bytes(log[:end])
        store = Store.sqlite(copy / "runs.db")
        assert seqs_of(store) == ([1, 2, 3, 4] if end == len(log) else [1, 2, 3])
        assert store.find("run").status == "interrupted"
        shutil.rmtree(copy)


def test_a_process_that_is_killed_while_it_writes_loses_nothing_acknowledged(
    subtests: pytest.Subtests, tmp_path: Path
) -> None:
    for acknowledged in (1, 2, 3, 5, 8, 13):
        with subtests.test(acknowledged=acknowledged):
            folder = tmp_path / str(acknowledged)
            folder.mkdir()
            with Peer(Sqlite, folder) as peer:
                peer.ask("begin", new_run())
                for number in range(50):
                    peer.start("commit", "run", batch_of(*range(20 * number + 1, 20 * number + 21)))
                for _ in range(acknowledged):
                    peer.answer()
                peer.kill()
            store = Store.sqlite(folder / "runs.db")
            seqs = seqs_of(store)
            assert seqs == [*range(1, len(seqs) + 1)]
            assert len(seqs) % 20 == 0
            assert len(seqs) >= 20 * acknowledged
            with owned(store.hold("run")):
                store.commit("run", batch_of(len(seqs) + 1))
