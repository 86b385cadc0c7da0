"""Timers: asked for by the scheduler, slept for in tasks of the run, gone when nobody needs them (S9.1)."""

from __future__ import annotations

from functools import partial

from dataflow import Flow, node
from dataflow.core.events import Reporter
from dataflow.core.policy import Settings
from dataflow.scheduler.scheduler import Scheduler
from dataflow.scheduler.timers import Timer


@node
async def one() -> int:
    """Give 1."""
    return 1


def plain() -> Flow:
    with Flow("plain") as f:
        f.output("o", f.add(one).out)
    return f


class Played:
    """A scheduler without anybody who acts, and what its timers have done."""

    def __init__(self) -> None:
        self.scheduler = Scheduler(plain().compile(), Settings(), Reporter("run"))
        self.ready = self.scheduler.start({})
        self.steps: list[str] = []

    def set(self, name: str, *, in_root: bool = True) -> Timer:
        frame = self.scheduler.root if in_root else None
        return self.scheduler.timers.set(1, partial(self.steps.append, name), frame)


def test_a_step_is_taken_once_unless_its_timer_is_dropped() -> None:
    played = Played()
    timer, dropped = played.set("a"), played.set("b")
    played.scheduler.timers.drop(dropped)
    for one in (timer, timer, dropped):
        played.scheduler.due(one)
    assert played.steps == ["a"]


def test_the_news_are_told_once() -> None:
    played = Played()
    kept, dropped, never_told = played.set("a"), played.set("b"), played.set("c")
    played.scheduler.timers.drop(never_told)
    assert played.scheduler.timers.news() == ([kept, dropped], [never_told])
    played.scheduler.timers.drop(dropped)
    assert played.scheduler.timers.news() == ([], [dropped])
    assert played.scheduler.timers.news() == ([], [])


def test_closing_a_frame_drops_its_timers_and_no_others() -> None:
    played = Played()
    played.set("a")
    other = played.set("b", in_root=False)
    frame, index = played.ready[0]
    played.scheduler.settling.fail(frame, index, ValueError("no"))
    assert played.scheduler.timers.are_awaited
    assert played.scheduler.timers.close(other)
    assert not played.scheduler.timers.are_awaited
