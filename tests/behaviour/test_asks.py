"""The table of asks: each row in each home of runs, answered at once and one by one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.behaviour.asks import PICKS, AskCase, homes, play
from tests.behaviour.cases_asks import ASKS


@pytest.mark.parametrize("case", ASKS, ids=lambda case: case.id)
async def test_a_flow_asks_as_its_row_says(case: AskCase, subtests: pytest.Subtests, tmp_path: Path) -> None:
    for name, pick in PICKS.items():
        for home in homes(tmp_path):
            with subtests.test(f"{home.place}, {name}"):
                await play(case, home, pick, checkpoints=2 if name == "the first" else 0)


def test_each_row_has_an_id_of_its_own() -> None:
    assert [id for id, times in Counter(case.id for case in ASKS).items() if times > 1] == []
