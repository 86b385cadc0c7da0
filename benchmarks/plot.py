"""A picture of how costs grow with the size, for the questions about which it can be asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.question import Question, Way

if TYPE_CHECKING:
    from benchmarks.measuring import Figures

__all__ = ["PLOTTED", "SIZES", "draw"]

#: The questions, and the sizes at which each is asked. Diamonds and rounds are three nodes each.
SIZES: Final = (100, 1_000, 10_000, 100_000)
PLOTTED: Final = ("chain", "fan-out", "layered", "diamonds", "loop", "map", "building", "building-layered")
COLUMNS: Final = 4
COLOURS: Final = {way: f"C{number}" for number, way in enumerate(Way)}
INCHES: Final = 3.6


def draw(questions: Sequence[Question], figures: Figures, path: Path) -> None:
    """Draw a panel for each question, both axes logarithmic; the ending of the path names the format."""
    from matplotlib.figure import Figure  # only for a picture

    columns = min(COLUMNS, len(questions))
    rows = -(-len(questions) // columns)
    figure = Figure(figsize=(INCHES * columns, INCHES * rows), layout="constrained")
    panels: Any = figure.subplots(rows, columns, squeeze=False).flat
    for panel, question in zip(panels, questions, strict=False):
        draw_panel(panel, question, figures)
    for unused in list(panels):
        unused.set_axis_off()
    figure.savefig(path)


def draw_panel(panel: Any, question: Question, figures: Figures) -> None:
    """Draw a line for each way, and the target."""
    for way in question.measures:
        points = [(size, figures.median(question.name, size, way)) for size in SIZES]
        known = [(size, cost) for size, cost in points if cost is not None]
        panel.plot(
            [size for size, _ in known], [cost for _, cost in known], "o-", color=COLOURS[way], label=way
        )
    if question.target is not None:
        panel.axhline(question.target, color="grey", linestyle=":", label="target")
    panel.set(xscale="log", yscale="log", title=question.name, xlabel="size", ylabel=question.unit)
    panel.legend(fontsize="x-small")
