"""Of two tasks that resume a run at once exactly one has it (S11.2)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import anyio
import pytest

from dataflow import Flow
from dataflow.errors import RunTaken
from dataflow.runtime.result import Result
from dataflow.stores import Store

ROUNDS = 20


async def a() -> str:
    return "a"


async def resume(flow: Flow, run: str, came: list[Result], refused: anyio.Event) -> None:
    try:
        came.append(await flow.resume(run, {"ask": "yes"}))
    except RunTaken:
        refused.set()


async def test_of_two_tasks_that_resume_a_run_concurrently_one_has_it(
    subtests: pytest.Subtests, tmp_path: Path
) -> None:
    for store in (Store.memory(), Store.sqlite(tmp_path / "runs.db")):
        with subtests.test(store=repr(store)):
            await resume_twice(store)


async def resume_twice(store: Store) -> None:
    """Resume in two tasks; the one that has the run is busy until the other is refused."""
    lines: list[str] = []
    refused = anyio.Event()

    async def send(answer: str) -> str:
        lines.append(answer)
        await refused.wait()
        return answer

    with Flow("sending") as flow:
        asked = flow.ask(str, "send?", show=flow.add(a).out)
        flow.output("out", flow.add(send, answer=asked.out).out)
    flow = flow.using(store=store)
    for _ in range(ROUNDS):
        refused = anyio.Event()
        lines.clear()
        paused = await flow.run()
        came: list[Result] = []

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(resume, flow, paused.run_id, came, refused)
            tasks.start_soon(resume, flow, paused.run_id, came, refused)
        (result,) = came
        assert (result.status, dict(result.outputs), lines) == ("completed", {"out": "yes"}, ["yes"])
        kinds = Counter(record.kind for record in store.records(paused.run_id))
        assert kinds["run_resumed"] == 1
        assert store.find(paused.run_id).status == "completed"
