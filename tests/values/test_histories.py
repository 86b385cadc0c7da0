"""Contexts are stored as the digest of their parent and what is new (S12.3)."""

from __future__ import annotations

from dataflow import ExecutionContext, Message
from dataflow.values.classes import classes_of
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
