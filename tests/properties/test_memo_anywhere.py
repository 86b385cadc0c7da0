"""Random flows come to the same with memos anywhere, and call their nodes no more often (S13.1)."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

import anyio
from hypothesis import given
from hypothesis import strategies as st

from dataflow import EventKind, Flow, ProcessMemo, RunFailed
from dataflow.stores import Store
from tests.properties.cases import Nested, noted
from tests.properties.effort import LONGEST, chooses, flows, pace
from tests.properties.node_functions import recording
from tests.properties.playing import Played
from tests.properties.random_flows import Program, programs

REACHES = ("off", "run", "process", "store")


def nodes_in(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Go through the nodes of a document that call a function, those inside others included."""
    todo = [document]
    for block in todo:  # grows while it is walked
        for placed in block["nodes"].values():
            todo.extend(placed[kind] for kind in ("loop", "map", "flow") if kind in placed)
            if placed.get("type", "").startswith("t."):
                yield placed


def with_memos(document: dict[str, Any], choose: random.Random) -> dict[str, Any]:
    """Give nodes a memo, but for those that fail in their first attempts: these are not pure."""
    remembered = copy.deepcopy(document)
    for placed in nodes_in(remembered):
        if not placed.get("config", {}).get("first"):
            placed["policy"] = {**placed.get("policy", {}), "memo": choose.choice(REACHES)}
    return remembered


async def play(flow: Flow, program: Program, choose: random.Random) -> Played:
    """Run a flow; what was remembered counts as fired."""
    with recording(pace(choose)) as record:
        try:
            async with flow.start(**program.inputs) as run:
                async for event in run.events():
                    if event.kind is EventKind.MEMO_HIT:
                        record.fired[event.path, 1] += 1
                result = await run
        except RunFailed as failed:
            return Played(failed.result, record.fired, tuple(failed.failures))
        return Played(result, record.fired)


@flows(120)
@given(programs(), chooses, st.sampled_from(("process", "memo", "store")))
async def test_with_outcomes_in_memory_or_a_store(program: Program, choose: random.Random, kept: str) -> None:
    case = Nested(Program(with_memos(program.document, choose), program.inputs))
    noted(case)
    keeper: Any = ProcessMemo() if kept == "process" else Store.memory()
    flow = case.flow.using(
        **case.program.document["using"], **{"store" if kept == "store" else "memo": keeper}
    )
    for _ in range(2):
        with anyio.fail_after(LONGEST):
            case.hold(await play(flow, program, choose))
