"""Conformance tests for several processes that use one store, some of which are killed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.errors import AnswerRefused, RunTaken
from dataflow.stores import Batch
from dataflow.testing.cases import StoreCases
from dataflow.testing.peers import Peer, dying_batch
from dataflow.testing.samples import answer_to, batch_of, new_run, refused

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ProcessCases"]

#: How often two processes race for the same run or ask.
RACES = 20


class ProcessCases(StoreCases):
    """Processes see each other's writes, and the runs of a killed process become free."""

    def test_what_one_process_writes_another_reads(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        with Peer(type(self), tmp_path) as peer:
            peer.ask("begin", new_run())
            peer.ask("commit", "run", batch_of(1, 2))
            assert [found.seq for found in store.records("run")] == [1, 2]
            store.answer("run", answer_to())
            assert peer.ask("commit", "run", batch_of(3)) == [answer_to()]

    def test_what_was_written_outlives_its_process(self, tmp_path: Path) -> None:
        with Peer(type(self), tmp_path) as peer:
            peer.ask("begin", new_run())
            peer.ask("commit", "run", batch_of(1, 2))
            peer.kill()
        assert [found.seq for found in self.make_store(tmp_path).records("run")] == [1, 2]

    def test_a_run_is_taken_while_another_process_owns_it(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        with Peer(type(self), tmp_path) as peer:
            peer.ask("begin", new_run())
            assert store.find("run").status == "running"
            with refused(RunTaken):
                store.hold("run")
            with refused(RunTaken):
                store.delete("run")
            peer.ask("release", "run")
            self.hold(store, "run")
            with refused(RunTaken):
                peer.ask("hold", "run")

    def test_a_killed_process_owns_nothing(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        with Peer(type(self), tmp_path) as peer:
            peer.ask("begin", new_run())
            peer.kill()
        assert store.find("run").status == "interrupted"
        self.hold(store, "run").release()
        store.delete("run")

    def test_a_batch_in_which_its_process_dies_is_not_written(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        with Peer(type(self), tmp_path) as peer:
            peer.ask("begin", new_run())
            peer.ask("commit", "run", batch_of(1))
            peer.start("commit", "run", dying_batch(2, 3))
            peer.wait()
        assert [found.seq for found in store.records("run")] == [1]
        self.hold(store, "run")
        store.commit("run", batch_of(2, 3))
        assert [found.seq for found in store.records("run")] == [1, 2, 3]

    def test_a_run_in_whose_first_batch_its_process_dies_is_not_there(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        with Peer(type(self), tmp_path) as peer:
            peer.start("begin", new_run(), dying_batch(1, 2))
            peer.wait()
        assert not store.runs()
        self.begin(store, None, batch_of(1))
        assert [found.seq for found in store.records("run")] == [1]

    def test_a_process_starts_again_between_two_batches(self, tmp_path: Path) -> None:
        for first in (1, 3, 5):
            with Peer(type(self), tmp_path) as peer:
                peer.ask("begin", new_run()) if first == 1 else peer.ask("hold", "run")
                peer.ask("commit", "run", batch_of(first, first + 1))
                peer.kill()
        assert [found.seq for found in self.make_store(tmp_path).records("run")] == [1, 2, 3, 4, 5, 6]

    def test_two_processes_write_at_once(self, tmp_path: Path) -> None:
        with Peer(type(self), tmp_path) as one, Peer(type(self), tmp_path) as two:
            for peer, run in ((one, "one"), (two, "two")):
                peer.start("begin", new_run(run))
            for peer in (one, two):
                peer.answer()
            for seq in range(1, 101):
                for peer, run in ((one, "one"), (two, "two")):
                    peer.start("commit", run, batch_of(2 * seq - 1, 2 * seq))
            for peer in (one, two):
                for _ in range(100):
                    peer.answer()
        store = self.make_store(tmp_path)
        assert [len(list(store.records(run))) for run in ("one", "two")] == [200, 200]

    def test_of_two_processes_one_owns_a_run(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store).release()
        with Peer(type(self), tmp_path) as one, Peer(type(self), tmp_path) as two:
            for _ in range(RACES):
                owners = _allowed((one, two), RunTaken, "hold", "run")
                assert len(owners) == 1
                owners[0].ask("release", "run")

    def test_of_two_processes_one_gives_the_answer(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        with Peer(type(self), tmp_path) as one, Peer(type(self), tmp_path) as two:
            for number in range(RACES):
                ask = answer_to(f"ask-{number}")
                assert len(_allowed((one, two), AnswerRefused, "answer", "run", ask)) == 1
        assert len(store.inbox("run")) == RACES

    def test_an_answer_comes_before_a_run_is_given_up_or_waits(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        with Peer(type(self), tmp_path) as peer:
            for number in range(1, RACES + 1):
                ask = answer_to(f"ask-{number}")
                peer.start("answer", "run", ask)
                overlooked = not store.commit("run", batch_of(number), unless_answered=True)
                peer.answer()
                assert list(store.inbox("run")) == [ask]
                assert (number in [found.seq for found in store.records("run")]) == overlooked
                store.commit("run", Batch(taken=[ask.ask]))


def _allowed(peers: tuple[Peer, ...], refusal: type[Exception], what: str, *arguments: object) -> list[Peer]:
    """Start the same call in all peers; return those whose call is not refused."""
    for peer in peers:
        peer.start(what, *arguments)
    allowed = []
    for peer in peers:
        try:
            peer.answer()
        except refusal:
            continue
        allowed.append(peer)
    return allowed
