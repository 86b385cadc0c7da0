"""The table of asks: each row in each home of runs, answered at once and one by one, on both event loops."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.behaviour.asks import PICKS, PLACES, AskCase, Home, Place, play
from tests.behaviour.cases_asks import ASKS

each_place = pytest.mark.parametrize("place", PLACES)


@pytest.mark.parametrize(
    ("pick", "checkpoints"), [("all at once", 0), ("the first", 2), ("the last", 0)], ids=[*PICKS]
)
@each_place
@pytest.mark.parametrize("case", ASKS, ids=lambda case: case.id)
async def test_a_flow_asks_as_its_row_says(
    case: AskCase, place: Place, pick: str, checkpoints: int, tmp_path: Path
) -> None:
    await play(case, Home(place, tmp_path), PICKS[pick], checkpoints)


def test_each_row_has_an_id_of_its_own() -> None:
    assert [id for id, times in Counter(case.id for case in ASKS).items() if times > 1] == []
