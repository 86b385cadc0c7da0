"""The table of behaviours, on both event loops, with nodes that never wait and with nodes that do."""

from __future__ import annotations

from collections import Counter
from typing import Final

import pytest

from tests.behaviour.cases_branches import BRANCHES, CONDITIONS, SWITCHES
from tests.behaviour.cases_edges import EDGES
from tests.behaviour.cases_failures import ATTEMPTS, FAILURES
from tests.behaviour.cases_joins import DEAD_PORTS, JOINS
from tests.behaviour.cases_loops import LOOP_ALLS, LOOP_ENDS, LOOPS
from tests.behaviour.cases_maps import MAP_OPTIONS, MAPS
from tests.behaviour.cases_nesting import NESTED_LOOPS, NESTING
from tests.behaviour.cases_values import VALUES
from tests.behaviour.table import (
    Case,
    check_events,
    check_let_go,
    check_order,
    check_outcome,
    check_telling,
    letting_go,
    play,
    play_unheard,
)

TABLE: Final[tuple[Case, ...]] = (
    *ATTEMPTS, *BRANCHES, *CONDITIONS, *DEAD_PORTS, *EDGES, *FAILURES, *JOINS, *LOOPS, *LOOP_ALLS, *LOOP_ENDS,
    *MAPS, *MAP_OPTIONS, *NESTED_LOOPS, *NESTING, *SWITCHES, *VALUES,
)  # fmt: skip


#: The rows by the beginning of their ids: behind a colon is what differs in one value.
ROWS: Final[dict[str, list[Case]]] = {}
for _case in TABLE:
    ROWS.setdefault(_case.id.partition(":")[0], []).append(_case)


@pytest.mark.parametrize("row", ROWS)
async def test_a_flow_behaves_as_its_row_says(row: str, subtests: pytest.Subtests) -> None:
    """With nodes that wait or do not, with and without listeners, with values kept or released."""
    for case in ROWS[row]:
        with subtests.test(case.id):
            check_outcome(case, await play_unheard(case.flow(), case.inputs))
            for checkpoints in (0, 2):
                await check_row(case, checkpoints)
                await check_released(case, checkpoints)


async def check_row(case: Case, checkpoints: int) -> None:
    flow = case.flow()
    assert flow.check() == []
    played = await play(flow, case.inputs, checkpoints)
    check_outcome(case, played)
    check_events(case, played.events)
    check_telling(played)
    check_order(flow, played)


async def check_released(case: Case, checkpoints: int) -> None:
    flow = letting_go(case.flow())
    check_outcome(case, await play_unheard(flow, case.inputs, checkpoints))
    played = await play(flow, case.inputs, checkpoints)
    check_outcome(case, played)
    check_events(case, played.events)
    check_let_go(played.result)


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_flows_behave_the_same_on_trio(subtests: pytest.Subtests) -> None:
    for case in TABLE:
        with subtests.test(case.id):
            for checkpoints in (0, 2):
                await check_row(case, checkpoints)


def test_each_row_has_an_id_of_its_own() -> None:
    assert [id for id, times in Counter(case.id for case in TABLE).items() if times > 1] == []
