"""F-C04, F-C05: answers and cancellations are acknowledged once committed; a second answer is refused."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from dataflow import AnswerRefused, Flow, Store, collect, each
from dataflow.cli.asks import read_answers
from dataflow.cli.output import Refused
from dataflow.inspection.open_asks import asks_of, ended_asks
from dataflow.scheduler.asks import EXPIRED

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import os, sys, anyio
from dataflow import Flow, Store

async def slow() -> int:
    await anyio.sleep(60)
    return 1

with Flow("f") as flow:
    flow.output("a", flow.ask(bool, "go on?", name="a").out)
    flow.output("b", flow.add(slow).out)

async def main():
    async with flow.using(store=Store.sqlite(sys.argv[1])).start() as run:
        async for event in run.events():
            if event.kind == "ask_opened":
                await (run.answer({"a": True}) if sys.argv[2] == "answer" else run.cancel())
                os._exit(9)

anyio.run(main)
"""


@pytest.mark.parametrize(
    ("call", "kind", "status"),
    [("answer", "ask_answered", "interrupted"), ("cancel", "run_finished", "cancelled")],
)
async def test_what_is_awaited_survives_the_end_of_the_process(
    tmp_path: Path, call: str, kind: str, status: str
) -> None:
    place = tmp_path / "runs.db"
    ended = await anyio.run_process([sys.executable, "-c", SCRIPT, str(place), call], check=False)
    assert ended.returncode == 9
    store = Store.sqlite(place)
    [run] = store.runs()
    assert kind in [record.kind for record in store.records(run.id)]
    assert run.status == status


async def test_answers_are_reported_in_the_order_of_the_calls() -> None:
    names = [str(number) for number in range(6)]
    with Flow("many") as flow:
        for name in names:
            flow.output(f"o{name}", flow.ask(bool, "?", name=name).out)
        flow.output("end", flow.add(same, x=flow.add(anyio.sleep_forever).out).out)
    called: list[str] = []
    answered: list[str] = []

    async def answer(name: str) -> None:
        called.append(name)
        await run.answer({name: True})

    async with flow.start() as run, anyio.create_task_group() as tasks:
        async for event in run.events():
            if event.kind == "ask_opened" and event.path == names[-1]:
                for name in names:
                    tasks.start_soon(answer, name)
            if event.kind == "ask_answered":
                answered.append(event.path)
            if len(answered) == len(names):
                break
        await run.cancel()
    assert called == answered
    assert run.status == "cancelled"


async def same(x: Any) -> Any:
    return x


def plain() -> Flow:
    with Flow("plain") as flow:
        flow.output("first", flow.ask(bool, "?", name="first").out)
        flow.output("second", flow.ask(bool, "?", name="second").out)
    return flow


def looped() -> Flow:
    with Flow("looped") as flow:
        with flow.loop(limit=2) as loop:
            carried = loop.carry(True)
            carried.next(flow.ask(bool, "?", name="q", show=carried.out).out)
        flow.output("o", carried.final)
    return flow


def mapped() -> Flow:
    with Flow("mapped") as flow:
        item = each([True, False])
        flow.output("o", collect(flow.ask(bool, "?", name="q", show=flow.add(same, x=item).out).out))
    return flow


@pytest.mark.parametrize("is_stored", [True, False], ids=["store", "no store"])
@pytest.mark.parametrize("made", [plain, looped, mapped])
async def test_a_second_answer_is_refused_as_one(made: Any, is_stored: bool) -> None:
    flow = made().using(store=Store.memory()) if is_stored else made()
    result = await flow.run()
    first = result.asks[0].id
    result = await flow.resume(result.run_id if is_stored else result, {first: True})
    for id, code in ((first, "DF0829"), ("other", "DF0828")):
        with pytest.raises(AnswerRefused) as refused:
            await flow.resume(result.run_id if is_stored else result, {id: False})
        assert refused.value.problem.code == code


async def test_an_ask_that_has_expired_says_so_in_a_resumed_run() -> None:
    with Flow("late") as flow:
        flow.output("first", flow.ask(bool, "?", name="first", expires=0.001, default=True).out)
        flow.output("second", flow.ask(bool, "?", name="second").out)
    store = Store.memory()
    kept = flow.using(store=store)
    result = await kept.run()
    while "first" not in result.outputs:
        result = await kept.resume(result.run_id)
    with pytest.raises(AnswerRefused) as refused:
        await kept.resume(result.run_id, {"first": False})
    assert refused.value.problem == EXPIRED
    ended = partial(ended_asks, store, result.run_id)
    with pytest.raises(Refused) as refused_too:
        read_answers(result.run_id, [], ["first=false"], ended)
    assert [problem.code for problem in refused_too.value.problems] == ["DF1119"]


@pytest.mark.parametrize("store", [Store.memory, None], ids=["store", "no store"])
async def test_an_answer_is_applied_when_it_is_acknowledged(store: Any) -> None:
    gate = anyio.Event()

    async def waits() -> int:
        await gate.wait()
        return 1

    with Flow("f") as flow:
        flow.output("a", flow.ask(bool, "?", name="a").out)
        flow.output("b", flow.add(waits).out)
    async with flow.using(store=store() if store else None).start() as run:
        async for event in run.events():
            if event.kind == "ask_opened":
                await run.answer({"a": True})
                with pytest.raises(AnswerRefused) as refused:
                    await run.answer({"a": True})
                assert refused.value.problem.code == "DF0829"
                gate.set()
        assert (await run).outputs == {"a": True, "b": 1}


async def test_a_command_says_so_too() -> None:
    store = Store.memory()
    flow = plain().using(store=store)
    run = (await flow.run()).run_id
    await flow.resume(run, {"first": True})
    for id, code in (("first", "DF1429"), ("other", "DF1406")):
        with pytest.raises(Refused) as refused:
            read_answers(run, asks_of(store, run), [f"{id}=true"], partial(ended_asks, store, run))
        assert [problem.code for problem in refused.value.problems] == [code]


@pytest.mark.parametrize("given", [7, "seven"])
async def test_an_answer_to_an_ask_that_is_asked_again_takes_one_call(given: Any) -> None:
    store = Store.memory()
    result = await constants(1).using(store=store).run()
    result = await constants(2).using(store=store).resume(result.run_id, {"q": given}, edited="recompute")
    if given == 7:
        assert (result.status, dict(result.outputs)) == ("completed", {"o": 7})
    else:  # what the new ask takes is known once it is open
        assert [ask.show for ask in result.asks] == [2]
        assert ["DF0601" in text for text in result.warnings] == [True]


def constants(number: int) -> Flow:
    with Flow("asking") as flow:
        flow.output("o", flow.ask(int, "?", name="q", show=flow.add(same, x=number).out).out)
    return flow


async def test_an_answer_to_an_ask_that_is_not_asked_again_is_warned_of() -> None:
    store = Store.memory()
    first = chosen(1).using(store=store)
    result = await first.run()
    result = await chosen(2).using(store=store).resume(result.run_id, {"q": 7}, edited="recompute")
    assert result.status == "completed"
    assert any("DF0828" in text or "DF0829" in text for text in result.warnings)


def is_one(x: int) -> bool:
    return x == 1


def chosen(number: int) -> Flow:
    with Flow("chosen") as flow:
        way = flow.when(flow.add(same, x=number).out, is_one)
        flow.output("o", flow.ask(int, "?", name="q", show=way.yes).out)
    return flow
