"""The live tree on a terminal: a line for each node, as many as fit."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from rich.cells import cell_len
from rich.console import Console
from rich.live import Live
from rich.text import Text

from dataflow.base.wording import counted, visible
from dataflow.cli.board import Board
from dataflow.cli.output import duration, is_terminal, one_line
from dataflow.core.states import NodeState

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    from dataflow.cli.board import Row
    from dataflow.compiler.plan import FlowPlan
    from dataflow.core.events import Event
    from dataflow.durable.journal_view import Past

__all__ = ["Tree", "can_be_live", "describe"]

STYLES: Final = {
    NodeState.RUNNING: "cyan",
    NodeState.PAUSED: "bold magenta",
    NodeState.DONE: "green",
    NodeState.FAILED: "bold red",
    NodeState.TIMED_OUT: "bold red",
    NodeState.CANCELLED: "yellow",
    NodeState.SKIPPED: "dim",
    NodeState.NOT_RUN: "dim",
    NodeState.WAITING: "dim",
}
REFRESHES: Final = 8  # a second
INDENT: Final = 2
MOST_NAME: Final = 40  # columns
MOST_PROMPT: Final = 60
MOST_COUNTED: Final = 2_000  # rows


def can_be_live() -> bool:
    """Return whether standard error is a terminal that can be redrawn."""
    console = Console(stderr=True)
    return is_terminal(sys.stderr) and console.is_interactive and not console.is_dumb_terminal


def describe(row: Row) -> str:
    """Describe the progress of a row: `5/7 done`, `round 2 of 5`, `running`."""
    state, done = row.state, row.ended[NodeState.DONE]
    ends = sum(row.ended.values())
    if state is NodeState.PAUSED and len(row.asking) == 1 and ends == 0:
        (prompt,) = row.asking.values()
        return f"asks  {one_line(visible(prompt), MOST_PROMPT)}".rstrip()
    if row.opens == "loop":
        if state is NodeState.RUNNING and row.rounds:
            return f"round {row.rounds}" + (f" of {row.limit}" if row.limit is not None else "")
        return f"{counted(row.rounds, 'round')}, {state.value}" if row.rounds else state.value
    if row.expected and (ends or row.names_items or row.opens != "map"):
        text = f"{done}/{row.expected} done"
    elif (
        row.opens == "map"
        and row.outcome is not NodeState.NOT_RUN
        and (row.items or (row.outcome and not ends))
    ):
        text = f"{counted(row.items, 'item')}, {state.value}"
    elif ends > 1 or len(row.asking) + ends > 1:
        text = f"{done} done"
    else:
        return state.value
    if row.asking:
        text += f", {len(row.asking)} asking"
    others = [
        f", {row.ended[other]} {other.value}"
        for other in (NodeState.FAILED, NodeState.TIMED_OUT, NodeState.CANCELLED, NodeState.SKIPPED)
        if row.ended[other]
    ]
    return text + "".join(others)


class Tree:
    """A progress that redraws itself while its block runs. Use it from one thread; another one draws."""

    #: Asks that were printed when they opened: none, as the tree disappears at the end of the run.
    asked: Final = frozenset[str]()

    def __init__(
        self,
        name: str,
        plan: FlowPlan,
        is_cancelling: Callable[[], bool],
    ) -> None:
        self._name = name
        self._board = Board(plan)
        self._is_cancelling = is_cancelling
        self._began = datetime.now(UTC)
        self._lock = threading.Lock()
        self._console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._live = Live(
            console=self._console,
            get_renderable=self.draw,
            refresh_per_second=REFRESHES,
            redirect_stdout=is_terminal(sys.stdout),
        )

    def recall(self, past: Past, readable: Callable[[Any], Any]) -> None:
        """Show what a resumed run has done before; `readable` decodes stored values for people."""
        self._board.recall(past, readable, datetime.now(UTC))

    def __enter__(self) -> Self:
        self._live.start(refresh=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):  # the terminal may have been closed
            self._live.stop()

    def see(self, event: Event) -> None:
        """Update the tree by an event."""
        with self._lock:
            self._board.apply(event)

    def running(self) -> list[str]:
        """Return the keys of running nodes, without rounds and items."""
        return list(self._board.active)

    def draw(self) -> Text:
        """Draw the current state in the current size of the terminal."""
        width, height = self._console.size
        now = datetime.now(UTC)
        with self._lock:
            lines = [self._head(now), *self._rows(now, width, max(height - 3, 1))]
        for line in lines:
            line.truncate(width - 1, overflow="crop")
        return Text("\n", no_wrap=True, end="").join(lines)

    def _head(self, now: datetime) -> Text:
        text = f"{visible(self._name)}  {duration((now - self._began).total_seconds())}"
        return Text(text + ("  cancelling; once more ends at once" if self._is_cancelling() else ""))

    def _rows(self, now: datetime, width: int, most: int) -> list[Text]:
        board = self._board
        rows = board.select(most)
        if len(rows) < len(board.rows):
            rows = board.select(most - 1)
        names = [" " * INDENT * (row.depth + 1) + visible(row.name) for row in rows]
        column = min(max(map(cell_len, names), default=0), MOST_NAME, max(width - 22, 8))
        lines = [_line(name, row, now, column) for name, row in zip(names, rows, strict=True)]
        if len(rows) < len(board.rows):
            lines.append(Text(f"  and {_summary(board, rows)}", style="dim"))
        return lines


def _line(name: str, row: Row, now: datetime, column: int) -> Text:
    line = Text(name)
    line.truncate(column, overflow="crop", pad=True)
    line.append("  ").append(describe(row), STYLES.get(row.state, ""))
    if row.since is not None or row.spent or row.ended:
        line.append(f"  {duration(row.seconds(now))}", "dim")
    return line


def _summary(board: Board, shown: list[Row]) -> str:
    """Count the hidden rows by state."""
    hidden = len(board.rows) - len(shown)
    if len(board.rows) > MOST_COUNTED:  # counting would take longer than a redraw
        return f"{hidden} more"
    states = Counter(row.state for row in board.rows.values())
    states.subtract(row.state for row in shown)
    parts = [f"{states[state]} {state.value}" for state in STYLES if states[state]]
    return f"{hidden} more: " + ", ".join(parts)
