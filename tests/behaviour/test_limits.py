"""Limits are exact: the most in flight is never above, and everything completes (S15.1)."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import anyio
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from dataflow import EventKind, Flow, Limit, collect, each, node
from tests.behaviour.nodes import forever, gated, opening
from tests.behaviour.table import cancelled, play, states_of


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
