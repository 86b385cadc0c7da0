"""What durable runs are compared with does the same to the same records, and so do the runs."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks import journaling, open_asks, resuming
from benchmarks.timing import Work, run_on
from dataflow.stores import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


async def play_both(works: tuple[Work, Work]) -> None:
    for work in (*works, *works):
        work.prepare()
        await work.play()


def rows_of(path: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


@pytest.mark.parametrize("case_of", [journaling.chain_case, journaling.map_case])
def test_a_run_in_a_store_and_its_records_alone_are_written_the_same(
    case_of: Callable[[int], journaling.Case], tmp_path: Path
) -> None:
    for backend in ("asyncio", "trio"):
        folder = tmp_path / backend
        folder.mkdir()
        run_on(backend, play_both, journaling.works_in(folder, case_of(20)))
        query = "SELECT kind, count(*) FROM records GROUP BY run, kind ORDER BY run, kind"
        ours, written = rows_of(folder / "runs.db", query), rows_of(folder / "written.db", query)
        assert len(written) > 2
        assert ours == written[: len(written) // 2] * 3  # one more run told which records there are


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_run_that_has_paused_goes_on_to_its_result_again_and_again(backend: str, tmp_path: Path) -> None:
    run_on(backend, play_both, resuming.works_in(tmp_path, 20))
    assert [run.status for run in Store.sqlite(tmp_path / "paused.db").runs()] == ["paused"]
    assert [run.status for run in Store.sqlite(tmp_path / "copied.db").runs()] == ["completed"]


def test_the_asks_of_all_runs_are_listed(tmp_path: Path) -> None:
    run_on("asyncio", Work.play, open_asks.listing(tmp_path, 2 * open_asks.ASKS_OF_RUN))
