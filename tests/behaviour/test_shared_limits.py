"""A `Limit` object is shared by the runs that are given it, in threads and event loops too (S15.1)."""

from __future__ import annotations

import threading

import anyio
import pytest
from anyio.lowlevel import checkpoint

from dataflow import Flow, Limit, RunFailed, each, node
from tests.behaviour.table import states_of
from tests.behaviour.test_limits import InFlight, mapped


async def test_a_failure_leaves_no_slot_of_a_shared_limit_behind() -> None:
    shared, in_flight = Limit(2), InFlight()

    async def fails(x: int) -> None:
        await checkpoint()
        raise ValueError("no")

    with Flow("failing") as failing:
        failing.add(node(limit="web")(fails), x=each(list(range(9))))
    with pytest.raises(RunFailed):
        await failing.using(limits={"web": shared}).run()
    await mapped(in_flight, 5, limit="web").using(limits={"web": shared}).run()
    assert in_flight.most["item"] == 2


async def test_a_limit_given_to_two_flows_is_shared_by_their_runs() -> None:
    shared, in_flight = Limit(2), InFlight()
    flows = [mapped(in_flight, 8, limit="web").using(limits={"web": shared}) for _ in range(3)]
    async with anyio.create_task_group() as group:
        for one in (*flows, flows[0]):
            group.start_soon(one.run)
    assert in_flight.most["item"] == 2


async def test_a_number_is_a_limit_of_each_run() -> None:
    in_flight = InFlight()
    flow = mapped(in_flight, 4, limit="web").using(limits={"web": 1})
    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(flow.run)
    assert in_flight.most["item"] == 3


@pytest.mark.parametrize("most", [1, 3])
def test_a_limit_is_shared_by_runs_in_several_threads(most: int) -> None:
    shared, in_flight = Limit(most), InFlight()
    flow = mapped(in_flight, 20, limit="web").using(limits={"web": shared}, max_concurrency=4)
    results: list[list[int]] = []
    threads = [threading.Thread(target=lambda: results.append(flow.run_sync()["o"])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [list(range(20))] * 4
    assert in_flight.most["item"] <= most


async def test_a_run_without_a_slot_of_its_own_holds_up_no_other_run_at_a_shared_limit() -> None:
    """The limit comes free when the run that is first in line has no slot for its node any more."""
    limits: dict[str, Limit | int] = {"web": Limit(1)}
    first, second, begun, full_begun = (anyio.Event() for _ in range(4))

    async def holds_the_limit() -> None:
        begun.set()
        await first.wait()

    async def holds_the_run() -> None:
        full_begun.set()
        await second.wait()

    async def needs_both() -> None:
        """Wait for a slot of the run, and for the limit."""

    with Flow("holding") as holding:
        holding.add(node(limit="web")(holds_the_limit))
    with Flow("full") as full:
        full.add(node(limit="web")(needs_both))
        full.add(holds_the_run)
    in_flight = InFlight()
    async with holding.using(limits=limits).start():
        await begun.wait()
        async with full.using(max_concurrency=1, limits=limits).start() as run:
            await full_begun.wait()
            async with mapped(in_flight, 3, limit="web").using(limits=limits).start() as third:
                first.set()
                assert (await third)["o"] == [0, 1, 2]
            second.set()
            assert set(states_of(await run).values()) == {"done"}


async def test_a_run_cancelled_in_the_line_of_a_shared_limit_lets_the_next_one_come() -> None:
    shared, gate, begun, in_flight = Limit(1), anyio.Event(), anyio.Event(), InFlight()

    async def holds() -> None:
        begun.set()
        await gate.wait()

    with Flow("holding") as holding:
        holding.add(node(limit="web")(holds))
    async with holding.using(limits={"web": shared}).start() as first:
        await begun.wait()
        async with mapped(in_flight, 2, limit="web").using(limits={"web": shared}).start() as second:
            for _ in range(5):
                await checkpoint()
            second.cancel("enough")
            assert (await second).status == "cancelled"
        async with mapped(in_flight, 2, limit="web").using(limits={"web": shared}).start() as third:
            gate.set()
            assert (await third)["o"] == [0, 1]
        assert (await first).status == "completed"
