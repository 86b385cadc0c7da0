"""Run slots: who may start where nothing but the run as a whole has a limit (S15.1)."""

from __future__ import annotations

import threading
from collections.abc import Callable

from dataflow.compiler.plan import ScopePlan
from dataflow.core.states import CANCELLED, READY
from dataflow.scheduler.admission import RunSlots
from dataflow.scheduler.frames import FiringId, Frame

NODES = 8


def a_frame() -> Frame:
    """Make a frame of nodes that are all ready."""
    return Frame(ScopePlan(states=bytearray([READY] * NODES)), 0, "fail_fast")


def numbers(firings: list[FiringId]) -> list[int]:
    return [index for _, index in firings]


def ready(frame: Frame, *indices: int) -> list[FiringId]:
    return [(frame, index) for index in indices]


class Later:
    """Keeps what is to be done in the event loop, until it goes round."""

    def __init__(self, slots: RunSlots) -> None:
        self.steps: list[Callable[[], None]] = []
        slots.later = self.steps.append

    def go_round(self) -> None:
        while self.steps:
            self.steps.pop(0)()


def test_all_start_in_the_order_in_which_they_came() -> None:
    slots, frame = RunSlots(1), a_frame()
    started = numbers(slots.admit(ready(frame, 3, 1)) + slots.admit(ready(frame, 2, 0)))
    while slots.are_waiting:
        slots.ended((frame, started[-1]))
        started += numbers(slots.admit(()))
    assert started == [3, 1, 2, 0]


# closed frames


def test_what_was_cancelled_while_it_waited_takes_no_slot() -> None:
    slots, frame = RunSlots(1), a_frame()
    slots.admit(ready(frame, 0, 1, 2))
    frame.states[1] = CANCELLED
    slots.ended((frame, 0))
    assert numbers(slots.admit(())) == [2]


# threads that run on


def test_a_slot_comes_back_in_the_event_loop_when_the_last_thread_returns() -> None:
    slots, frame = RunSlots(1), a_frame()
    later = Later(slots)
    slots.admit(ready(frame, 0, 1))
    first, second = slots.keep((frame, 0)), slots.keep((frame, 0))
    slots.ended((frame, 0))
    assert slots.admit(()) == []
    first()
    later.go_round()
    assert slots.admit(()) == []
    thread = threading.Thread(target=second)
    thread.start()
    thread.join()
    assert slots.admit(()) == []
    later.go_round()
    assert numbers(slots.admit(())) == [1]


def test_a_thread_that_returns_before_its_firing_ends_keeps_nothing() -> None:
    slots, frame = RunSlots(1), a_frame()
    later = Later(slots)
    slots.admit(ready(frame, 0, 1))
    slots.keep((frame, 0))()
    assert later.steps == []
    slots.ended((frame, 0))
    assert numbers(slots.admit(())) == [1]


def test_a_thread_of_a_firing_without_a_slot_keeps_none() -> None:
    slots, frame = RunSlots(1), a_frame()
    slots.keep((frame, 0))()
    assert numbers(slots.admit(ready(frame, 0, 1))) == [0]
