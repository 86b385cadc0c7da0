"""Cancelling a run in a store that nobody executes, and looking at one."""

from __future__ import annotations

import pytest

from dataflow import Flow, RunTaken, node
from dataflow.core.states import NodeState, RunStatus
from dataflow.durable.journal_view import fold
from dataflow.durable.ownership import cancel_stored
from dataflow.durable.replay import look_at
from dataflow.stores import Batch, Record, Store
from tests.behaviour.flow_parts import inc


def asking() -> Flow:
    """Make a flow that asks inside a loop."""
    flow = Flow("asking")
    with flow.loop(name="again", limit=3) as again:
        number = again.carry(0)
        more = flow.ask(int, "How many more?", name="more")
        again.until(more.out, bool)
        number.next(flow.add(inc, x=number.out).out)
        answer = again.result(more.out)
    flow.output("more", answer)
    return flow


def paused(store: Store) -> str:
    return asking().using(store=store).run_sync().run_id


async def test_a_cancelled_run_ends_from_the_inside_out_and_can_be_resumed() -> None:
    store = Store.memory()
    run = (await asking().using(store=store).run()).run_id
    before = fold(run, store.records(run), "runs.db")
    cancel_stored(store, run, "no longer needed")
    told = [(record.kind, record.path) for record in store.records(run, before.seq)]
    assert told == [
        ("ask_closed", "again[0]/more"),
        ("node_finished", "again[0]/more"),
        ("node_finished", "again"),
        ("run_finished", ""),
    ]
    after = fold(run, store.records(run), "runs.db")
    assert (after.status, store.find(run).status) == (RunStatus.CANCELLED, "cancelled")
    assert after.firings["again"].state is NodeState.CANCELLED
    assert after.firings["again"].reason == "no longer needed"
    assert after.elapsed == before.elapsed  # the time of waiting does not count
    assert (await asking().using(store=store).resume(run, {"again[0]/more": 7}))["more"] == 7


def test_a_run_whose_newest_record_was_cut_off_can_be_cancelled() -> None:
    store = Store.memory()
    run = paused(store)
    seq = fold(run, store.records(run), "runs.db").seq
    store.commit(run, Batch([Record(seq + 1, "node_star", "", "{")], status="running"))
    cancel_stored(store, run)
    assert fold(run, store.records(run), "runs.db").status is RunStatus.CANCELLED


def test_a_run_is_not_cancelled_while_somebody_executes_it_or_when_it_has_ended() -> None:
    store = Store.memory()
    run = paused(store)
    hold = store.hold(run)
    with pytest.raises(RunTaken, match="DF1101"):
        cancel_stored(store, run)
    hold.release()
    cancel_stored(store, run)
    with pytest.raises(RunTaken, match="DF1114"):
        cancel_stored(store, run)
    store.hold(run).release()  # it was given up


async def test_looking_at_a_run_restores_it_and_changes_nothing() -> None:
    store, flow = Store.memory(), Flow("skipping")
    ways = flow.when(flow.add(inc, x=0).out, lambda number: number > 1)
    first = flow.add(node(inc).with_(name="first"), x=ways.yes)
    flow.add(node(inc).with_(name="second"), x=first.out)
    flow.output("more", flow.ask(int, "How many?", name="more").out)
    run = (await flow.using(store=store).run()).run_id
    records = list(store.records(run))
    result = await look_at(flow.compile(), flow.settings, store, run)
    assert result.why("second").splitlines() == [
        "second is skipped",
        "  because second: port 'x' has no value",
        "  because first: port 'x' has no value",
        "  because when: exit 'yes' not taken",
    ]
    assert (list(store.records(run)), store.find(run).status) == (records, "paused")
