from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any

import pytest

from dataflow.cli.lines import Lines
from dataflow.core.events import Event, EventKind
from tests.cli.test_board import START


class Log:
    """Lines of a run in which each event takes half a second."""

    def __init__(self, capture: pytest.CaptureFixture[str], own: Collection[str] | None = None) -> None:
        self.lines = Lines(own=own)
        self._capture = capture
        self._number = 0

    def tell(self, kind: EventKind, path: str, **data: Any) -> Log:
        self._number += 1
        self.lines.see(
            Event(self._number, START + timedelta(seconds=self._number / 2), "run", kind, path, data)
        )
        return self

    def start(self, path: str) -> Log:
        return self.tell(EventKind.NODE_STARTED, path, type="node")

    def end(self, path: str, state: str = "done", **data: Any) -> Log:
        return self.tell(EventKind.NODE_FINISHED, path, state=state, **data)

    def read(self) -> list[list[str]]:
        return [line.split("  ") for line in self._capture.readouterr().err.splitlines()]


@pytest.fixture
def log(capsys: pytest.CaptureFixture[str]) -> Log:
    return Log(capsys)


def test_a_node_that_ended_has_a_line_with_its_path_and_time(log: Log) -> None:
    log.start("l[0]/a").start("b")
    assert log.lines.running() == ["l[0]/a", "b"]
    assert log.end("l[0]/a").end("b", "failed").read() == [
        ["done", "", "", " l[0]/a", "1.0 s"],
        ["failed", "", " b", "1.0 s"],
    ]
    assert log.lines.running() == []


def test_a_map_has_one_line_and_one_for_each_item_that_failed(log: Log) -> None:
    log.start("m").tell(EventKind.MAP_OPENED, "m", items=3)
    log.start("m[0]").end("m[0]").start("m[1]").end("m[1]", "failed").end("m[2]/inner", "timed_out")
    assert log.read() == [["failed", "", " m[1]", "0.5 s"], ["timed_out", "m[2]/inner"]]
    assert log.end("m").read() == [["done", "", "", " m", "3 items", "3.5 s"]]


ASK = {"prompt": "Publish it?", "schema": {"type": "boolean"}, "show": None, "expires": None}


def test_an_ask_has_a_line_when_it_opens_while_other_things_go_on(log: Log) -> None:
    log.start("slow").start("q").tell(EventKind.ASK_OPENED, "q", **ASK)
    assert log.lines.running() == ["slow"]
    log.tell(EventKind.ASK_OPENED, "q", **ASK).end("slow")
    assert log.read() == [["open", "q", "bool", "Publish it?"], ["done", "", "", " slow", "2.0 s"]]
    assert log.lines.asked == {"q"}
