"""Conformance tests for pending answers, and for the one owner of a run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from dataflow.errors import AnswerRefused, RunTaken, StoreError
from dataflow.stores import Batch, StoredAsk
from dataflow.testing.cases import StoreCases
from dataflow.testing.samples import answer_to, batch_of, new_run, record, refused

if TYPE_CHECKING:
    from pathlib import Path

    from dataflow.stores import Hold

__all__ = ["InboxCases", "OwnerCases"]

#: How many threads compete for the same run or ask.
THREADS = 8


class InboxCases(StoreCases):
    """An ask gets one answer, and none is overlooked (S11.2)."""

    def test_an_answer_waits_until_the_owner_takes_it(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        store.answer("run", answer_to("b"))
        store.answer("run", answer_to("a"))
        assert list(store.inbox("run")) == [answer_to("b"), answer_to("a")]
        assert list(store.commit("run", Batch([record(1)], taken=["b"]))) == [answer_to("a")]
        assert list(store.inbox("run")) == [answer_to("a")]

    def test_an_answer_waits_while_nobody_owns_the_run(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store).release()
        store.answer("run", answer_to())
        self.hold(store, "run")
        assert list(store.commit("run", batch_of(1))) == [answer_to()]

    def test_a_second_answer_is_refused_while_the_first_waits(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        store.answer("run", answer_to())
        with refused(AnswerRefused, naming="'a'"):
            store.answer("run", answer_to())
        assert list(store.inbox("run")) == [answer_to()]

    def test_of_several_answers_none_is_taken_if_one_is_refused(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        store.answer("run", answer_to("b"))
        with refused(AnswerRefused, naming="b"):
            store.answer("run", answer_to("a"), answer_to("b"))
        assert list(store.inbox("run")) == [answer_to("b")]
        store.answer("run", answer_to("a"), answer_to("c"))
        assert list(store.inbox("run")) == [answer_to("b"), answer_to("a"), answer_to("c")]

    def test_open_asks_are_listed_the_newest_run_first(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store, new_run("old", day=1))
        self.begin(store, new_run("new", day=2))
        opened = [record(seq, "ask_opened", ask) for seq, ask in enumerate("cabd", start=1)]
        ended = [record(5, "ask_answered", "a"), record(6, "ask_closed", "b"), record(7, "ask_closed", "d")]
        store.commit("old", Batch([*opened, *ended, record(8, "ask_opened", "a")]))
        store.commit("new", Batch([record(1, "ask_opened", "c"), record(2)]))
        store.answer("old", answer_to("a"))
        assert list(store.asks()) == [
            StoredAsk("new", "c", '{"number":1}'),
            StoredAsk("old", "c", '{"number":1}'),
            StoredAsk("old", "a", '{"number":8}', is_answered=True),
        ]

    def test_an_answer_is_refused_when_its_ask_has_ended(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        store.commit("run", Batch([record(1, "ask_opened", "a"), record(2, "ask_opened", "b")]))
        store.commit("run", Batch([record(3, "ask_answered", "a"), record(4, "ask_closed", "b")]))
        for ask in ("a", "b"):
            with refused(AnswerRefused, naming=repr(ask)):
                store.answer("run", answer_to(ask))
        assert not store.inbox("run")

    def test_an_ask_that_opens_again_takes_an_answer(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        kinds = ("ask_opened", "ask_closed", "ask_opened", "node_started")
        store.commit("run", Batch([record(seq, kind) for seq, kind in enumerate(kinds, start=1)]))
        store.answer("run", answer_to())
        assert list(store.inbox("run")) == [answer_to()]

    def test_asks_of_other_runs_and_paths_do_not_count(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        for id in ("one", "two"):
            self.begin(store, new_run(id))
        store.commit("one", Batch([record(1, "ask_answered", "a"), record(2, "ask_answered", "b")]))
        store.answer("two", answer_to("a"))
        store.answer("one", answer_to("a/b"))
        assert [len(store.inbox(run)) for run in ("one", "two")] == [1, 1]

    def test_nothing_is_written_unless_answered_if_the_inbox_has_an_answer(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        for ask in ("a", "b"):
            store.answer("run", answer_to(ask))
        batch = Batch([record(1)], status="paused", taken=["a"])
        assert list(store.commit("run", batch, unless_answered=True)) == [answer_to("b")]
        assert len(store.inbox("run")) == 2
        assert store.find("run").status == "running"
        assert not list(store.records("run"))

    def test_a_batch_is_written_unless_answered_if_it_takes_all_answers(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        store.answer("run", answer_to())
        batch = Batch([record(1)], status="paused", taken=["a"])
        assert not store.commit("run", batch, unless_answered=True)
        assert store.find("run").status == "paused"
        assert not store.inbox("run")

    def test_of_many_answers_at_once_one_is_taken(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)

        def answered(_: int) -> bool:
            try:
                store.answer("run", answer_to())
            except AnswerRefused:
                return False
            return True

        with ThreadPoolExecutor(THREADS) as threads:
            assert sum(threads.map(answered, range(THREADS))) == 1

    def test_a_missing_run_takes_no_answer(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        with refused(StoreError, naming="missing"):
            store.answer("missing", answer_to())

    def test_answers_go_with_their_run(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        hold = self.begin(store)
        store.answer("run", answer_to())
        hold.release()
        store.delete("run")
        self.begin(store)
        assert not store.inbox("run")


class OwnerCases(StoreCases):
    """A run has one owner at most, and a running one without is interrupted."""

    def test_a_run_is_owned_from_its_beginning_until_it_is_released(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        first = self.begin(store)
        with refused(RunTaken, naming="run"):
            self.hold(store, "run")
        first.release()
        self.hold(store, "run").release()
        self.hold(store, "run")

    def test_a_run_is_released_once(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        first = self.begin(store)
        first.release()
        self.hold(store, "run")
        first.release()
        with refused(RunTaken):
            self.hold(store, "run")

    def test_a_run_can_be_read_while_it_is_owned(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        store.commit("run", batch_of(1))
        assert len(list(store.records("run"))) == 1

    def test_a_running_run_without_an_owner_is_interrupted(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        hold = self.begin(store)
        assert [store.find("run").status, *(run.status for run in store.runs())] == ["running"] * 2
        hold.release()
        assert [store.find("run").status, *(run.status for run in store.runs())] == ["interrupted"] * 2
        self.hold(store, "run")
        assert store.find("run").status == "running"

    def test_only_a_running_run_is_interrupted(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store, new_run(status="paused")).release()
        assert store.find("run").status == "paused"

    def test_an_owned_run_is_not_deleted(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        hold = self.begin(store)
        store.commit("run", batch_of(1))
        with refused(RunTaken, naming="run"):
            store.delete("run")
        self.begin(store, new_run("other")).release()
        assert list(store.delete_all(["run", "missing", "other"])) == ["other"]
        assert len(list(store.records("run"))) == 1
        hold.release()
        store.delete("run")
        assert list(store.runs()) == []

    def test_of_many_holds_at_once_one_wins(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store).release()

        def held(_: int) -> Hold | None:
            try:
                return self.hold(store, "run")
            except RunTaken:
                return None

        for _ in range(20):
            with ThreadPoolExecutor(THREADS) as threads:
                (winner,) = filter(None, threads.map(held, range(THREADS)))
            winner.release()

    def test_telling_whether_a_run_is_owned_keeps_nobody_from_owning_it(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store).release()
        with ThreadPoolExecutor(THREADS) as threads:
            asking = [threads.submit(lambda: [store.find("run") for _ in range(100)]) for _ in range(THREADS)]
            while not all(one.done() for one in asking):
                self.hold(store, "run").release()

    def test_many_threads_write_to_one_store(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        runs = [f"run-{number}" for number in range(THREADS)]

        def write(run: str) -> None:
            hold = self.begin(store, new_run(run))
            for seq in range(1, 21):
                store.commit(run, batch_of(seq))
            hold.release()

        with ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(write, runs))
        assert [len(list(store.records(run))) for run in runs] == [20] * THREADS
