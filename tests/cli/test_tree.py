from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dataflow.cli import main
from dataflow.cli.board import Row
from dataflow.cli.tree import Tree, describe
from dataflow.core.events import EventKind
from dataflow.core.states import NodeState
from dataflow.durable.journal_view import Past, PastFiring
from dataflow.stores import Store
from tests.cli import examples
from tests.cli.conftest import Window
from tests.cli.processes import EXAMPLES
from tests.cli.test_board import START, Story
from tests.support.source import home_of


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
