"""Limits are exact, of nodes, of shared `Limit` objects and of items, which begin in order (S7.2, S15.1)."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from typing import Any, Final, Literal

import anyio
import pytest
from anyio import Event, wait_all_tasks_blocked
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from dataflow import EventKind, Failure, Flow, Limit, RunFailed, collect, each, node, race
from tests.behaviour.nodes import forever, gated, inc, one, opening, src, tallying
from tests.behaviour.table import cancelled, play, states_of
from tests.support.steady import end_slices_after


class InFlight:
    """Counts who is in flight at once, by kind, and keeps the most; threads may share it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.now: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.order: list[int] = []

    def node(self, kind: str, name: str = "", pauses: int = 20, **settings: Any) -> Any:
        async def work(x: int = 0) -> int:
            self.enter(kind)
            self.order.append(x)
            for _ in range(pauses):
                await checkpoint()
            self.leave(kind)
            return x

        return node(**settings)(work).with_(name=name or kind)

    def enter(self, kind: str) -> None:
        with self.lock:
            for one in (kind, "all"):
                self.now[one] += 1
                self.most[one] = max(self.most[one], self.now[one])

    def leave(self, kind: str) -> None:
        with self.lock:
            for one in (kind, "all"):
                self.now[one] -= 1


def mapped(in_flight: InFlight, count: int, **settings: Any) -> Flow:
    with Flow("f") as f:
        f.output("o", collect(f.add(in_flight.node("item", **settings), x=each(list(range(count)))).out))
    return f


async def test_limits_of_runs_nodes_and_names_bound_exactly_what_they_are_of() -> None:
    for most in (1, 2, 5):
        in_flight = InFlight()
        result = await mapped(in_flight, 5).using(max_concurrency=most).run()
        assert (result["o"], in_flight.most["item"]) == ([0, 1, 2, 3, 4], most)
        in_flight = InFlight()
        flow = mapped(in_flight, 6, limit=most)
        for number in range(4):
            flow.add(in_flight.node("free", f"free{number}"))
        await flow.run()
        assert (in_flight.most["item"], in_flight.most["free"]) == (most, 4)
    in_flight = InFlight()
    with Flow("f") as f:
        for number in range(6):
            f.add(in_flight.node("web", f"web{number}", limit="web"))
    await f.using(limits={"web": 2}).run()
    assert in_flight.most["web"] == 2


async def test_who_waits_for_one_limit_holds_up_nobody_who_needs_another() -> None:
    gate, passed = anyio.Event(), anyio.Event()
    with Flow("f") as f:
        for name, limit in (("holds", "a"), ("waits", "a")):
            f.add(gated(gate, name).with_(limit=limit))
        f.add(opening(passed).with_(limit="b"))
    async with f.using(max_concurrency=2, limits={"a": 1, "b": 1}).start() as run:
        await passed.wait()
        gate.set()
        assert set(states_of(await run).values()) == {"done"}


async def test_cancelling_ends_who_waits_for_a_slot_or_a_start() -> None:
    begun = anyio.Event()
    begun.set()
    with Flow("f") as f:
        f.add(node(forever).with_(limit=1), x=each([0, 1, 2]))
    result = await cancelled(f, begun)
    assert (result.status, set(states_of(result).values())) == ("cancelled", {"cancelled"})
    begun = anyio.Event()
    with Flow("f") as f:
        f.add(opening(begun, "begins").with_(limit="slowly"), x=each([0, 1, 2]))
    async with f.using(limits={"slowly": Limit(per_second=0.001)}).start() as run:
        await begun.wait()
        run.cancel("enough")
        states = states_of(await run)
    assert sorted(states[f"begins[{item}]"] for item in range(3)) == ["cancelled", "cancelled", "done"]


async def test_a_limit_that_is_not_set_bounds_nothing_and_one_without_nodes_is_a_warning() -> None:
    settings: tuple[dict[str, Limit | int] | None, ...] = (None, {}, {"db": 1})
    for limits in settings:
        in_flight = InFlight()
        with Flow("f") as f:
            for name in ("web", "db"):
                f.add(in_flight.node(name, pauses=3, limit=name), x=each([1, 2, 3]))
        result = await f.using(limits=limits).run()
        assert in_flight.most["web"] == 3
        assert in_flight.most["db"] == (1 if limits else 3)
        assert result.warnings == ()
    with Flow("f") as f:
        f.add(InFlight().node("web", limit="web"), x=1)
    played = await play(f.using(limits={"wbe": 1}))
    (text,) = played.result.warnings
    assert text.startswith("DF0838 flow 'f': ")
    warnings = [dict(event.data) for event in played.events if event.kind is EventKind.WARNING]
    assert warnings == [{"code": "unused_limit", "text": text}]


async def test_a_limit_in_a_nested_flow_is_that_of_the_nearest_flow_that_sets_it() -> None:
    for inside, outside in ((None, 2), (2, None), (2, 1)):
        in_flight = InFlight()
        with Flow("inner") as inner:
            item = inner.input("x", int)
            inner.output("o", inner.add(in_flight.node("web", limit="web"), x=item).out)
        placed = inner.using(limits={"web": inside}) if inside else inner
        with Flow("outer") as outer:
            outer.output("o", collect(outer.add(placed, x=each([0, 1, 2, 3])).out.o))
        limited = outer.using(limits={"web": outside}) if outside else outer
        assert (await limited.run())["o"] == [0, 1, 2, 3]
        assert in_flight.most["web"] == 2


LIMITS = st.one_of(st.none(), st.sampled_from(["a", "b", "shared"]), st.integers(1, 3))


@given(
    nodes=st.lists(st.tuples(LIMITS, st.integers(0, 3)), min_size=1, max_size=12),
    most=st.one_of(st.none(), st.integers(1, 4)),
    slots=st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)),
    items=st.integers(1, 4),
    runs=st.integers(1, 3),
)
async def test_whatever_the_mix_no_limit_is_passed_and_everything_completes(
    nodes: list[tuple[str | int | None, int]],
    most: int | None,
    slots: tuple[int, int, int],
    items: int,
    runs: int,
) -> None:
    shared, all_runs = Limit(slots[2]), InFlight()
    async with anyio.create_task_group() as group:
        for _ in range(runs):
            group.start_soon(mixed, nodes, most, slots, items, shared, all_runs)
    assert all_runs.most["shared"] <= slots[2]


async def mixed(
    nodes: list[tuple[str | int | None, int]],
    most: int | None,
    slots: tuple[int, int, int],
    items: int,
    shared: Limit,
    all_runs: InFlight,
) -> None:
    in_flight = InFlight()
    bounds: dict[str, int] = {"a": slots[0], "b": slots[1]}

    def wire(f: Flow, number: int, limit: str | int | None, pauses: int, item: int) -> None:
        kind = limit if isinstance(limit, str) else f"n{number}"
        setting: dict[str, Any] = {} if limit is None else {"limit": limit}
        if isinstance(limit, int):
            bounds[kind] = limit
        counting = all_runs if limit == "shared" else in_flight
        f.output(f"o{number}", f.add(counting.node(kind, f"n{number}", pauses, **setting), x=item).out)

    with Flow("mix") as f:
        for number, (limit, pauses) in enumerate(nodes):
            wire(f, number, limit, pauses, number)
        mapped_over = each(list(range(items)))
        f.output("items", collect(f.add(in_flight.node("item", pauses=2, limit="a"), x=mapped_over).out))
    limits: dict[str, Limit | int] = {"a": slots[0], "b": slots[1], "shared": shared}
    result = await f.using(max_concurrency=most, limits=limits).run()
    assert [result[f"o{number}"] for number in range(len(nodes))] == list(range(len(nodes)))
    assert result["items"] == list(range(items))
    assert all(in_flight.most[kind] <= bound for kind, bound in bounds.items())
    assert most is None or in_flight.most["all"] <= most


async def test_a_failed_frame_gives_back_the_slots_of_what_had_not_begun_yet() -> None:
    async def fails(x: int) -> int:
        raise ValueError(f"no {x}")

    async def never(x: int) -> int:
        raise AssertionError("its frame has failed before its turn")

    async def count(xs: list[Any]) -> int:
        return len(xs)

    with Flow("f") as f:
        item = each([0, 1, 2, 3], on_error="collect")
        failed = f.add(fails, x=item)
        f.add(node(limit="web")(never), x=item)
        f.output("o", f.add(node(limit="web")(count), xs=collect(failed.out)).out)
    assert (await f.using(limits={"web": 1}).run())["o"] == 4


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


ItemErrors = Literal["fail", "collect", "skip"]
HANDLED: Final[tuple[ItemErrors, ...]] = ("collect", "skip")
SQUARES: Final = [0, 1, 4, 9, 16]


class Gates:
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
