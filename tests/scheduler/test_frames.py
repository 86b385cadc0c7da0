"""Frames: what they share until they write to it can never be written to (S2.4)."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

import pytest

from dataflow.base.failure import failure_of
from dataflow.compiler.plan import ScopePlan
from dataflow.core.states import Skip
from dataflow.scheduler.frames import Frame, OpenedFlow, Unhandled

MAPPINGS = ["attempts", "opened", "reasons", "metadata", "digests", "memos", "pulling", "taken"]
SETS = ["awaits", "dead_inputs", "undemanded", "lost", "withdrawn"]
SKIPPED = Skip("", "a reason")

#: What writes to a frame, and what it writes to.
WRITERS: dict[str, Callable[[Frame], object]] = {
    "dead_inputs": lambda frame: frame.note_dead_input(0),
    "awaits": lambda frame: frame.note_awaited(0),
    "reasons": lambda frame: frame.note_reason(0, SKIPPED),
    "opened": lambda frame: frame.note_opened(0, OpenedFlow()),
    "failures": lambda frame: frame.note_failures([unhandled()]),
    "metadata": lambda frame: frame.note_metadata(0, {"a": 1}),
    "attempts": lambda frame: frame.attempts_at(0),
    "digests": lambda frame: frame.note_digest(0, b"digest"),
    "memos": lambda frame: frame.note_memo(0, "told"),
}


PLAN = ScopePlan(initial=[None], waits=[0], states=bytearray(1), demanded=1)


def a_frame() -> Frame:
    return Frame(PLAN, 0, "fail_fast")


def unhandled() -> Unhandled:
    error = ValueError("bad")
    return Unhandled(0, failure_of(error, "a", "a", 1), error)


def test_what_a_new_frame_shares_refuses_to_be_written_to() -> None:
    frame = a_frame()
    for name in MAPPINGS:
        mapping: MutableMapping[Any, Any] = getattr(frame, name)
        with pytest.raises(AssertionError, match="written to by none"):
            mapping[0] = None
    assert [name for name in SETS if not isinstance(getattr(frame, name), frozenset)] == []
    assert frame.failures == ()


def test_what_one_frame_notes_is_in_it_and_not_in_another() -> None:
    for name, write in WRITERS.items():
        frame, other = a_frame(), a_frame()
        write(frame)
        assert (len(getattr(frame, name)), len(getattr(other, name))) == (1, 0)
