"""The picture of how costs grow."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measuring import Cell, Figures
from benchmarks.plot import PLOTTED, SIZES, draw
from benchmarks.questions import QUESTIONS
from tests.support.processes import modules_after


def test_a_picture_has_a_panel_for_each_question(tmp_path: Path) -> None:
    figures = Figures({Cell(name, size, "asyncio"): [1.0 * size] for name in PLOTTED for size in SIZES})
    path = tmp_path / "cost.svg"
    draw([QUESTIONS[name] for name in PLOTTED], figures, path)
    drawn = path.read_text(encoding="utf-8")
    assert [name for name in PLOTTED if f"<!-- {name} -->" not in drawn] == []


def test_matplotlib_is_loaded_only_for_a_picture() -> None:
    assert "matplotlib" not in modules_after("import benchmarks.__main__")
