"""How a cost grows."""

from __future__ import annotations

import pytest

from benchmarks.timing import MOST_PLAYS, Work, seconds, times_as_long


def noting(done: list[str], name: str, result: object = None, expected: object = None) -> Work:
    async def run() -> object:
        done.append(name)
        return result

    return Work(run, expected, 1, lambda: done.append(f"prepare {name}"))


@pytest.mark.parametrize(("least", "times"), [(0.0, 2 + 5), (3600.0, 2 + 5 * MOST_PLAYS)])
async def test_work_is_done_twice_before_it_is_timed_five_times_short_work_more_often(
    monkeypatch: pytest.MonkeyPatch, least: float, times: int
) -> None:
    monkeypatch.setattr("benchmarks.timing.LEAST_SECONDS", least)
    done: list[str] = []
    await seconds(noting(done, "a"))
    assert done.count("a") == times


async def test_works_that_are_compared_are_done_in_turn_each_prepared_before() -> None:
    done: list[str] = []
    assert await times_as_long((noting(done, "a"), noting(done, "b"))) > 0
    assert done == ["prepare a", "a", "prepare b", "b"] * (1 + 5)
