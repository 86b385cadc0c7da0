"""Limits are exact: the most in flight is never above, and everything completes (S15.1)."""

from __future__ import annotations

import threading
from collections import Counter
from itertools import pairwise
from time import monotonic
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from dataflow import EventKind, Flow, Limit, collect, each, node
from tests.behaviour.table import states_of


class InFlight:
    """Counts who is in flight at once, by kind, and keeps the most; threads may share it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.now: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.order: list[int] = []

    def node(self, kind: str, name: str = "", pauses: int = 2, **settings: Any) -> Any:
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


@pytest.mark.parametrize("most", [1, 2, 5])
async def test_of_five_items_exactly_as_many_run_at_once_as_the_run_allows(most: int) -> None:
    in_flight = InFlight()
    result = await mapped(in_flight, 5, pauses=20).using(max_concurrency=most).run()
    assert result["o"] == [0, 1, 2, 3, 4]
    assert in_flight.most["item"] == most


@pytest.mark.parametrize("most", [1, 2])
async def test_a_limit_of_a_node_bounds_the_firings_of_that_node_alone(most: int) -> None:
    in_flight = InFlight()
    flow = mapped(in_flight, 6, limit=most, pauses=20)
    for number in range(4):
        flow.add(in_flight.node("free", f"free{number}", pauses=20))
    await flow.run()
    assert (in_flight.most["item"], in_flight.most["free"]) == (most, 4)


async def test_a_named_limit_bounds_every_node_that_names_it() -> None:
    in_flight = InFlight()
    with Flow("f") as f:
        for number in range(6):
            f.add(in_flight.node("web", f"web{number}", pauses=20, limit="web"))
    await f.using(limits={"web": 2}).run()
    assert in_flight.most["web"] == 2


async def test_who_waits_for_one_limit_holds_up_nobody_who_needs_another() -> None:
    gate, passed = anyio.Event(), anyio.Event()

    async def holds() -> None:
        await gate.wait()

    async def waits() -> None:
        """Need the slot that is held."""

    async def passes() -> None:
        passed.set()

    with Flow("f") as f:
        f.add(node(limit="a")(holds))
        f.add(node(limit="a")(waits))
        f.add(node(limit="b")(passes))
    async with f.using(max_concurrency=2, limits={"a": 1, "b": 1}).start() as run:
        await passed.wait()
        gate.set()
        assert set(states_of(await run).values()) == {"done"}


async def test_who_waits_is_served_in_the_order_in_which_it_came() -> None:
    in_flight = InFlight()
    await mapped(in_flight, 50).using(max_concurrency=3).run()
    assert in_flight.order == list(range(50))


async def test_who_came_first_goes_before_what_has_just_become_ready() -> None:
    order: list[str] = []

    def named(name: str) -> Any:
        async def notes(x: object = None) -> int:
            order.append(name)
            await checkpoint()
            return 1

        return node(notes).with_(name=name)

    with Flow("f") as f:
        first = f.add(named("a"))
        f.add(named("b"))
        f.add(named("c"), x=first.out)
        f.add(named("d"))
    await f.using(max_concurrency=1).run()
    assert order == ["a", "b", "d", "c"]


async def test_cancelling_ends_who_waits_for_a_slot() -> None:
    begun = anyio.Event()

    async def holds(x: int) -> None:
        begun.set()
        await anyio.sleep_forever()

    with Flow("f") as f:
        f.add(node(limit=1)(holds), x=each([0, 1, 2]))
    async with f.start() as run:
        await begun.wait()
        run.cancel("enough")
        result = await run
    assert result.status == "cancelled"
    assert set(states_of(result).values()) == {"cancelled"}


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
    result = await f.using(limits={"web": 1}).run()
    assert result["o"] == 4


async def test_starts_are_as_far_apart_as_the_limit_says() -> None:
    starts: list[float] = []

    async def starts_now(x: int) -> None:
        starts.append(monotonic())
        await checkpoint()

    with Flow("f") as f:
        f.add(node(limit="slowly")(starts_now), x=each(list(range(5))))
    await f.using(limits={"slowly": Limit(per_second=100)}).run()
    gaps = [later - earlier for earlier, later in pairwise(starts)]
    assert len(gaps) == 4
    assert min(gaps) >= 0.01


async def test_slots_and_starts_per_second_hold_together() -> None:
    in_flight = InFlight()
    limit = Limit(1, per_second=500)
    result = await mapped(in_flight, 6, limit="both", pauses=3).using(limits={"both": limit}).run()
    assert result["o"] == list(range(6))
    assert in_flight.most["item"] == 1


async def test_cancelling_while_a_start_is_waited_for_ends_the_run() -> None:
    begun = anyio.Event()

    async def begins(x: int) -> None:
        begun.set()

    with Flow("f") as f:
        f.add(node(limit="slowly")(begins), x=each([0, 1, 2]))
    async with f.using(limits={"slowly": Limit(per_second=0.001)}).start() as run:
        await begun.wait()
        run.cancel("enough")
        result = await run
    states = states_of(result)
    assert sorted(states[f"begins[{item}]"] for item in range(3)) == ["cancelled", "cancelled", "done"]


@pytest.mark.parametrize("limits", [None, {}, {"db": 1}])
async def test_a_limit_that_is_not_set_bounds_nothing(limits: dict[str, Limit | int] | None) -> None:
    in_flight = InFlight()
    with Flow("f") as f:
        f.add(in_flight.node("web", pauses=3, limit="web"), x=each([1, 2, 3]))
        f.add(in_flight.node("db", pauses=3, limit="db"), x=each([1, 2, 3]))
    result = await f.using(limits=limits).run()
    assert in_flight.most["web"] == 3
    assert in_flight.most["db"] == (1 if limits else 3)
    assert result.warnings == ()


async def test_a_limit_that_no_node_has_is_told() -> None:
    with Flow("f") as f:
        f.add(node(limit="web")(begins), x=1)
    async with f.using(limits={"wbe": 1}).start() as run:
        events = [event.data async for event in run.events() if event.kind is EventKind.WARNING]
        result = await run
    (text,) = result.warnings
    assert text.startswith("DF0838 flow 'f': ")
    assert [dict(data) for data in events] == [{"code": "unused_limit", "text": text}]


async def begins(x: int) -> int:
    return x


@pytest.mark.parametrize("set_by", ["the flow around it", "its own using", "both"])
async def test_a_limit_in_a_nested_flow_is_that_of_the_nearest_flow_that_sets_it(set_by: str) -> None:
    in_flight = InFlight()
    with Flow("inner") as inner:
        item = inner.input("x", int)
        inner.output("o", inner.add(in_flight.node("web", pauses=20, limit="web"), x=item).out)
    if set_by != "the flow around it":
        inner = inner.using(limits={"web": 2})
    with Flow("outer") as outer:
        outer.output("o", collect(outer.add(inner, x=each([0, 1, 2, 3])).out.o))
    if set_by != "its own using":
        outer = outer.using(limits={"web": 2 if set_by == "the flow around it" else 1})
    assert (await outer.run())["o"] == [0, 1, 2, 3]
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
        f.output("items", collect(f.add(in_flight.node("item", limit="a"), x=mapped_over).out))
    bounds["a"] = slots[0]
    limits: dict[str, Limit | int] = {"a": slots[0], "b": slots[1], "shared": shared}
    result = await f.using(max_concurrency=most, limits=limits).run()
    assert [result[f"o{number}"] for number in range(len(nodes))] == list(range(len(nodes)))
    assert result["items"] == list(range(items))
    assert all(in_flight.most[kind] <= bound for kind, bound in bounds.items())
    assert most is None or in_flight.most["all"] <= most
