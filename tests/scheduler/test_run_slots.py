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
    assert numbers(RunSlots(3).admit(ready(a_frame(), 0, 1, 2, 3, 4))) == [0, 1, 2]


def test_none_starts_while_all_slots_are_taken() -> None:
    slots, frame = RunSlots(1), a_frame()
    slots.admit(ready(frame, 0))
    assert slots.admit(ready(frame, 1)) == []


def test_an_end_lets_one_start() -> None:
    slots, frame = RunSlots(2), a_frame()
    slots.admit(ready(frame, 0, 1, 2, 3))
    slots.ended((frame, 1))
    assert numbers(slots.admit(())) == [2]


def test_who_came_first_goes_before_what_has_just_become_ready() -> None:
    slots, frame = RunSlots(1), a_frame()
    slots.admit(ready(frame, 0, 1))
    slots.ended((frame, 0))
    assert numbers(slots.admit(ready(frame, 2))) == [1]


def test_all_are_served_in_the_order_in_which_they_came() -> None:
    slots, frame = RunSlots(1), a_frame()
    started = numbers(slots.admit(ready(frame, 3, 1)) + slots.admit(ready(frame, 2, 0)))
    while slots.are_waiting:
        slots.ended((frame, started[-1]))
        started += numbers(slots.admit(()))
    assert started == [3, 1, 2, 0]


def test_an_end_without_a_slot_gives_none_back() -> None:
    slots, frame = RunSlots(1), a_frame()
    slots.admit(ready(frame, 0, 1))
    slots.ended((frame, 5))
    assert slots.admit(()) == []


def test_an_end_that_is_told_twice_gives_one_slot_back() -> None:
    slots, frame = RunSlots(1), a_frame()
    slots.admit(ready(frame, 0, 1, 2))
    slots.ended((frame, 0))
    slots.ended((frame, 0))
    assert numbers(slots.admit(())) == [1]


def test_one_that_never_started_gives_its_slot_back() -> None:
    slots, frame = RunSlots(1), a_frame()
    slots.admit(ready(frame, 0, 1))
    slots.ended((frame, 0), has_begun=False)
    assert numbers(slots.admit(())) == [1]


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


def test_a_thread_that_runs_on_keeps_the_slot() -> None:
    slots, frame = RunSlots(1), a_frame()
    slots.admit(ready(frame, 0, 1))
    slots.keep((frame, 0))
    slots.ended((frame, 0))
    assert slots.admit(()) == []


def test_the_slot_comes_back_in_the_event_loop_when_the_thread_returns() -> None:
    slots, frame = RunSlots(1), a_frame()
    later = Later(slots)
    slots.admit(ready(frame, 0, 1))
    returned = slots.keep((frame, 0))
    slots.ended((frame, 0))
    thread = threading.Thread(target=returned)
    thread.start()
    thread.join()
    assert slots.admit(()) == []
    later.go_round()
    assert numbers(slots.admit(())) == [1]


def test_the_slot_comes_back_with_the_last_of_several_threads() -> None:
    slots, frame = RunSlots(1), a_frame()
    later = Later(slots)
    slots.admit(ready(frame, 0, 1))
    first, second = slots.keep((frame, 0)), slots.keep((frame, 0))
    slots.ended((frame, 0))
    first()
    later.go_round()
    assert slots.admit(()) == []
    second()
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
