"""Gates: slots and starts per second, first come, first served (S15.1)."""

from __future__ import annotations

import math
import threading

from dataflow.core.limits import TAKEN, Gate


class Waiting:
    """Waits in line and counts how often it was woken."""

    def __init__(self) -> None:
        self.woken = 0

    def wake(self) -> None:
        self.woken += 1


class Clock:
    """A clock that stands still unless it is set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_as_many_pass_as_there_are_slots() -> None:
    gate = Gate(2)
    assert [gate.take(Waiting()) for _ in range(3)] == [TAKEN, TAKEN, math.inf]


def test_a_slot_given_back_wakes_the_first_of_the_line_alone() -> None:
    gate, first, second = Gate(1), Waiting(), Waiting()
    gate.take(Waiting())
    gate.take(first)
    gate.take(second)
    gate.release()
    assert (first.woken, second.woken) == (1, 0)
    assert gate.take(first) == TAKEN


def test_nobody_passes_who_is_not_the_first_of_the_line() -> None:
    gate, first = Gate(1), Waiting()
    gate.take(Waiting())
    gate.take(first)
    gate.release()
    assert gate.take(Waiting()) == math.inf
    assert gate.take(first) == TAKEN


def test_who_leaves_the_line_lets_the_next_one_come() -> None:
    gate, first, second = Gate(1), Waiting(), Waiting()
    gate.take(Waiting())
    gate.take(first)
    gate.take(second)
    gate.release()
    gate.leave(first)
    assert second.woken == 1
    assert gate.take(second) == TAKEN


def test_two_slots_given_back_are_taken_by_two() -> None:
    gate, first, second = Gate(2), Waiting(), Waiting()
    for one in (Waiting(), Waiting(), first, second):
        gate.take(one)
    gate.release()
    gate.release()
    assert gate.take(first) == TAKEN
    assert second.woken == 1
    assert gate.take(second) == TAKEN


def test_leaving_a_line_that_one_does_not_stand_in_changes_nothing() -> None:
    gate, first = Gate(1), Waiting()
    gate.take(Waiting())
    gate.take(first)
    gate.leave(Waiting())
    assert first.woken == 0


def test_starts_are_apart_counted_from_when_one_has_begun() -> None:
    clock = Clock()
    gate, first, second = Gate(None, 2, clock), Waiting(), Waiting()
    assert gate.take(first) == TAKEN
    assert gate.take(second) == math.inf  # the first has not begun yet
    clock.now = 3.0
    gate.started()
    assert second.woken == 1
    assert gate.take(second) == 0.5
    clock.now = 3.4
    assert gate.take(second) == 3.5 - 3.4
    clock.now = 3.5
    assert gate.take(second) == TAKEN


def test_a_start_that_never_came_does_not_count() -> None:
    clock = Clock()
    gate, second = Gate(None, 2, clock), Waiting()
    gate.take(Waiting())
    gate.take(second)
    gate.release(has_begun=False)
    assert second.woken == 1
    assert gate.take(second) == TAKEN


def test_another_slot_given_back_does_not_end_the_wait_for_a_start() -> None:
    clock = Clock()
    gate, third = Gate(2, 2, clock), Waiting()
    gate.take(Waiting())
    gate.started()
    clock.now = 1.0
    gate.take(Waiting())
    gate.take(third)
    gate.release()
    assert (third.woken, gate.take(third)) == (0, math.inf)


def test_threads_never_get_more_than_there_are() -> None:
    gate, lock, changed = Gate(3), threading.Lock(), threading.Condition()
    inside, peak, done = 0, 0, []

    class Thread(threading.Thread):
        def wake(self) -> None:
            with changed:
                changed.notify_all()

        def run(self) -> None:
            nonlocal inside, peak
            for _ in range(50):
                with changed:
                    changed.wait_for(lambda: gate.take(self) == TAKEN)
                with lock:
                    inside += 1
                    peak = max(peak, inside)
                with lock:
                    inside -= 1
                gate.release()
            done.append(self)

    threads = [Thread(daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(done) == 8
    assert peak <= 3
