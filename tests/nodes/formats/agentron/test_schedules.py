"""Schedules are read strictly, and kept."""

from __future__ import annotations

from collections.abc import Sequence

from dataflow_formats.agentron.file import fault_in
from tests.nodes.formats.agentron.walking import flow_of, workflow

GOOD = ["60", "1", "5", "daily@09:00", "daily@00:00", "daily@23:59", "weekly@1,3,5", "weekly@0", "weekly@6"]
BAD = [
    *("", " 30 ", "5s", "1.9", "1e3", "0", "-1", "abc", "٦٠", "daily@ 9:00", "daily@09:00\n", "daily@9:30"),
    *("daily@99:99", "daily@24:00", "daily@12", "Daily@09:00", "weekly@7", "weekly@mon", "weekly@1,,2"),
    *("weekly@-1", "weekly@", "weekly@1,1"),
]


def refused(mode: str, schedules: Sequence[str]) -> list[str]:
    """Return the schedules that a mode refuses as values of the wrong form."""
    faults = {schedule: fault_in(mode, schedule) for schedule in schedules}
    wrong = {schedule: fault for schedule, fault in faults.items() if fault is not None}
    assert [(fault.code, fault.found) for fault in wrong.values()] == [("DF4002", repr(one)) for one in wrong]
    return [*wrong]


def test_an_interval_has_seconds_a_time_of_day_or_days_of_the_week() -> None:
    assert refused("interval", GOOD) == []
    assert refused("interval", BAD) == BAD


def test_an_interval_needs_a_schedule() -> None:
    fault = fault_in("interval", None)
    assert fault is not None
    assert fault.code == "DF4202"


def test_a_continuous_mode_may_have_a_delay_and_no_time_of_day() -> None:
    assert fault_in("continuous", None) is None
    assert refused("continuous", ["5", "daily@09:00", "0", "x"]) == ["daily@09:00", "0", "x"]


def test_a_schedule_of_a_single_run_does_not_count() -> None:
    assert [fault_in("one_time", schedule) for schedule in (None, "60", "whatever")] == [None] * 3


def test_schedules_are_kept_for_who_looks() -> None:
    branches = [
        {"id": "n", "name": "Night", "nodes": [], "executionMode": "interval", "schedule": "daily@03:30"},
        {"id": "c", "nodes": [], "executionMode": "continuous"},
    ]
    assert flow_of(workflow("a", branches=branches)).wiring.meta["agentron"] == {
        "name": "small",
        "executionMode": "one_time",
        "branches": [
            {"id": "n", "name": "Night", "executionMode": "interval", "schedule": "daily@03:30"},
            {"id": "c", "executionMode": "continuous"},
        ],
    }
