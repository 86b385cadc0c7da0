"""What the store in an SQLite file has after its process died or its log was cut (B27)."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataflow.stores import Store
from dataflow.testing.peers import Peer
from dataflow.testing.samples import batch_of, new_run
from tests.stores.sqlite_stores import Sqlite, owned, seqs_of


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
