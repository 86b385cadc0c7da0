"""Frames: what they share until they write to it can never be written to (S2.4)."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

import pytest

from dataflow import Flow, race
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


def test_no_other_part_of_a_new_frame_is_shared_with_the_next() -> None:
    one, other = a_frame(), a_frame()
    shared = {name for name in Frame.__slots__ if getattr(one, name) is getattr(other, name)}
    plain = {
        "plan", "number", "errors", "parent", "owner", "name", "position", "holders", "unsettled",
        "closed_by", "has_ended", "is_closing",
    }  # fmt: skip
    assert shared == {*plain, *MAPPINGS, *SETS, "failures"}


def test_what_one_frame_notes_is_in_it_and_not_in_another() -> None:
    for name, write in WRITERS.items():
        frame, other = a_frame(), a_frame()
        write(frame)
        assert (len(getattr(frame, name)), len(getattr(other, name))) == (1, 0)


def test_metadata_of_the_last_attempt_replace_those_of_an_earlier_one() -> None:
    frame = a_frame()
    frame.note_metadata(0, {})
    assert frame.metadata == {}
    frame.note_metadata(0, {"a": 1})
    frame.note_metadata(0, {})
    assert frame.metadata == {}


def test_frames_of_a_flow_with_a_race_share_nothing_that_it_writes_to() -> None:
    async def one() -> int:
        return 1

    with Flow() as f:
        f.output("o", race(f.add(one).out, f.add(one).out))
    plan = f.compile().root
    frame, other = Frame(plan, 0, "fail_fast"), Frame(plan, 1, "fail_fast")
    names = ["undemanded", "lost", "withdrawn", "pulling", "taken"]
    assert [name for name in names if getattr(frame, name) is getattr(other, name)] == []


def test_the_constants_of_a_plan_are_not_written_to() -> None:
    plan = ScopePlan(initial=[1], waits=[2], states=bytearray(1), demanded=1)
    frame = Frame(plan, 0, "fail_fast")
    frame.values[0] = frame.waits[0] = frame.states[0] = 7
    assert (plan.initial, plan.waits, plan.states) == ([1], [2], bytearray(1))


def test_a_frame_that_has_let_go_takes_no_value_any_more() -> None:
    frame = a_frame()
    frame.release()
    with pytest.raises(TypeError):
        frame.values[0] = 1
