"""Contexts are stored as the digest of their parent and what is new (S12.3)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dataflow import ExecutionContext, Message, merged_context
from dataflow.core.context import history_of
from dataflow.durable.fork import blobs_in
from dataflow.errors import ValueRefused
from dataflow.stores.store import Record
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


def test_a_long_history_is_written_and_read_without_recursion() -> None:
    blobs: dict[str, bytes] = {}
    context = grown(5_000)[-1]
    stored = json.loads(json.dumps(Writer(CLASSES, blobs.__setitem__).write(context, "a.context")))
    assert Reader(CLASSES, blobs.__getitem__, "runs.db").read(stored) == context


def test_what_is_read_shares_its_parts() -> None:
    blobs: dict[str, bytes] = {}
    writer = Writer(CLASSES, blobs.__setitem__)
    start = ExecutionContext("c").append(Message("user", "hi"))
    branches = [start.append(Message("assistant", name)) for name in ("a", "b")]
    reader = Reader(CLASSES, blobs.__getitem__, "runs.db")
    one, other = [reader.read(writer.write(branch, "a.context")) for branch in branches]
    assert history_of(one).last.before is history_of(other).last.before
    assert (one, other) == tuple(branches)


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


def test_equal_messages_that_were_appended_apart_are_two_when_they_are_read() -> None:
    blobs: dict[str, bytes] = {}
    start = ExecutionContext("c").append(Message("user", "hi"))
    branches = [start.append(Message("assistant", "same")) for _ in range(3)]
    writer = Writer(CLASSES, blobs.__setitem__)
    reader = Reader(CLASSES, blobs.__getitem__, "runs.db")
    read = [reader.read(writer.write(branch, "a.context")) for branch in branches]
    assert [m.content for m in merged_context(read, "append").message_history] == ["hi", *["same"] * 3]


def test_what_is_copied_brings_what_a_merge_has_taken_over_from_where() -> None:
    blobs: dict[str, bytes] = {}
    start = ExecutionContext("c").append(Message("user", "hi"))
    merged = merged_context([start.append(Message("assistant", name)) for name in ("a", "b")], "append")
    stored = Writer(CLASSES, blobs.__setitem__).write(merged, "a.context")
    record = Record(1, "node_finished", "a", json.dumps(stored))
    assert blobs_in([record], blobs.__getitem__) == blobs


def test_a_message_that_cannot_be_stored_is_located_and_not_taken_for_written() -> None:
    context = grown(3)[-1].append(Message("user", {"a": print}))
    with pytest.raises(ValueRefused) as caught:
        Writer(CLASSES, lambda *_: None).write(context, "a.context")
    assert caught.value.place == 'a.context.message_history[3].content["a"]'
    content: list[Any] = [print]
    context = ExecutionContext("c").append(Message("user", content))
    blobs: dict[str, bytes] = {}
    writer = Writer(CLASSES, blobs.__setitem__)
    with pytest.raises(ValueRefused):
        writer.write(context, "a.context")
    content.clear()
    assert Reader(CLASSES, blobs.__getitem__, "runs.db").read(writer.write(context, "a.context")) == context


def test_messages_that_were_stored_before_tool_calls_were_known_are_read() -> None:
    stored = {"$": "dataflow:Message", "v": {"role": "assistant", "content": "hi"}}
    read = Reader(CLASSES, lambda _: b"", "runs.db").read(stored)
    assert read == Message("assistant", "hi", tool_calls=(), tool_call_id="", pin="")
