"""A value is released when its last reader has ended; what has ended keeps what leaves it (S8.5)."""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Literal
from weakref import WeakSet

import pytest
from anyio import Event, wait_all_tasks_blocked

from dataflow import DataflowError, Flow, RunFailed, collect, each, flow, merge, node, race


class Thing:
    """Something whose end can be seen."""


class Things:
    """Makes things and knows those that are referred to; `gate` holds a node up."""

    def __init__(self) -> None:
        self.alive: WeakSet[Thing] = WeakSet()
        self.gates = [Event(), Event()]

    def new(self) -> Thing:
        thing = Thing()
        self.alive.add(thing)
        return thing

    async def make(self, x: int = 0) -> Any:
        return self.new()

    async def make_late(self, x: int) -> Any:
        await self.gates[x].wait()
        return self.new()

    async def make_some(self) -> list[Any]:
        return [self.new() for _ in range(3)]

    async def gate(self, x: int) -> int:
        await self.gates[x].wait()
        return x

    async def late(self, thing: Any) -> int:
        await self.gates[0].wait()
        return 1

    async def held(self) -> int:
        await wait_all_tasks_blocked()
        gc.collect()
        return len(self.alive)

    async def count(self, x: int) -> int:
        gc.collect()
        return len(self.alive)


async def weigh(thing: Any) -> int:
    return 0


async def second(thing: Any, x: int) -> int:
    return x


async def plus_one(x: int) -> int:
    return x + 1


async def fail(thing: Any = None) -> int:
    raise ValueError("no")


async def test_a_chain_releases_what_is_behind_it_unless_values_are_kept() -> None:
    for keep in (False, True):
        things = Things()
        with Flow() as f:
            made = f.add(things.make)
            held = f.add(things.gate, x=f.add(weigh, thing=made.out).out)
            f.output("o", held.out)
        async with f.using(keep=keep).start() as run:
            assert await things.held() == keep
            things.gates[0].set()
            result = await run
        if keep:
            assert result.get(made.out) in things.alive
            continue
        with pytest.raises(DataflowError, match=r"DF0337 make\.out:"):
            result.get(made.out)
        assert result.why(made.out) == "'make.out' had a value, which was let go"
        assert (result["o"], result.get(held.out)) == (0, 0)


def an_output(f: Flow, things: Things) -> None:
    made = f.add(things.make)
    f.output("o", f.add(things.gate, x=f.add(weigh, thing=made.out).out).out)
    f.output("thing", made.out)


def unread(f: Flow, things: Things) -> None:
    f.add(things.make)
    f.add(things.gate, x=0)


def fan_out(f: Flow, things: Things) -> None:
    made = f.add(things.make)
    f.add(weigh, thing=made.out)
    f.output("o", f.add(things.gate, x=f.add(things.late, thing=made.out).out).out)


def skipped_and_poisoned(f: Flow, things: Things) -> None:
    made = f.add(things.make)
    f.add(second, thing=made.out, x=f.when(0, lambda _: False).yes)
    f.add(second, thing=made.out, x=f.add(fail).out)
    f.add(node(weigh).with_(enabled=False), thing=made.out)
    f.add(things.gate, x=0)


def merged(f: Flow, things: Things) -> None:
    first, late = f.add(things.make), f.add(things.make_late, x=0)
    read = f.add(weigh, thing=merge(first.out, late.out))
    f.add(things.gate, x=f.add(plus_one, x=read.out).out)


def raced(f: Flow, things: Things) -> None:
    read = f.add(weigh, thing=race(f.add(things.make_late, x=1).out, f.add(things.make).out))
    f.add(things.gate, x=read.out)


def items(f: Flow, things: Things) -> None:
    made = f.add(things.make, x=each([1, 2, 3]))
    f.output("o", collect(f.add(things.gate, x=f.add(weigh, thing=made.out).out).out))


def a_list(f: Flow, things: Things) -> None:
    made = f.add(things.make, x=each([1, 2, 3]))
    f.add(things.gate, x=f.add(weigh, thing=collect(made.out)).out)


def a_list_and_its_map(f: Flow, things: Things) -> None:
    weighed = collect(f.add(weigh, thing=each(f.add(things.make_some).out, max_concurrency=1)).out)
    f.add(second, thing=weighed, x=f.add(things.gate, x=0).out)
    f.add(things.gate, x=f.add(weigh, thing=weighed).out)


def outside_of_items(f: Flow, things: Things) -> None:
    passed = f.add(things.gate, x=f.add(second, thing=f.add(things.make).out, x=each([0, 1])).out)
    f.output("held", f.add(things.count, x=f.add(weigh, thing=collect(passed.out)).out).out)


def outside_of_a_loop(f: Flow, things: Things) -> None:
    made = f.add(things.make)
    with f.loop(limit=2) as it:
        v = it.carry(0)
        passed = f.add(second, thing=made.out, x=f.add(things.gate, x=v.out).out)
        v.next(f.add(plus_one, x=passed.out).out)
    f.output("held", f.add(things.count, x=it.result(passed.out)).out)


def carried(f: Flow, things: Things, *, with_final: bool = False) -> None:
    with f.loop(limit=2) as it:
        n, v = it.carry(0), it.carry(None)
        passed = f.add(things.gate, x=f.add(second, thing=v.out, x=n.out).out)
        n.next(f.add(plus_one, x=passed.out).out)
        v.next(f.add(things.make, x=passed.out).out)
    if with_final:
        f.output("final", f.add(weigh, thing=v.final).out)


def carried_to_the_end(f: Flow, things: Things) -> None:
    carried(f, things, with_final=True)


def into_a_flow_node(f: Flow, things: Things) -> None:
    @flow
    def inside(f: Flow, thing: Any) -> int:
        made = f.add(things.make, x=f.add(weigh, thing=thing).out)
        return f.add(things.gate, x=f.add(weigh, thing=made.out).out).out

    f.output("held", f.add(things.count, x=f.add(inside, thing=f.add(things.make).out).out).out)


#: What is wired, how many things are held before each gate is opened, and by the last node if it counts.
HELD: tuple[tuple[Callable[[Flow, Things], None], list[int], int | None], ...] = (
    (an_output, [1], None),
    (unread, [0], None),  # released before anything else
    (fan_out, [1, 0], None),  # held until its last reader has ended
    (skipped_and_poisoned, [0], None),
    (merged, [0, 0], None),  # also of a source that comes too late
    (raced, [0], None),
    (items, [0], None),  # before the items end
    (a_list, [0], None),
    (a_list_and_its_map, [0], None),
    (outside_of_items, [1, 1], 0),  # held until all items have ended
    (outside_of_a_loop, [1, 1], 0),
    (carried_to_the_end, [0, 1], None),
    (carried, [0, 0], None),  # not held within its round, as it cannot be the final value
    (into_a_flow_node, [1], 0),  # held since it may be tried again
)


async def test_values_are_held_until_their_last_reader_has_ended(subtests: pytest.Subtests) -> None:
    for wire, before_gates, at_last in HELD:
        with subtests.test(wire.__name__):
            things = Things()
            with Flow() as f:
                wire(f, things)
            is_failing = wire is skipped_and_poisoned
            with pytest.raises(RunFailed) if is_failing else nullcontext():
                async with f.using(keep=False, errors="continue").start() as run:
                    for gate, count in zip(things.gates, before_gates, strict=False):
                        assert await things.held() == count
                        gate.set()
                    for gate in things.gates:
                        gate.set()
                    result = await run
                assert at_last is None or result["held"] == at_last
                assert wire is not an_output or result["thing"] in things.alive


async def test_an_item_that_has_failed_holds_nothing() -> None:
    ways: tuple[Literal["collect", "skip"], ...] = ("collect", "skip")
    for on_error in ways:
        things = Things()
        with Flow() as f:
            made = f.add(things.make, x=each([1, 2], on_error=on_error))
            f.output("o", f.add(weigh, thing=collect(f.add(fail, thing=made.out).out)).out)
            f.add(things.gate, x=f.add(weigh, thing=collect(made.out)).out)
        async with f.start() as run:
            assert await things.held() == 0
            things.gates[0].set()
            assert (await run)["o"] == 0


def reading(things: Things) -> Flow:
    with Flow() as f:
        thing = f.input("thing", Any)
        f.output("held", f.add(things.count, x=f.add(weigh, thing=thing).out).out)
    return f.using(keep=False)


async def test_a_run_holds_its_inputs_no_longer_than_their_readers_do() -> None:
    things = Things()
    assert (await reading(things).run(thing=things.new()))["held"] == 0
    async with reading(things).start(thing=things.new()) as run:
        assert (await run)["held"] == 0
    assert reading(things).run_sync(thing=things.new())["held"] == 0

    @flow
    def counting(f: Flow, thing: Any) -> int:
        return f.add(things.count, x=f.add(weigh, thing=thing).out).out

    assert await counting.using(keep=False)(things.new()) == 0


async def test_what_has_no_value_keeps_its_reason() -> None:
    with Flow() as f:
        port = f.when(0, lambda _: False).yes
        f.add(weigh, thing=port)
    result = await f.using(keep=False).run()
    assert result.why(port) == "'when.yes' has no value\n  because when: exit 'yes' not taken"
    with pytest.raises(ValueError, match="DF0501"):
        Flow().using(keep="no")  # type: ignore[arg-type]
