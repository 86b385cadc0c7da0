"""What a run goes on with, whichever record is the last of its journal (S11.3)."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest

from dataflow import Failure, Flow, Lazy, RunFailed, collect, each, race
from dataflow.stores import Record
from tests.properties.ledger import Ledger

CALLED: list[str] = []


@pytest.fixture(autouse=True)
def nothing_called() -> None:
    CALLED.clear()


async def one() -> int:
    CALLED.append("one")
    return 1


async def fails(number: int) -> int:
    CALLED.append("fails")
    raise ValueError(str(number))


async def told(failure: Failure | object) -> str:
    CALLED.append("told")
    return str(failure)


async def same(number: int) -> int:
    return number


async def lazily(number: int, wanted: Lazy[int]) -> int:
    return number + wanted


def same_key(number: int) -> str:
    return "k"


async def some() -> list[int]:
    return [1, 2]


async def after(number: int) -> int:
    CALLED.append("after")
    return number


def last_of(records: Sequence[Record], kind: str, path: str) -> int:
    return max(record.seq for record in records if (record.kind, record.path) == (kind, path))


def of(records: Sequence[Record], path: str) -> list[str]:
    return [record.kind for record in records if record.path == path]


async def test_an_ask_that_was_answered_as_the_process_died_is_told_to_have_ended() -> None:
    ledger = Ledger()
    with Flow("asking") as flow:
        flow.output("out", flow.ask(int, "how many?").out)
    paused = await flow.using(store=ledger).run()
    await flow.using(store=ledger).resume(paused.run_id, {"ask": 3})
    store = ledger.kept(last_of(ledger.journal(), "ask_answered", "ask"))
    result = await flow.using(store=store).resume(paused.run_id)
    assert dict(result.outputs) == {"out": 3}
    assert of(store.journal(), "ask") == ["node_started", "ask_opened", "ask_answered", "node_finished"]


def failing() -> Flow:
    """Ask behind a node that takes a failure which the flow does not get over."""
    with Flow("failing") as flow:
        broken = flow.add(fails, number=flow.add(one).out)
        taken = flow.add(told, failure=broken.out)
        flow.output("sum", flow.add(after, number=broken.out).out)
        flow.output("answer", flow.ask(str, "what now?", show=taken.out).out)
    return flow.using(errors="continue", store=Ledger())


async def test_a_paused_run_fails_with_its_failures_and_then_repeats_what_failed() -> None:
    flow = failing()
    paused = await flow.run()
    with pytest.raises(RunFailed) as raised:
        await flow.resume(paused.run_id, {"ask": "go on"})
    assert dict(raised.value.result.outputs) == {"answer": "go on"}
    assert [(failure.path, failure.type) for failure in raised.value.failures] == [("fails", "ValueError")]
    assert CALLED == ["one", "fails", "told"]
    CALLED.clear()
    again = await flow.resume(paused.run_id)
    assert again.status == "paused"
    assert CALLED == ["fails", "told"]


async def test_what_is_done_stands_though_something_fails_as_the_run_is_restored() -> None:
    """A map with equal keys fails without anything being called."""
    ledger = Ledger()
    with Flow("keys") as flow:
        listed = flow.add(some)
        flow.output("items", collect(flow.add(same, number=each(listed.out, key=same_key)).out))
        flow.output("after", flow.add(after, number=flow.add(one).out).out)
    with pytest.raises(RunFailed):
        await flow.using(store=ledger, errors="continue").run()
    store = ledger.kept(last_of(ledger.journal(), "node_finished", "after"))
    for _ in range(2):
        with pytest.raises(RunFailed, match="DF0816 same:"):
            await flow.using(store=store).resume(store.run)
    assert CALLED == ["one", "after"]
    assert of(store.journal(), "after") == ["node_started", "node_finished"]


async def test_a_loop_that_has_failed_before_is_not_taken_to_have_failed_again() -> None:
    """The run pauses inside it meanwhile."""
    is_mended = False

    async def unsteady(number: int) -> int:
        if not is_mended:
            raise ValueError("not yet")
        return number

    with Flow("mended") as flow:
        first = flow.add(one)
        with flow.loop(name="rounds", limit=1) as rounds:
            number = rounds.carry(first.out)
            asked = flow.ask(int, "how many?", show=flow.add(unsteady, number=number.out).out)
            number.next(asked.out)
            last = rounds.result(asked.out)
        flow.output("last", last)
    flow = flow.using(store=Ledger())
    with pytest.raises(RunFailed) as raised:
        await flow.run()
    is_mended = True
    paused = await flow.resume(raised.value.result.run_id)
    assert [ask.id for ask in paused.asks] == ["rounds[0]/ask"]
    result = await flow.resume(paused.run_id, {"rounds[0]/ask": 5})
    assert dict(result.outputs) == {"last": 5}


async def test_what_was_asked_for_from_a_map_that_is_done_is_done() -> None:
    """Only its items have read the node, through a lazy port."""
    with Flow("lazy") as flow:
        wanted = flow.add(one)
        items = flow.add(lazily, number=each(flow.add(some).out), wanted=wanted.out)
        flow.output("items", collect(items.out))
        flow.output("answer", flow.ask(int, "how many?").out)
    flow = flow.using(store=Ledger())
    paused = await flow.run()
    result = await flow.resume(paused.run_id, {"ask": 1})
    assert result.states["one"] == "done"
    assert CALLED == ["one"]


async def test_what_was_done_before_its_race_was_decided_is_done() -> None:
    """Replay decides the race first, since its winner needs less."""
    was_kept = anyio.Event()

    async def kept(number: int) -> int:
        was_kept.set()
        return number

    async def winner() -> int:
        await was_kept.wait()
        return 3

    with Flow("raced") as flow:
        exits = flow.when(flow.add(one).out, lambda number: number > 0)
        keeping = flow.add(kept, number=flow.add(same, number=exits.yes).out)
        loser = flow.add(same, number=exits.no)
        flow.after(loser, keeping.done)
        flow.output("first", race(loser.out, flow.add(winner).out))
        flow.output("answer", flow.ask(int, "how many?").out)
    flow = flow.using(store=(ledger := Ledger()))
    paused = await flow.run()
    result = await flow.resume(paused.run_id, {"ask": 1})
    assert (result.states["kept"], result.outputs["first"]) == ("done", 3)
    assert of([*ledger.records(paused.run_id)], "kept") == ["node_started", "node_finished"]
