"""The live tree, on a terminal of its own."""

from __future__ import annotations

import os
import signal

from tests.cli.processes import EXAMPLES, Terminal


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
