"""Counted instructions, and what is said of them."""

from __future__ import annotations

import re

from benchmarks.counted import COUNTED
from benchmarks.counting import Cost, costs_of
from benchmarks.regression import Code, Verdict, compare, verdict


def test_costs_are_read_from_what_the_process_told() -> None:
    told = "chain ours 10 7\nchain ours 20 8\nchain baseline 10 9\nchain baseline 20 10\n"
    totals = {"7": 1_000, "8": 4_000, "9": 500, "10": 600}
    assert costs_of(told, totals) == {"chain": Cost(300.0, 10.0)}


def test_a_ratio_is_compared() -> None:
    expected = {
        (10.0, 10.0): Verdict.HELD,
        (11.4, 10.0): Verdict.HELD,
        (11.6, 10.0): Verdict.DEARER,
        (8.6, 10.0): Verdict.HELD,
        (8.4, 10.0): Verdict.CHEAPER,
        (10.0, None): Verdict.NEW,
    }
    assert {pair: verdict(*pair) for pair in expected} == expected


def test_what_became_dearer_fails_with_its_figures_and_what_to_do() -> None:
    text, code = compare(
        {"chain": Cost(1_200.0, 100.0), "loop": Cost(900.0, 100.0)}, {"chain": 10.0, "loop": 9.0}
    )
    assert code is Code.DEARER
    assert re.search(r"^chain: .*12\.0 times.* 20 % more than the stored 10\.0", text, re.MULTILINE)
    assert "in a commit that says why in docs/performance.md" in text
    assert "loop:" not in text


def test_what_became_cheaper_is_told_and_does_not_fail() -> None:
    text, code = compare({"chain": Cost(500.0, 100.0)}, {"chain": 10.0})
    assert code is Code.HELD
    assert re.search(r"^chain: .* 50 % less than the stored 10\.0", text, re.MULTILINE)


def test_every_kind_of_firing_and_building_is_counted() -> None:
    assert set(COUNTED) == {"chain", "fan-out", "layered", "diamonds", "loop", "map", "live", "building"}
