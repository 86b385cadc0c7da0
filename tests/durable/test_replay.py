"""What remains valid when a run is resumed, and what is done again, attempts included (S9.1, S11.3, S12)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Final

import anyio
import pytest

from dataflow import (
    DataflowError,
    EventKind,
    Failure,
    Flow,
    Retry,
    RunFailed,
    StoreError,
    collect,
    each,
    node,
    this_firing,
)
from dataflow.diagnostics.stores import RECORD_CUT
from dataflow.stores import Record, Store
from dataflow.stores.memory import MemoryStore
from tests.properties.ledger import Ledger
from tests.support.steady import jumping
from tests.support.stored_runs import (
    asking_flow,
    earlier,
    retold,
)


class TestWhatCanBeResumed:
    async def test_a_run_given_by_its_id_needs_a_store(self) -> None:
        with pytest.raises(DataflowError, match=r"DF0505 run 20260101T000000Z-00000000:"):
            await asking_flow().resume("20260101T000000Z-00000000")

    async def test_a_run_of_an_unreadable_journal_stays_as_it_was(self) -> None:
        store = Store.memory()
        paused = await asking_flow(store).run()
        spoilt = retold(store, paused.run_id, lambda one: replace(one, data="{") if one.seq == 3 else one)
        with pytest.raises(StoreError, match=r"DF1116 .*: record 3 "):
            await asking_flow(spoilt).resume(paused.run_id, {"ask": 22})
        assert spoilt.find(paused.run_id).status == "paused"

    async def test_a_torn_record_is_dropped_with_a_warning(self) -> None:
        store = Store.memory()
        paused = await asking_flow(store).run()
        last = max(record.seq for record in store.records(paused.run_id))
        torn = retold(store, paused.run_id, lambda one: replace(one, data="{") if one.seq == last else one)
        again = await asking_flow(torn).resume(paused.run_id)
        assert again.warnings == (str(RECORD_CUT()),)
        assert (await asking_flow(torn).resume(again, {"ask": 22}))["o"] == 42


class TestAttempts:
    """Attempts are counted through all sittings, and waits go on where they were (S9.1)."""

    async def interrupted(self, retry: Retry, failures: int) -> tuple[Flow, MemoryStore, list[int], str]:
        store, attempts = Store.memory(), list[int]()

        async def flaky() -> int:
            attempts.append(this_firing().attempt)
            if len(attempts) <= failures:
                raise LookupError("not yet")
            return len(attempts)

        with Flow("flaky") as f:
            f.output("o", f.add(node(retries=retry)(flaky)).out)
        async with f.using(store=store).start() as run:
            async for event in run.events():
                if event.kind is EventKind.ATTEMPT_FAILED:
                    run.cancel()
        [failed] = [record.seq for record in store.records(run.id) if record.kind == "attempt_failed"]
        killed = retold(store, run.id, lambda one: one if one.seq <= failed else None)
        return f, killed, attempts, run.id

    def test_the_rest_of_a_wait_is_waited_for(self) -> None:
        f, store, _, run = anyio.run(self.interrupted, Retry(3, backoff="fixed", first=600), 1)

        async def main() -> float:
            begun = anyio.current_time()
            await f.using(store=retold(store, run, earlier(100))).resume(run)
            return anyio.current_time() - begun

        assert jumping(main) == pytest.approx(500, abs=20)

    async def test_a_failed_run_has_all_its_attempts_again(self) -> None:
        f, store, attempts, run = await self.interrupted(Retry(1, backoff="fixed", first=600), 9)
        flow = f.using(store=retold(store, run, earlier(700)))
        with pytest.raises(RunFailed):
            await flow.resume(run)
        async with flow.resuming(run) as again:
            async for event in again.events():
                if event.kind is EventKind.ATTEMPT_FAILED:
                    again.cancel()  # another attempt would follow in 600 s
            assert (await again).status == "cancelled"
        assert attempts == [1, 2, 3]


class TestTime:
    """The time of a run counts through all its sittings; waiting for answers is none of it (S9.2, S11.2)."""

    async def paused(self, elapsed: float, most: float) -> tuple[Flow, str]:
        store = Store.memory()
        paused = await asking_flow(store).run()

        def change(record: Record) -> Record:
            if record.kind != "run_paused":
                return record
            return replace(record, data=json.dumps({**json.loads(record.data), "elapsed": elapsed}))

        other = retold(store, paused.run_id, change)
        return asking_flow().using(store=other, timeout=most), paused.run_id

    async def test_a_run_whose_time_is_over_fails_when_it_is_resumed(self) -> None:
        flow, run = await self.paused(700, 600)
        with pytest.raises(RunFailed, match="600 s"):
            await flow.resume(run, {"ask": 22})

    async def test_the_time_continues_where_it_was(self) -> None:
        flow, run = await self.paused(300, 600)
        assert (await flow.resume(run, {"ask": 22}))["o"] == 42
        flow, run = await self.paused(300, 600)
        async with flow.resuming(run) as again:
            told = [event.data async for event in again.events() if event.kind is EventKind.RUN_PAUSED]
        assert 300 <= told[0]["elapsed"] < 600


async def fails(x: int) -> int:
    raise ValueError(str(x))


async def told(failure: Failure | object) -> str:
    return "told"


async def same(text: str) -> str:
    return text


async def at_last(text: str) -> str:
    if "~" not in this_firing().path:
        raise ValueError("not yet")
    return text


async def third(xs: list[int], b: int, c: str) -> int:
    if "~3" not in this_firing().path:
        raise ValueError("not yet")
    return sum(xs) + b


async def after(number: int) -> int:
    return number


def at_last_inside() -> Flow:
    """Wire a map, a loop and a flow node inside one of three attempts, each of which fails behind them."""
    with Flow("innermost") as innermost:
        innermost.output("y", innermost.add(same, text=innermost.input("text", str)).out)
    with Flow("inner") as inner:
        number = inner.input("x", int)
        listed = collect(inner.add(after, number=each([1, 2])).out)
        with inner.loop(name="rounds", limit=2) as rounds:
            carried = rounds.carry(number)
            carried.next(inner.add(node(after).with_(name="next"), number=carried.out).out)
            last = rounds.result(carried.out)
        nested = inner.add(innermost, text="deep")
        inner.output("y", inner.add(third, xs=listed, b=last, c=nested.out.y).out)
    with Flow("outer") as outer:
        outer.output("o", outer.add(inner.with_(retries=3), x=1).out.y)
    return outer


DOCUMENT: Final = """
dataflow: 1
name: outer
nodes:
  inner:
    flow:
      dataflow: 1
      inputs: {text: {type: string}}
      nodes:
        same: {type: tests.durable.test_replay:same, inputs: {text: $in.text}}
        at_last: {type: tests.durable.test_replay:at_last, inputs: {text: same}}
      outputs: {y: at_last}
    values: {text: said}
    policy: {retry: {retries: 1}}
  behind: {type: tests.durable.test_replay:same, inputs: {text: inner.y}}
outputs: {o: behind}
"""


async def test_whichever_record_is_the_last_the_states_of_earlier_attempts_are_known(
    subtests: pytest.Subtests, tmp_path: Path
) -> None:
    document = tmp_path / "outer.yaml"
    document.write_text(DOCUMENT)
    for name, flow in (("the builder", at_last_inside()), ("a document", Flow.load(document))):
        with subtests.test(name):
            ledger = Ledger()
            whole = await flow.using(store=ledger).run()
            assert {path.partition("/")[0] for path in whole.states} >= {"inner", "inner~2"}
            for count in range(1, len(ledger.journal())):
                result = await flow.using(store=ledger.kept(count)).resume(ledger.run)
                assert (count, result.states) == (count, whole.states)


async def test_the_states_of_earlier_attempts_are_known_after_a_pause() -> None:
    with Flow("inner") as inner:
        text = inner.add(at_last, text=inner.input("text", str))
        inner.output("y", inner.add(same, text=inner.ask(str, "what?", show=text.out).out).out)
    with Flow("outer") as outer:
        outer.output("o", outer.add(inner.with_(retries=1), text="said").out.y)
    flow = outer.using(store=Ledger())
    paused = await flow.run()
    assert paused.states["inner/at_last"] == "failed"
    result = await flow.resume(paused.run_id, {"inner~2/ask": "so"})
    earlier = {path: state for path, state in paused.states.items() if path.startswith("inner/")}
    assert earlier.items() <= result.states.items()
    told = "inner/at_last is failed since an earlier sitting, and was not opened again: "
    assert result.why("inner/at_last").startswith(told)
