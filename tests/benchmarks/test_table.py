"""The table as text."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.measuring import Cell, Figures, cells_of, measure
from benchmarks.question import Question, Way
from benchmarks.questions import QUESTIONS
from benchmarks.table import peers_table, table


def nothing(_size: int) -> float:
    return 0.0


CHAIN = Question("chain", "chain of {:,}", "µs", (100, 1_000), dict.fromkeys(Way, nothing), 1.5, growth=1.05)
FIGURES = Figures(
    {
        Cell("chain", 100, "asyncio"): [1.0, 9.0, 1.2],
        Cell("chain", 1_000, "asyncio"): [12.0],
        Cell("chain", 1_000, "Fast"): [24.0],
        Cell("chain", 1_000, "Slow"): [1_234.5],
    },
    {Cell("chain", 100, "trio"): "it broke"},
)


def test_a_cell_is_the_median_of_the_rounds_and_growth_a_row_of_its_own() -> None:
    """Missing ones are dashes."""
    _, first, *_, growth = table([CHAIN], FIGURES)
    assert first == ["chain of 100", "µs", "≤ 1.5", "1.20", "failed", "–", "–", "–"]
    assert growth == ["growth of chain from 100 to 1,000", "exponent", "≤ 1.05", "2.00", "–", "–", "–", "–"]


def test_the_fastest_peer_stands_beside_with_how_many_times_its_figure_is_ours() -> None:
    head, first, second, growth = table([CHAIN], FIGURES, ["Slow", "Fast"])
    assert [row[-2:] for row in (head, first, second, growth)] == [
        ["fastest peer", "× ours"],
        ["–", "–"],
        ["Fast 24.0", "2.0"],
        ["–", "–"],
    ]


def test_the_table_of_peers_has_what_any_of_them_was_asked() -> None:
    assert peers_table([CHAIN], FIGURES, ["Slow", "Fast"]) == [
        ["workload", "unit", "dataflow", "Slow", "Fast"],
        ["chain of 1,000", "µs", "12.0", "1,234", "24.0"],
    ]


def test_a_cell_that_fails_is_told_with_its_error_and_not_tried_again() -> None:
    told: list[str] = []
    cell = Cell("chain", 1, "none", tuple(cells_of([QUESTIONS["chain"]])[0].command[:-1]))
    figures = measure([cell], 2, told.append)
    assert len(told) == 1
    assert "missing 1 required positional argument: 'way'" in figures.failures[cell]


def test_the_stored_ratios_are_readable() -> None:
    stored = json.loads(
        Path(__file__).parents[2].joinpath("benchmarks/ratios.json").read_text(encoding="utf-8")
    )
    assert all(isinstance(ratio, float) for ratios in stored.values() for ratio in ratios.values())
