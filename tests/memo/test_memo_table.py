"""Tables of outcomes in memory, and what is said of a firing that is not among them (S13.1)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from dataflow import MemoStats, ProcessMemo
from dataflow.memo.table import Entry
from dataflow.scheduler.hits import Candidate, Origin, Outcome, hit_of, why_missed

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def known(value: object = 1, *, type: str = "t", after: float = 0) -> Entry:
    origin = Origin("run", "a", NOON + after * SECOND)
    return Entry(type, {"input 'x'": str(value)}, hit_of(Outcome({"out": value}, {}, origin), "run"))


def keys_of(table: ProcessMemo, type: str = "t") -> list[str]:
    return [key for key, _ in table.newest(type, 99)]


class TestTable:
    def test_what_was_not_asked_for_the_longest_goes_first(self) -> None:
        table = ProcessMemo(most=2)
        table.remember("a", known())
        table.remember("b", known())
        assert table.recall("a") is not None
        table.remember("c", known())
        assert (keys_of(table), table.recall("b")) == (["c", "a"], None)

    def test_hits_and_misses_are_counted(self) -> None:
        table = ProcessMemo()
        table.recall("a")
        table.recall("a", is_counted=False)
        table.remember("a", known())
        table.recall("a")
        assert table.stats() == MemoStats(entries=1, hits=1, misses=1)
        table.recall("a", is_counted=False)
        assert table.stats() == MemoStats(entries=1, hits=1, misses=1)
        table.count_as_hit()
        assert table.stats() == MemoStats(entries=1, hits=2, misses=0)

    def test_threads_may_share_it(self) -> None:
        table = ProcessMemo(most=5)

        def use(number: int) -> None:
            table.remember(f"{number % 9}", known(type=f"{number % 2}"))
            table.recall(f"{number % 7}")
            if not number % 50:
                table.clear(f"{number % 2}")

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(use, range(2_000)))
        assert table.stats().entries == len(keys_of(table, "0")) + len(keys_of(table, "1")) <= 5


PARTS = {"code": "c", "input 'x'": "1", "input 'y'": "2", "version": "v"}


def candidate(key: str = "other", *, after: float = 0, **parts: str) -> Candidate:
    named = {f"input {name!r}" if len(name) == 1 else name: value for name, value in parts.items()}
    return Candidate(key, {**PARTS, **named}, NOON + after * SECOND)


class TestWhy:
    """Why nothing is known: the nearest of the newest tells."""

    def test_the_fewest_parts_that_differ_are_named(self) -> None:
        cases = [
            ([], "nothing is known of this node type"),
            ([candidate(x="9")], "input 'x' differs from what is known"),
            ([candidate(x="9", y="9")], "input 'x' and input 'y' differ from what is known"),
            ([candidate(x="9", y="9"), candidate(code="9")], "code differs from what is known"),
            ([candidate(y="9"), candidate(x="9")], "input 'y' differs from what is known"),
            ([candidate(z="9")], "input 'z' differs from what is known"),
            (
                [candidate(code="9", version="9", x="9", y="9", z="9", q="9")],
                "code, input 'q', input 'x', input 'y', input 'z' and 1 more parts differ from what is known",
            ),
            ([candidate(x="9"), candidate("key")], "expired 3 s ago"),
        ]
        for known, told in cases:
            assert why_missed("key", PARTS, known, NOON + 63 * SECOND, 60) == told
