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


def test_as_many_start_as_there_are_slots() -> None:
    slots, frame = RunSlots(3), a_frame()
    assert numbers(slots.admit(ready(frame, 0, 1, 2, 3, 4))) == [0, 1, 2]
    assert slots.admit(ready(frame, 5)) == []


def test_all_start_in_the_order_in_which_they_came() -> None:
    slots, frame = RunSlots(1), a_frame()
    started = numbers(slots.admit(ready(frame, 3, 1)) + slots.admit(ready(frame, 2, 0)))
    while slots.are_waiting:
        slots.ended((frame, started[-1]))
        started += numbers(slots.admit(()))
    assert started == [3, 1, 2, 0]


def test_an_end_gives_one_slot_back_to_who_came_first() -> None:
    for end, has_begun in ((1, True), (2, True), (1, False)):  # it may be reported twice, or before it began
        slots, frame = RunSlots(1), a_frame()
        slots.admit(ready(frame, 0, 1, 2))
        for _ in range(end):
            slots.ended((frame, 0), has_begun=has_begun)
        assert numbers(slots.admit(ready(frame, 3))) == [1]
    slots = RunSlots(1)
    slots.admit(ready(frame, 0, 1))
    slots.ended((frame, 5))  # it had no slot
    assert slots.admit(()) == []


def test_an_attempt_after_another_waits_behind_the_others() -> None:
    slots, frame = RunSlots(1), a_frame()
    slots.admit(ready(frame, 0, 1))
    slots.ended((frame, 0))
    assert numbers(slots.admit(ready(frame, 0))) == [1]


def test_firings_of_the_same_node_in_two_frames_are_two() -> None:
    slots, one, other = RunSlots(2), a_frame(), a_frame()
    slots.admit([(one, 0), (other, 0), (one, 1)])
    slots.ended((other, 0))
    assert slots.admit(()) == [(one, 1)]


# closed frames


def test_what_was_cancelled_while_it_waited_takes_no_slot() -> None:
    slots, frame = RunSlots(1), a_frame()
    slots.admit(ready(frame, 0, 1, 2))
    frame.states[1] = CANCELLED
    slots.ended((frame, 0))
    assert numbers(slots.admit(())) == [2]


def test_nobody_waits_once_the_last_was_cancelled_and_a_slot_is_free() -> None:
    slots, frame = RunSlots(1), a_frame()
    slots.admit(ready(frame, 0, 1))
    frame.states[1] = CANCELLED
    slots.ended((frame, 0))
    slots.admit(())
    assert not slots.are_waiting


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


def test_the_next_attempt_of_what_left_a_thread_behind_has_a_slot_of_its_own() -> None:
    slots, frame = RunSlots(2), a_frame()
    later = Later(slots)
    slots.admit(ready(frame, 0))
    returned = slots.keep((frame, 0))
    slots.ended((frame, 0))
    slots.admit(ready(frame, 0, 1))
    slots.ended((frame, 0))
    assert numbers(slots.admit(())) == [1]
    returned()
    later.go_round()
    assert numbers(slots.admit(ready(frame, 2, 3))) == [2]


def test_a_thread_of_a_firing_without_a_slot_keeps_none() -> None:
    slots, frame = RunSlots(1), a_frame()
    slots.keep((frame, 0))()
    assert numbers(slots.admit(ready(frame, 0, 1))) == [0]


# the end of the run


def test_nobody_waits_once_the_run_has_ended() -> None:
    slots, frame = RunSlots(1), a_frame()
    slots.admit(ready(frame, 0, 1))
    slots.close()
    assert not slots.are_waiting


def test_a_thread_that_returns_after_the_run_has_ended_disturbs_nothing() -> None:
    slots, frame = RunSlots(1), a_frame()
    later = Later(slots)
    slots.admit(ready(frame, 0))
    returned = slots.keep((frame, 0))
    slots.close()
    returned()
    assert later.steps == []
