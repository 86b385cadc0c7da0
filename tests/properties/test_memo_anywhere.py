"""Random flows come to the same with memos anywhere, and call their nodes no more often (S13.1)."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import anyio
from hypothesis import assume, given, note

from dataflow import EventKind, Flow, ProcessMemo, RunFailed
from dataflow.stores import Store
from tests.properties.node_functions import recording
from tests.properties.playing import Expected, Played, expect, flow_of, hold
from tests.properties.random_flows import Program, programs
from tests.properties.test_against_reference import LONGEST, chooses, flows, pace

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


async def play(flow: Flow, program: Program, choose: random.Random) -> tuple[Played, int]:
    """Run a flow; what was remembered counts as fired. Returns how often that was, too."""
    with recording(pace(choose)) as record:
        hits = 0
        try:
            async with flow.start(**program.inputs) as run:
                async for event in run.events():
                    if event.kind is EventKind.MEMO_HIT:
                        hits += 1
                        record.fired[event.path, 1] += 1
                result = await run
        except RunFailed as failed:
            return Played(failed.result, record.fired, tuple(failed.failures)), hits
        return Played(result, record.fired), hits


async def hold_twice(expected: Expected, program: Program, choose: random.Random, **using: Any) -> None:
    document = with_memos(program.document, choose)
    note(f"inputs: {json.dumps(program.inputs)}\ndocument: {json.dumps(document)}")
    settings = flow_of(document).settings
    flow = flow_of(document).using(
        errors=settings.errors, max_concurrency=settings.max_concurrency, limits=settings.limits,
        timeout=settings.timeout, **using,
    )  # fmt: skip
    for _ in range(2):
        with anyio.fail_after(LONGEST):
            played, _ = await play(flow, program, choose)
        hold(expected, played)


@flows(60)
@given(programs(), chooses)
async def test_with_outcomes_in_memory(program: Program, choose: random.Random) -> None:
    expected = expect(program)
    assume(expected.is_decided)
    await hold_twice(expected, program, choose, memo=ProcessMemo())


@flows(60)
@given(programs(), chooses)
async def test_with_outcomes_in_a_store(program: Program, choose: random.Random) -> None:
    expected = expect(program)
    assume(expected.is_decided)
    is_journaled = choose.random() < 0.5
    store = Store.memory()
    await hold_twice(expected, program, choose, **{"store" if is_journaled else "memo": store})
