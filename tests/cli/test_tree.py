"""The progress of a run: lines, and the live tree on a terminal of its own."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from dataflow import Flow
from dataflow.cli import main
from dataflow.cli.board import Board, Row
from dataflow.cli.lines import Lines
from dataflow.cli.tree import Tree, describe
from dataflow.core.events import Event, EventKind
from dataflow.core.states import NodeState
from dataflow.durable.journal_view import Past, PastFiring
from dataflow.stores import Store
from tests.cli import examples
from tests.cli.conftest import Window
from tests.cli.processes import EXAMPLES, Terminal
from tests.support.source import home_of

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


def told(story: Story) -> list[str]:
    return [describe(row) for row in story.board.rows.values()]


def test_a_row_says_how_far_it_has_come() -> None:
    story = Story(examples.rounds)
    assert told(story) == ["waiting"] * 6
    story.start("split").start("refine", "loop")
    assert told(story)[:2] == ["running", "running"]
    story.end("split").tell(EventKind.LOOP_ROUND, "refine", round=0).start("refine[0]/shout", "map")
    assert told(story)[:4] == ["done", "round 1 of 5", "waiting", "running"]
    story.tell(EventKind.MAP_OPENED, "refine[0]/shout", items=2).start("refine[0]/shout[0]")
    assert told(story)[3] == "0/2 done"
    story.end("refine[0]/shout[0]").end("refine[0]/shout[1]", "skipped").end("refine[0]/shout")
    assert told(story)[3] == "1/2 done, 1 skipped"
    story.end("refine[0]/count").end("refine[1]/count").end("refine[2]/count", "failed").end("refine")
    assert told(story)[1] == "1 round, done"
    assert told(story)[5] == "2 done, 1 failed"


def test_a_tree_shows_every_node(window: Callable[..., None]) -> None:
    window()
    tree = Tree("the\x1bname", examples.rounds.compile(), lambda: False)
    head, *rows = tree.draw().plain.splitlines()
    assert head.startswith("the\\x1bname  0.0")
    assert [row.split() for row in rows] == [
        [name, "waiting"] for name in ("split", "refine", "split_2", "shout", "join", "count")
    ]
    assert rows[2].startswith("    split_2")


@pytest.mark.parametrize(("columns", "lines"), [(30, 24), (30, 3), (12, 8), (5, 2), (300, 10)])
def test_a_tree_fits_into_its_terminal(window: Callable[..., None], columns: int, lines: int) -> None:
    window(columns, lines)
    drawn = Tree("a long name for a flow", examples.wide.compile(), lambda: True).draw().plain.splitlines()
    assert len(drawn) <= max(lines - 1, 2)
    assert max(map(len, drawn)) < columns


def test_of_too_many_nodes_a_tree_gives_only_the_number(
    window: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    window()
    monkeypatch.setattr(home_of(Tree), "MOST_COUNTED", 50)
    tree = Tree("wide", examples.wide.compile(), lambda: False)
    assert tree.draw().plain.splitlines()[-1] == "  and 40 more"
    window(80, 10)
    monkeypatch.setattr(home_of(Tree), "MOST_COUNTED", 60)
    tree = Tree("wide", examples.wide.compile(), lambda: False)
    assert tree.draw().plain.splitlines()[-1] == "  and 54 more: 54 waiting"
    tree._board = Story().start("a").board
    assert tree.running() == ["a"]


def test_a_run_on_a_terminal_ends_with_the_whole_tree(
    window: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    window()
    assert main(["run", f"{EXAMPLES}:rounds"]) == 0
    assert isinstance(sys.stderr, Window)
    drawn = sys.stderr.getvalue()
    assert "8/8 done" in drawn
    assert drawn.splitlines()[-1].startswith("\x1b[?25hcompleted in")
    assert capsys.readouterr().out == "text: AN OX A FOX\ntitle: words\n"


def test_an_open_ask_is_told_with_its_prompt_and_does_not_run() -> None:
    story = Story().start("q").tell(EventKind.ASK_OPENED, "q", prompt="Publish\x1b it?")
    assert told(story) == ["asks  Publish\\x1b it?"]
    assert (story.board.rows["q"].since, list(story.board.active)) == (None, [])
    assert told(story.tell(EventKind.ASK_ANSWERED, "q").end("q")) == ["done"]
    story = Story().start("m", "map").tell(EventKind.MAP_OPENED, "m", items=3).end("m[0]")
    for number in (1, 2):
        story.start(f"m[{number}]").tell(EventKind.ASK_OPENED, f"m[{number}]", prompt="Take it?")
    assert told(story) == ["1/3 done, 2 asking"]


def test_loops_without_a_limit_and_maps_whose_name_no_node_has_are_counted() -> None:
    row = Row("l", 0, opens="loop", rounds=7)
    row.began("l", START)
    assert describe(row) == "round 7"
    row = Row("m", 0, opens="map")
    assert describe(row) == "waiting"
    row.began("m", START)
    assert describe(row) == "running"
    row.items = 3
    assert describe(row) == "3 items, running"
    row.stopped("m", START)
    row.outcome = NodeState.DONE
    assert describe(row) == "3 items, done"


def test_the_tree_of_a_run_that_goes_on_shows_what_is_settled(
    window: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    window()
    assert main(["run", f"{EXAMPLES}:review"]) == 3
    (run,) = Store.sqlite(".dataflow/runs.db").runs()
    window()
    assert main(["resume", run.id, "title=Ahoi"]) == 3
    assert isinstance(sys.stderr, Window)
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", sys.stderr.getvalue()).split("review  ")[-1]
    rows = {line.split()[0]: line.split()[1:] for line in drawn.splitlines()[1:] if re.match("  [a-z]", line)}
    assert rows["hello"][0] == rows["title"][0] == "done"
    assert rows["publish"][:3] == ["asks", "Publish", "it?"]


def test_what_is_settled_and_runs_again_is_not_counted_twice() -> None:
    past = Past("run", "runs.db")
    past.firings["again"] = PastFiring("loop", 1, state=NodeState.DONE)
    past.firings["again[0]/same"] = PastFiring("node", 1, state=NodeState.DONE)
    past.rounds["again"] = 1
    story = Story(examples.limited)
    story.board.recall(past, str, START)
    assert told(story)[:2] == ["1 round, done", "done"]
    story.start("again", "loop").tell(EventKind.LOOP_ROUND, "again", round=0)
    assert told(story)[0] == "round 1 of 2"
    assert told(story.start("again[0]/same").end("again[0]/same"))[1] == "done"


def test_what_was_settled_and_is_to_be_computed_again_waits() -> None:
    past = Past("run", "runs.db")
    past.firings["shout"] = PastFiring("node", 1, state=NodeState.DONE)
    story = Story(examples.review)
    story.board.recall(past, str, START)
    row = list(story.board.rows).index("shout")
    assert told(story)[row] == "done"
    story.tell(EventKind.RUN_RESUMED, "", forgotten=["shout"])
    assert told(story)[row] == "waiting"


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


def test_a_terminal_shows_a_tree_then_the_outputs_then_how_it_ended() -> None:
    with Terminal("run", f"{EXAMPLES}:rounds") as terminal:
        assert terminal.end() == 0
        screen = terminal.screen
    head, *rows, text, title, last = screen.lines
    assert head.startswith("rounds  ")
    assert "2 rounds, done" in rows[1]
    assert [row.split()[0] for row in rows] == ["split", "refine", "split_2", "shout", "join", "count"]
    assert "8/8 done" in rows[3]
    assert (text, title) == ("text: AN OX A FOX", "title: words")
    assert last.startswith("completed in ")
    assert screen.cursor


def test_a_narrow_low_terminal_without_colour_is_enough() -> None:
    environ = {"NO_COLOR": "1", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    with Terminal("run", f"{EXAMPLES}:wide", "--json", rows=8, columns=30, **environ) as terminal:
        assert terminal.end() == 0
        tree = terminal.raw.partition("{")[0]
    frames = tree.split("\x1b[2K\x1b[1A")
    assert max(frame.count("\n") for frame in frames) <= 8
    assert "\x1b[3" not in tree
    assert "wide" in tree
    assert "more: " in tree


def test_ctrl_c_cancels_and_leaves_the_terminal_as_it_was() -> None:
    with Terminal("run", f"{EXAMPLES}:waits") as terminal:
        terminal.read_until("begun")
        terminal.read_until("running")
        os.kill(terminal.process.pid, signal.SIGINT)
        assert terminal.end() == 130
        screen = terminal.screen
    assert screen.lines[-1] == "cancelled"
    assert "cancelled" in screen.lines[-2]
    assert screen.cursor
    assert "Traceback" not in terminal.raw


def test_a_second_ctrl_c_shows_the_cursor_again() -> None:
    with Terminal("run", f"{EXAMPLES}:swallows", "--no-store") as terminal:
        terminal.read_until("begun")
        os.kill(terminal.process.pid, signal.SIGINT)
        terminal.read_until("swallowed")
        os.kill(terminal.process.pid, signal.SIGINT)
        assert terminal.end() == 130
        assert terminal.raw.endswith("cancelled: ended at once, without waiting for swallow\r\n")
        assert terminal.screen.cursor


def test_events_on_a_terminal_are_not_drawn_over() -> None:
    with Terminal("run", f"{EXAMPLES}:greet", "Ada", "--events") as terminal:
        assert terminal.end() == 0
    assert "\x1b" not in terminal.raw
    assert '"node_finished"' in terminal.raw
