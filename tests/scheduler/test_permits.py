"""Permits: the slots of a firing, held until it and every thread that it left behind have ended (S9.2)."""

from __future__ import annotations

import math
import threading

from dataflow.core.limits import TAKEN, Gate
from dataflow.scheduler.admission import Permit


class Waiting:
    """Waits in line for a gate."""

    def wake(self) -> None:
        """Leave it: the test asks the gate."""


def is_free(gate: Gate) -> bool:
    return gate.take(Waiting()) == TAKEN


def taken(gate: Gate) -> Permit:
    """Take a slot of a gate."""
    assert is_free(gate)
    return Permit(gate)


def test_the_firing_and_each_of_its_threads_hold_it() -> None:
    assert Permit(None).drop()
    permit = Permit(None)
    permit.keep()
    permit.keep()
    assert [permit.drop() for _ in range(3)] == [False, False, True]


def test_the_last_hold_gives_the_slot_of_a_gate_back() -> None:
    gate = Gate(1)
    permit = taken(gate)
    permit.keep()
    permit.drop()
    assert gate.take(Waiting()) == math.inf
    other = Gate(1)
    taken(other).drop()
    assert is_free(other)


def test_of_many_threads_exactly_one_is_the_last() -> None:
    permit, last = Permit(None), list[bool]()
    for _ in range(99):
        permit.keep()
    start = threading.Barrier(10)

    def let_go() -> None:
        start.wait()
        for _ in range(10):
            last.append(permit.drop())

    threads = [threading.Thread(target=let_go) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(last), last.count(True)) == (100, 1)
