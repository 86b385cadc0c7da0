"""Gates: slots and starts per second, first come, first served (S15.1)."""

from __future__ import annotations

import math

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


def full(slots: int) -> tuple[Gate, Waiting, Waiting]:
    """Return a gate without a free slot, and two that wait in its queue."""
    gate, first, second = Gate(slots), Waiting(), Waiting()
    assert [gate.take(Waiting()) for _ in range(slots)] == [TAKEN] * slots
    assert [gate.take(one) for one in (first, second)] == [math.inf] * 2
    return gate, first, second


def test_a_released_slot_wakes_the_first_of_the_queue_alone_and_is_for_it() -> None:
    gate, first, second = full(1)
    gate.release()
    assert (first.woken, second.woken) == (1, 0)
    assert gate.take(Waiting()) == math.inf
    assert gate.take(first) == TAKEN


def test_one_that_leaves_the_queue_lets_the_next_one_take() -> None:
    gate, first, second = full(1)
    gate.leave(Waiting())
    assert first.woken == 0
    gate.release()
    gate.leave(first)
    assert second.woken == 1
    assert gate.take(second) == TAKEN


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
