"""Runs that ask, as a whole: failed and mended, a hundred at once, in many processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from dataflow import DataflowError, ExecutionContext, Flow, Message, Result, RunFailed, Store, node
from tests.behaviour.asks import Home, Place, homes, in_a_process
from tests.behaviour.nodes import counted, inc, tallying
from tests.behaviour.table import states_of

# B09 (ii): a failed run is mended and resumed


def broken(world: dict[str, bool], done: anyio.Event | None = None) -> Flow:
    @node(name="a")
    @counted
    async def first() -> str:
        if done is not None:
            done.set()
        return "A"

    @node(name="b")
    @counted
    async def second() -> str:
        if done is not None:
            await done.wait()
        if not world["is_mended"]:
            raise KeyError("k")
        return "B"

    @node(name="c")
    @counted
    async def third() -> str:
        if not world["is_mended"]:
            await anyio.sleep_forever()
        return "C"

    with Flow("parallel") as parallel:
        for name, step in (("a", first), ("b", second), ("c", third)):
            parallel.output(name, parallel.add(step).out)
    with Flow("f") as f:
        block = f.add(parallel)
        for name in ("a", "b", "c"):
            f.output(name, getattr(block.out, name))
    return f


async def test_a_failed_run_keeps_its_finished_work_if_it_has_a_store(tmp_path: Path) -> None:
    for home in homes(tmp_path):
        world = {"is_mended": False}
        with tallying() as tally:
            with pytest.raises(RunFailed) as failed:
                await home.placed(broken(world, anyio.Event())).run()
            assert isinstance(failed.value.__cause__, KeyError)
            assert states_of(failed.value.result) == {
                "parallel": "failed",
                "parallel/a": "done",
                "parallel/b": "failed",
                "parallel/c": "cancelled",
            }
            world["is_mended"] = True
            if home.place == "result":
                with pytest.raises(DataflowError, match="DF0822"):
                    await home.resume(broken(world), failed.value.result, {})
                continue
            result = await home.resume(broken(world), failed.value.result, {})
        assert dict(result.outputs) == {"a": "A", "b": "B", "c": "C"}
        assert (tally.paths.count("parallel/a"), tally.paths.count("parallel/b")) == (1, 2)


# B14: a hundred runs of one flow object at once, in one store


async def chat(context: ExecutionContext, message: str, answer: str) -> ExecutionContext:
    return context.append(Message("user", message), Message("assistant", answer))


async def history(context: ExecutionContext) -> list[list[str]]:
    return [[message.role, message.content] for message in context.message_history]


def hundred() -> Flow:
    with Flow("hundred") as f:
        message = f.input("message", str)
        answer = f.ask(str, "Answer?", show=message)
        talked = f.add(chat, context=f.context("main"), message=message, answer=answer.out)
        f.output("history", f.add(history, context=talked.out).out)
        with f.loop(limit=3) as rounds:
            number = rounds.carry(f.input("v", int))
            number.next(f.add(inc, x=number.out).out)
        f.output("v", number.final)
    return f


@pytest.mark.parametrize("place", ["memory", "sqlite"])
async def test_a_hundred_runs_of_one_flow_object_share_nothing(place: Place, tmp_path: Path) -> None:
    home, results = Home(place, tmp_path), dict[int, Result]()
    flow = home.placed(hundred())
    before = flow.to_dict()

    async def play(number: int) -> None:
        paused = await flow.run(message=f"m{number}", v=number)
        assert paused.asks[0].show == f"m{number}"
        results[number] = await flow.resume(paused.run_id, {"ask": f"re:m{number}"})

    async with anyio.create_task_group() as group:
        for number in range(100):
            group.start_soon(play, number)
    assert {number: dict(result.outputs) for number, result in results.items()} == {
        number: {
            "v": number + 3,
            "history": [["user", f"m{number}"], ["assistant", f"re:m{number}"]],
        }
        for number in range(100)
    }
    assert len({result.run_id for result in results.values()}) == 100
    assert flow.to_dict() == before
    store: Any = home.store()
    assert {run.status for run in store.runs()} == {"completed"}
    assert len(store.runs()) == 100
    for result in results.values():
        store.hold(result.run_id).release()  # nobody owns it any more


# B22: a new process for each answer

DRAFTS: Final = """
import sys
import anyio
from dataflow import Store
from tests.behaviour.asking_flows import approved_drafts
from tests.behaviour.nodes import tallying

async def main(run, *answer):
    flow = approved_drafts().using(store=Store.sqlite("runs.db"))
    with tallying() as tally:
        if run:
            decision, note = answer
            given = {"decision": decision, "note": note} if note else decision
            [ask] = [one.id for one in (await flow.resume(run)).asks]
            result = await flow.resume(run, {ask: given})
        else:
            result = await flow.run()
    print(result.run_id, result.status, *(ask.show for ask in result.asks))
    print(dict(result.outputs), *tally.paths, sep="|")

anyio.run(main, *sys.argv[1:])
"""


def test_a_pause_in_a_loop_asks_in_each_round_with_a_process_for_each_answer(tmp_path: Path) -> None:
    told, ran = in_a_process(DRAFTS, tmp_path, "")
    run, *rest = told.split()
    assert (rest, ran) == (["paused", "d1"], "{}|drafts[0]/draft")
    told, ran = in_a_process(DRAFTS, tmp_path, run, "reject", "r1")
    assert told.split() == [run, "paused", "d2"]
    assert ran == "{}|drafts[0]/no|drafts[0]/over|drafts[0]/both|drafts[1]/draft"
    told, ran = in_a_process(DRAFTS, tmp_path, run, "reject", "r2")
    assert told.split() == [run, "paused", "d3"]
    told, ran = in_a_process(DRAFTS, tmp_path, run, "approve", "")
    assert told.split() == [run, "completed"]
    log = [["d1", "reject", "r1"], ["d2", "reject", "r2"], ["d3", "approve", ""]]
    assert ran.partition("|")[0] == str({"log": log})
    journal = Store.sqlite(tmp_path / "runs.db").records(run)
    exits = [record.data for record in journal if record.kind == "loop_exited"]
    assert ['"iterations":3' in data and '"reason":"condition"' in data for data in exits] == [True]
