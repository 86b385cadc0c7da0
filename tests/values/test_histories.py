"""Contexts are stored as the digest of their parent and what is new (S12.3)."""

from __future__ import annotations

from dataflow import ExecutionContext, Message, merged_context
from dataflow.core.context import history_of
from dataflow.values.classes import classes_of
from dataflow.values.reader import Reader
from dataflow.values.writer import Writer

CLASSES = classes_of([])


def grown(turns: int) -> list[ExecutionContext]:
    contexts = [ExecutionContext("c")]
    for turn in range(turns):
        contexts.append(contexts[-1].append(Message("user", f"turn {turn}")))
    return contexts


def test_appending_costs_what_is_appended() -> None:
    put: list[str] = []
    writer = Writer(CLASSES, lambda name, _: put.append(name))
    for context in grown(50):
        writer.write(context, "a.context")
    assert len(put) == len(set(put)) == 51


def test_what_was_taken_over_is_stored_with_what_it_comes_from() -> None:
    blobs: dict[str, bytes] = {}
    start = ExecutionContext("c").append(Message("user", "hi"))
    one, other = (start.append(Message("assistant", name)) for name in ("a", "b"))
    merged = merged_context([one, other], "append")
    stored = Writer(CLASSES, blobs.__setitem__).write(merged, "a.context")
    read = Reader(CLASSES, blobs.__getitem__, "runs.db").read(stored)
    assert read == merged
    taken = history_of(read).last
    assert taken.copy_of is not None
    assert (taken.copy_of.items, taken.copy_of.before) == (taken.items, history_of(read).first(1).last)
