"""The tables and pictures of the benchmarks, and counted instructions."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.counted import COUNTED
from benchmarks.counting import Cost, costs_of
from benchmarks.measuring import Cell, Figures, cells_of, measure
from benchmarks.plot import PLOTTED, SIZES, draw
from benchmarks.question import Question, Way
from benchmarks.questions import QUESTIONS
from benchmarks.regression import Code, Verdict, compare, verdict
from benchmarks.table import peers_table, table


def nothing(_size: int) -> float:
    return 0.0


CHAIN = Question("chain", "chain of {:,}", "µs", (100, 1_000), dict.fromkeys(Way, nothing), 1.5, growth=1.05)
FIGURES = Figures(
    {
        Cell("chain", 100, "asyncio"): [1.0, 9.0, 1.2], Cell("chain", 1_000, "asyncio"): [12.0],
        Cell("chain", 1_000, "Fast"): [24.0], Cell("chain", 1_000, "Slow"): [1_234.5],
    },
    {Cell("chain", 100, "trio"): "it broke"},
)  # fmt: skip


def test_a_cell_is_the_median_of_the_rounds_and_growth_a_row_of_its_own() -> None:
    """Missing ones are dashes."""
    _, first, *_, growth = table([CHAIN], FIGURES)
    assert first == ["chain of 100", "µs", "≤ 1.5", "1.20", "failed", "–", "–", "–"]
    assert growth == ["growth of chain from 100 to 1,000", "exponent", "≤ 1.05", "2.00", "–", "–", "–", "–"]


def test_the_fastest_peer_stands_beside_with_how_many_times_its_figure_is_ours() -> None:
    head, first, second, growth = table([CHAIN], FIGURES, ["Slow", "Fast"])
    assert [row[-2:] for row in (head, first, second, growth)] == [
        ["fastest peer", "× ours"], ["–", "–"], ["Fast 24.0", "2.0"], ["–", "–"],
    ]  # fmt: skip


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


def test_a_picture_has_a_panel_for_each_question(tmp_path: Path) -> None:
    figures = Figures({Cell(name, size, "asyncio"): [1.0 * size] for name in PLOTTED for size in SIZES})
    path = tmp_path / "cost.svg"
    draw([QUESTIONS[name] for name in PLOTTED], figures, path)
    drawn = path.read_text(encoding="utf-8")
    assert [name for name in PLOTTED if f"<!-- {name} -->" not in drawn] == []


def test_costs_are_read_from_what_the_process_told() -> None:
    told = "chain ours 10 7\nchain ours 20 8\nchain baseline 10 9\nchain baseline 20 10\n"
    totals = {"7": 1_000, "8": 4_000, "9": 500, "10": 600}
    assert costs_of(told, totals) == {"chain": Cost(300.0, 10.0)}


def test_a_ratio_is_compared() -> None:
    expected = {
        (10.0, 10.0): Verdict.HELD, (11.4, 10.0): Verdict.HELD, (11.6, 10.0): Verdict.DEARER,
        (8.6, 10.0): Verdict.HELD, (8.4, 10.0): Verdict.CHEAPER, (10.0, None): Verdict.NEW,
    }  # fmt: skip
    assert {pair: verdict(*pair) for pair in expected} == expected


def test_what_became_dearer_fails_with_its_figures_and_what_to_do() -> None:
    text, code = compare(
        {"chain": Cost(1_200.0, 100.0), "loop": Cost(900.0, 100.0)}, {"chain": 10.0, "loop": 9.0}
    )
    assert code is Code.DEARER
    assert re.search(r"^chain: .*12\.0 times.* 20 % more than the stored 10\.0", text, re.MULTILINE)
    assert "in a commit that says why in docs/performance.md" in text
    assert "loop:" not in text


def test_every_kind_of_firing_and_building_is_counted() -> None:
    assert set(COUNTED) == {
        "chain",
        "fan-out",
        "layered",
        "diamonds",
        "loop",
        "map",
        "live",
        "run",
        "building",
    }
