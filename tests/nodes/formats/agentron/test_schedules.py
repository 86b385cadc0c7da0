"""Schedules are read strictly."""

from __future__ import annotations

import pytest

from dataflow_formats.agentron.file import fault_in

GOOD = ["60", "1", "5", "daily@09:00", "daily@00:00", "daily@23:59", "weekly@1,3,5", "weekly@0", "weekly@6"]
BAD = [
    *("", " 30 ", "5s", "1.9", "1e3", "0", "-1", "abc", "٦٠", "daily@ 9:00", "daily@09:00\n", "daily@9:30"),
    *("daily@99:99", "daily@24:00", "daily@12", "Daily@09:00", "weekly@7", "weekly@mon", "weekly@1,,2"),
    *("weekly@-1", "weekly@", "weekly@1,1"),
]


@pytest.mark.parametrize("schedule", GOOD)
def test_what_is_a_schedule_of_an_interval_is_taken(schedule: str) -> None:
    assert fault_in("interval", schedule) is None


@pytest.mark.parametrize("schedule", BAD)
def test_what_is_none_is_refused(schedule: str) -> None:
    fault = fault_in("interval", schedule)
    assert fault == (
        'expected a number of seconds, as "60", "daily@09:00" or "weekly@1,3,5" with Sunday = 0, '
        f"found {schedule!r}"
    )


def test_an_interval_needs_a_schedule() -> None:
    assert fault_in("interval", None) == (
        'an interval needs a schedule: a number of seconds, as "60", "daily@09:00" or "weekly@1,3,5" '
        "with Sunday = 0"
    )


@pytest.mark.parametrize("schedule", [None, "5"])
def test_what_is_continuous_may_have_a_delay(schedule: str | None) -> None:
    assert fault_in("continuous", schedule) is None


@pytest.mark.parametrize("schedule", ["daily@09:00", "0", "x"])
def test_what_is_continuous_has_no_fixed_clock(schedule: str) -> None:
    assert fault_in("continuous", schedule) == (
        f'expected the delay between runs as a number of seconds, as "60", found {schedule!r}'
    )


@pytest.mark.parametrize("schedule", [None, "60", "whatever"])
def test_what_runs_once_has_a_schedule_that_does_not_count(schedule: str | None) -> None:
    assert fault_in("one_time", schedule) is None
