"""How a cost grows."""

from __future__ import annotations

import pytest

from benchmarks.timing import MOST_PLAYS, Work, WrongResult, exponent, seconds, times_as_long


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        pytest.param((2.0, 2.0), 1.0, id="the same cost for each is linear"),
        pytest.param((2.0, 20.0), 2.0, id="ten times the cost for each is quadratic"),
        pytest.param((2.0, 0.2), 0.0, id="a tenth of the cost for each is constant"),
    ],
)
def test_growth_is_told_by_an_exponent(costs: tuple[float, float], expected: float) -> None:
    assert exponent((1_000, 10_000), costs) == pytest.approx(expected)


async def test_a_wrong_result_is_not_timed() -> None:
    async def run() -> int:
        return 2

    with pytest.raises(WrongResult, match="expected 1, found 2"):
        await seconds(Work(run, 1, 1))


async def test_work_is_done_twice_before_it_is_timed_five_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.timing.LEAST_SECONDS", 0.0)
    done: list[int] = []

    async def run() -> None:
        done.append(1)

    await seconds(Work(run, None, 1))
    assert len(done) == 2 + 5


async def test_short_work_is_done_several_times_for_each_of_the_five(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.timing.LEAST_SECONDS", 3600.0)
    done: list[int] = []

    async def run() -> None:
        done.append(1)

    await seconds(Work(run, None, 1))
    assert len(done) == 2 + 5 * MOST_PLAYS


def noting(done: list[str], name: str) -> Work:
    """Make a work that notes when it is prepared and done."""

    async def run() -> None:
        done.append(name)

    return Work(run, None, 1, lambda: done.append(f"prepare {name}"))


async def test_works_that_are_compared_are_done_in_turn_each_prepared_before() -> None:
    done: list[str] = []
    assert await times_as_long((noting(done, "a"), noting(done, "b"))) > 0
    assert done == ["prepare a", "a", "prepare b", "b"] * (1 + 5)


async def test_what_comes_to_a_wrong_result_is_not_compared() -> None:
    async def run() -> int:
        return 2

    with pytest.raises(WrongResult, match="expected 1, found 2"):
        await times_as_long((Work(run, 2, 1), Work(run, 1, 1)))
