"""Items in flight are bounded exactly, and begin in item order (S7.2)."""

from __future__ import annotations

from collections import defaultdict
from typing import Final, Literal

import pytest
from anyio import Event, wait_all_tasks_blocked

from dataflow import Failure, Flow, RunFailed, collect, each, node, race
from tests.behaviour.nodes import gated, inc, one, src, tallying
from tests.behaviour.table import states_of
from tests.support.steady import end_slices_after

ItemErrors = Literal["fail", "collect", "skip"]
HANDLED: Final[tuple[ItemErrors, ...]] = ("collect", "skip")
SQUARES: Final = [0, 1, 4, 9, 16]


class Gates:
    """Items that wait until they are let through, and how many were in flight at most."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.in_flight: set[int] = set()
        self.peak = 0
        self._open: defaultdict[int, Event] = defaultdict(Event)
        self._bad: set[int] = set()

    async def hold(self, x: int) -> int:
        self.begun.append(x)
        self.in_flight.add(x)
        self.peak = max(self.peak, len(self.in_flight))
        await self._open[x].wait()
        return x

    async def leave(self, x: int) -> int:
        self.in_flight.discard(x)
        if x in self._bad:
            raise ValueError(f"bad {x}")
        return x * x

    async def let(self, *items: int, bad: bool = False) -> None:
        """Let items through once nothing moves, and wait until nothing moves any more."""
        await wait_all_tasks_blocked()
        for item in items:
            if bad:
                self._bad.add(item)
            self._open[item].set()
        await wait_all_tasks_blocked()


def bounded(gates: Gates, most: int | None, items: int = 5, on_error: ItemErrors = "fail") -> Flow:
    with Flow() as f:
        item = each(list(range(items)), max_concurrency=most, on_error=on_error)
        f.output("o", collect(f.add(gates.leave, x=f.add(gates.hold, x=item).out).out))
    return f


async def test_items_begin_in_order_as_others_end() -> None:
    """Also in a flow node (B12h)."""
    for most, ends in ((1, (0, 1, 2, 3, 4)), (2, (1, 0, 3, 2, 4))):
        for is_nested in (False, True):
            gates = Gates()
            f = bounded(gates, most)
            if is_nested:
                inner = f
                with Flow() as f:
                    f.output("o", f.add(inner).out.o)
            async with f.start() as run:
                for number, ended in enumerate(ends):
                    await wait_all_tasks_blocked()
                    assert gates.begun == list(range(min(5, number + most)))
                    await gates.let(ended)
                assert ((await run)["o"], gates.peak) == (SQUARES, most)


async def test_an_item_is_in_flight_until_all_of_its_frame_has_ended() -> None:
    gates, tail = Gates(), Event()
    with Flow() as f:
        held = f.add(gates.hold, x=each([0, 1], max_concurrency=1))
        f.add(gated(tail), x=held.out)
        f.output("o", collect(f.add(gates.leave, x=held.out).out))
    async with f.start() as run:
        await gates.let(0)
        assert (gates.begun, gates.in_flight) == ([0], set())  # what is collected is there, the rest is not
        tail.set()
        await gates.let(1)
        assert (await run)["o"] == [0, 1]


async def test_an_item_that_fails_makes_room_for_the_next() -> None:
    for on_error in HANDLED:
        gates = Gates()
        async with bounded(gates, 1, 3, on_error).start() as run:
            await gates.let(0, bad=True)
            assert gates.begun == [0, 1]
            await gates.let(1)
            await gates.let(2, bad=True)
            result = await run
        left = [x.message if isinstance(x, Failure) else x for x in result["o"]]
        assert left == (["bad 0", 1, "bad 2"] if on_error == "collect" else [1])
        assert gates.peak == 1


async def test_items_that_have_not_begun_when_the_map_ends_never_begin() -> None:
    """When one fails it, or when the run is cancelled."""
    gates = Gates()
    async with bounded(gates, 2).start() as run:
        await gates.let(1, bad=True)
        with pytest.raises(RunFailed) as failed:
            await run
    assert gates.begun == [0, 1]
    assert states_of(failed.value.result) == {
        "hold": "failed", "hold[0]": "cancelled", "hold[0]/leave": "not_run",
        "hold[1]": "done", "hold[1]/leave": "failed",
    }  # fmt: skip
    gates = Gates()
    async with bounded(gates, 2).start() as run:
        await gates.let(0)
        run.cancel("enough")
        result = await run
    assert gates.begun == [0, 1, 2]
    assert (result.status, dict(result.outputs)) == ("cancelled", {})
    assert states_of(result) == {
        "hold": "cancelled", "hold[0]": "done", "hold[0]/leave": "done",
        "hold[1]": "cancelled", "hold[1]/leave": "not_run",
        "hold[2]": "cancelled", "hold[2]/leave": "not_run",
    }  # fmt: skip


async def test_a_map_in_a_loop_keeps_its_limit_in_every_round() -> None:
    gates = Gates()

    async def ten_more(xs: list[int]) -> list[int]:
        return [x + 10 for x in xs]

    with Flow() as f:
        with f.loop(limit=2) as it:
            xs = it.carry([0, 1, 2])
            held = collect(f.add(gates.leave, x=f.add(gates.hold, x=each(xs.out, max_concurrency=2)).out).out)
            it.until(held, lambda _: False)
            xs.next(f.add(ten_more, xs=xs.out).out)
        f.output("o", it.result(held))
    async with f.start() as run:
        await gates.let(0)
        assert gates.begun == [0, 1, 2]
        await gates.let(1, 2)
        assert gates.begun == [0, 1, 2, 10, 11]
        await gates.let(10, 11, 12)
        assert ((await run)["o"], gates.peak) == ([100, 121, 144], 2)


async def test_items_that_have_not_begun_when_their_race_is_lost_never_begin() -> None:
    gates = Gates()
    with Flow() as f:
        slow = collect(f.add(gates.hold, each(list(range(350)))).out)
        f.output("o", race(slow, f.add(one).out))
    result = await f.run()
    assert result["o"] == 1
    assert len(gates.begun) < 350
    assert set(states_of(result).values()) <= {"done", "cancelled"}


async def test_items_of_a_long_list_get_their_turn_beside_a_loop_that_never_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    end_slices_after(monkeypatch, -1.0)
    with Flow() as f:
        f.output("o", collect(f.add(node(src).with_(name="item"), each(list(range(350)))).out))
        with f.loop(limit=None) as it:
            count = it.carry(0)
            last = f.add(inc, count.out)
            count.next(last.out)
            it.until(last.out, lambda x: x == 2000)
        f.output("steps", count.final)
    with tallying() as tally:
        assert (await f.run())["o"] == list(range(350))
    last_item = max(place for place, path in enumerate(tally.paths) if path.startswith("item"))
    assert len(tally.paths) - last_item > 1000
