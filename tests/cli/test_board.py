from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from dataflow import Flow
from dataflow.cli.board import Board
from dataflow.core.events import Event, EventKind
from tests.cli import examples

START = datetime(2026, 1, 1, tzinfo=UTC)


class Story:
    """Tells a board what happens, one event a second."""

    def __init__(self, flow: Flow | None = None) -> None:
        self.board = Board(flow.compile() if flow is not None else None)
        self._seconds: Iterator[int] = count()

    def tell(self, kind: EventKind, path: str, **data: Any) -> Story:
        number = next(self._seconds)
        self.board.apply(Event(number, START + timedelta(seconds=number), "run", kind, path, data))
        return self

    def start(self, path: str, type: str = "node") -> Story:
        return self.tell(EventKind.NODE_STARTED, path, type=type)

    def end(self, path: str, state: str = "done") -> Story:
        return self.tell(EventKind.NODE_FINISHED, path, state=state)


def test_what_failed_runs_or_ended_last_is_chosen_first_with_what_it_stands_in() -> None:
    story = Story(examples.rounds)
    assert [row.key for row in story.board.select(2)] == ["split", "refine"]
    story.start("split").end("split").start("refine", "loop").start("refine[0]/join")
    assert [row.key for row in story.board.select(2)] == ["refine", "refine/join"]
    story.end("refine[0]/join", "failed").start("refine[0]/count")
    assert [row.key for row in story.board.select(3)] == ["refine", "refine/join", "refine/count"]
    assert [row.key for row in story.board.select(4)] == ["split", "refine", "refine/join", "refine/count"]


def test_only_what_ended_lately_is_remembered() -> None:
    story = Story()
    for number in range(150):
        story.end(f"n{number}")
    assert list(story.board.recent) == [f"n{number}" for number in range(50, 150)]
    assert len(story.board.select(10)) == 10
