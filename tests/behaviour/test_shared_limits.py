"""A `Limit` object is shared by the runs that are given it, in threads and event loops too (S15.1)."""

from __future__ import annotations

import threading

import anyio

from dataflow import Flow, Limit, node
from tests.behaviour.nodes import gated, one
from tests.behaviour.table import states_of
from tests.behaviour.test_limits import InFlight, mapped


async def test_a_limit_is_shared_by_runs_and_a_number_is_a_limit_of_each_run() -> None:
    for limit, most in ((Limit(2), 2), (1, 4)):
        in_flight = InFlight()
        flows = [mapped(in_flight, 8, limit="web").using(limits={"web": limit}) for _ in range(3)]
        async with anyio.create_task_group() as group:
            for flow in (*flows, flows[0]):
                group.start_soon(flow.run)
        assert in_flight.most["item"] == most


def test_a_limit_is_shared_by_runs_in_several_threads_and_event_loops() -> None:
    """S14.4: who is woken by the run of another thread continues in its own context."""
    for most in (1, 3):
        shared, in_flight, results = Limit(most), InFlight(), list[list[int]]()
        flow = mapped(in_flight, 20, limit="web").using(limits={"web": shared}, max_concurrency=4)

        async def run(flow: Flow = flow, results: list[list[int]] = results) -> None:
            results.append((await flow.run())["o"])

        backends = ("trio", "asyncio", "trio", "asyncio")
        threads = [threading.Thread(target=anyio.run, args=(run,), kwargs={"backend": b}) for b in backends]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [list(range(20))] * 4
        assert in_flight.most["item"] <= most


async def test_a_run_without_a_slot_of_its_own_holds_up_no_other_run_at_a_shared_limit() -> None:
    """The limit comes free when the run that is first in line has no slot for its node any more."""
    limits: dict[str, Limit | int] = {"web": Limit(1)}
    first, second, in_flight = anyio.Event(), anyio.Event(), InFlight()
    with Flow("holding") as holding:
        holding.add(gated(first).with_(limit="web"))
    with Flow("full") as full:
        full.add(node(one).with_(limit="web"))
        full.add(gated(second))
    async with holding.using(limits=limits).start():
        await anyio.wait_all_tasks_blocked()
        async with full.using(max_concurrency=1, limits=limits).start() as run:
            await anyio.wait_all_tasks_blocked()
            async with mapped(in_flight, 3, limit="web").using(limits=limits).start() as third:
                first.set()
                assert (await third)["o"] == [0, 1, 2]
            second.set()
            assert set(states_of(await run).values()) == {"done"}
