"""Schedules, read strictly: seconds, `daily@HH:MM`, `weekly@d1,d2` (S17)."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["MODES", "fault_in"]

#: When a graph runs by itself.
MODES: Final = ("one_time", "interval", "continuous")

_SECONDS: Final = re.compile(r"[1-9]\d{0,8}")
_DAILY: Final = re.compile(r"daily@([01]\d|2[0-3]):[0-5]\d")
_WEEKLY: Final = re.compile(r"weekly@[0-6](,[0-6])*")
SECONDS: Final = 'a number of seconds, as "60"'
INTERVALS: Final = f'{SECONDS}, "daily@09:00" or "weekly@1,3,5" with Sunday = 0'


def fault_in(mode: str, schedule: str | None, *, of_branch: bool = False) -> str | None:
    """Say what is wrong with the schedule of a mode, None where nothing is."""
    if mode == "interval":
        if schedule is None:
            own = " of its own, as that of the workflow does not count for branches" if of_branch else ""
            return f"an interval needs a schedule{own}: {INTERVALS}"
        forms = (_SECONDS, _DAILY, _WEEKLY)
        is_right = any(form.fullmatch(schedule) for form in forms) and not _has_day_twice(schedule)
        return None if is_right else f"expected {INTERVALS}, found {schedule!r}"
    if mode == "continuous" and schedule is not None and not _SECONDS.fullmatch(schedule):
        return f"expected the delay between runs as {SECONDS}, found {schedule!r}"
    return None


def _has_day_twice(schedule: str) -> bool:
    days = schedule.removeprefix("weekly@").split(",") if schedule.startswith("weekly@") else []
    return len(days) != len({*days})
