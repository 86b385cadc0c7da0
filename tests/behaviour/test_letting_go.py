"""A value is let go when its last reader has come to its end; what has ended keeps what leaves it (S8.5)."""

from __future__ import annotations

import gc
from typing import Any
from weakref import WeakSet, ref

import pytest
from anyio import Event, wait_all_tasks_blocked

from dataflow import DataflowError, Flow, collect, each, flow, merge, node, race


class Thing:
    """Something whose end can be seen."""


class Things:
    """Makes things and knows those that somebody holds; `gate` holds a node up."""

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

    async def gate(self, x: int) -> int:
        await self.gates[x].wait()
        return x

    async def held(self) -> int:
        """Count the things that are held once nothing moves any more."""
        await wait_all_tasks_blocked()
        gc.collect()
        return len(self.alive)

    async def count(self, x: int) -> int:
        """Count the things that are held while a node runs."""
        gc.collect()
        return len(self.alive)


async def weigh(thing: Any) -> int:
    return 0


async def second(thing: Any, x: int) -> int:
    return x


async def plus_one(x: int) -> int:
    return x + 1


async def test_a_chain_lets_go_what_is_behind_it() -> None:
    things = Things()
    with Flow() as f:
        made = f.add(things.make)
        held = f.add(things.gate, x=f.add(weigh, thing=made.out).out)
        f.output("o", held.out)
    async with f.using(keep=False).start() as run:
        assert await things.held() == 0
        things.gates[0].set()
        result = await run
    with pytest.raises(DataflowError, match=r"DF0337 make\.out:"):
        result.get(made.out)
    assert result.why(made.out) == "'make.out' had a value, which was let go"
    assert (result["o"], result.get(held.out)) == (0, 0)


async def test_values_of_the_root_are_kept_unless_told_otherwise() -> None:
    things = Things()
    with Flow() as f:
        made = f.add(things.make)
        f.output("o", f.add(things.gate, x=f.add(weigh, thing=made.out).out).out)
    async with f.start() as run:
        assert await things.held() == 1
        things.gates[0].set()
        result = await run
    assert result.get(made.out) in things.alive


async def test_a_flow_output_stays() -> None:
    things = Things()
    with Flow() as f:
        made = f.add(things.make)
        f.output("o", f.add(things.gate, x=f.add(weigh, thing=made.out).out).out)
        f.output("thing", made.out)
    async with f.using(keep=False).start() as run:
        assert await things.held() == 1
        things.gates[0].set()
        result = await run
    assert result["thing"] is result.get(made.out)


async def test_what_nobody_reads_is_let_go_at_once() -> None:
    things = Things()
    with Flow() as f:
        f.add(things.make)
        f.add(things.gate, x=0)
    async with f.using(keep=False).start():
        assert await things.held() == 0
        things.gates[0].set()


async def test_a_fan_out_is_held_until_its_last_reader_has_ended() -> None:
    things = Things()

    async def late(thing: Any) -> int:
        await things.gates[0].wait()
        return 1

    with Flow() as f:
        made = f.add(things.make)
        f.add(weigh, thing=made.out)
        f.output("o", f.add(things.gate, x=f.add(late, thing=made.out).out).out)
    async with f.using(keep=False).start() as run:
        assert await things.held() == 1
        things.gates[0].set()
        assert await things.held() == 0
        things.gates[1].set()
        await run


async def test_a_reader_that_is_skipped_or_poisoned_holds_nothing() -> None:
    things = Things()

    async def fail() -> int:
        raise ValueError("no")

    with Flow() as f:
        made = f.add(things.make)
        never = f.when(0, lambda _: False).yes
        f.add(second, thing=made.out, x=never)
        f.add(second, thing=made.out, x=f.add(fail).out)
        f.add(node(weigh).with_(enabled=False), thing=made.out)
        f.add(things.gate, x=0)
    with pytest.raises(Exception, match="no"):  # noqa: PT012 - the run fails when the block ends
        async with f.using(keep=False, errors="continue").start():
            assert await things.held() == 0
            things.gates[0].set()


async def test_a_merge_lets_its_sources_go_also_those_that_come_too_late() -> None:
    things = Things()
    with Flow() as f:
        first, late = f.add(things.make), f.add(things.make_late, x=0)
        read = f.add(weigh, thing=merge(first.out, late.out))
        f.add(things.gate, x=f.add(plus_one, x=read.out).out)
    async with f.using(keep=False).start():
        assert await things.held() == 0
        things.gates[0].set()
        assert await things.held() == 0  # it has brought one, and nobody waits for it any more
        things.gates[1].set()


async def test_items_let_their_values_go() -> None:
    things = Things()
    with Flow() as f:
        made = f.add(things.make, x=each([1, 2, 3]))
        f.output("o", collect(f.add(weigh, thing=made.out).out))
    result = await f.run()
    gc.collect()
    assert (result["o"], len(things.alive)) == ([0, 0, 0], 0)


async def test_items_let_their_values_go_before_they_end() -> None:
    things = Things()
    with Flow() as f:
        made = f.add(things.make, x=each([1, 2, 3]))
        f.output("o", collect(f.add(things.gate, x=f.add(weigh, thing=made.out).out).out))
    async with f.using(keep=False).start():
        assert await things.held() == 0
        things.gates[0].set()


async def test_a_list_goes_with_its_last_reader() -> None:
    things = Things()
    with Flow() as f:
        made = f.add(things.make, x=each([1, 2, 3]))
        f.add(things.gate, x=f.add(weigh, thing=collect(made.out)).out)
    async with f.using(keep=False).start():
        assert await things.held() == 0
        things.gates[0].set()


async def test_a_list_goes_with_the_map_over_it() -> None:
    things = Things()

    async def make_some() -> list[Any]:
        return [things.new() for _ in range(3)]

    with Flow() as f:
        weighed = collect(f.add(weigh, thing=each(f.add(make_some).out, max_concurrency=1)).out)
        f.add(second, thing=weighed, x=f.add(things.gate, x=0).out)
        f.add(things.gate, x=f.add(weigh, thing=weighed).out)
    async with f.using(keep=False).start():
        assert await things.held() == 0
        things.gates[0].set()


async def test_a_value_from_outside_is_held_until_all_items_have_ended() -> None:
    things = Things()
    with Flow() as f:
        made = f.add(things.make)
        passed = f.add(things.gate, x=f.add(second, thing=made.out, x=each([0, 1])).out)
        f.output("held", f.add(things.count, x=f.add(weigh, thing=collect(passed.out)).out).out)
    async with f.using(keep=False).start() as run:
        seen = [await things.held()]
        things.gates[0].set()  # the first item ends
        seen.append(await things.held())
        things.gates[1].set()
        seen.append((await run)["held"])
    assert seen == [1, 1, 0]


async def test_a_loop_holds_a_value_from_outside_until_it_has_ended() -> None:
    things = Things()
    with Flow() as f:
        made = f.add(things.make)
        with f.loop(limit=2) as it:
            v = it.carry(0)
            passed = f.add(second, thing=made.out, x=f.add(things.gate, x=v.out).out)
            v.next(f.add(plus_one, x=passed.out).out)
        f.output("held", f.add(things.count, x=it.result(passed.out)).out)
    async with f.using(keep=False).start() as run:
        assert await things.held() == 1
        things.gates[0].set()
        assert await things.held() == 1
        things.gates[1].set()
        assert (await run)["held"] == 0


async def test_rounds_let_their_values_go() -> None:
    made: list[ref[Thing]] = []

    async def make(x: int) -> Any:
        thing = Thing()
        made.append(ref(thing))
        return thing

    with Flow() as f:
        with f.loop() as it:
            v = it.carry(0)
            thing = f.add(make, x=v.out)
            f.add(weigh, thing=thing.out)
            counted = f.add(plus_one, x=v.out)
            it.until(counted.out, lambda x: x == 3)
            v.next(counted.out)
        f.output("last", it.result(thing.out))
    result = await f.run()
    gc.collect()
    assert [thing() is not None for thing in made] == [False, False, True]
    assert result["last"] is made[2]()


@pytest.mark.parametrize("with_final", [False, True])
async def test_a_carried_value_goes_within_its_round_unless_it_may_be_the_final(with_final: bool) -> None:
    things = Things()
    with Flow() as f:
        with f.loop(limit=2) as it:
            n, v = it.carry(0), it.carry(None)
            passed = f.add(things.gate, x=f.add(second, thing=v.out, x=n.out).out)
            n.next(f.add(plus_one, x=passed.out).out)
            v.next(f.add(things.make, x=passed.out).out)
        if with_final:
            f.output("final", f.add(weigh, thing=v.final).out)
    async with f.using(keep=False).start():
        things.gates[0].set()
        held = await things.held()
        things.gates[1].set()
    assert held == with_final


async def test_a_loop_that_fails_at_its_limit_holds_nothing() -> None:
    things = Things()
    f = Flow()
    with f.loop(name="up", limit=2, on_limit="fail") as it:
        v = it.carry(0)
        made = f.add(things.make, x=v.out)
        it.until(made.out, lambda _: False)
        v.next(v.out)
    f.output("o", it.all(made.out))
    f.add(weigh)  # type: ignore[call-arg]  # wired by name
    f.connect("up.$error", "weigh.thing")
    result = await f.run()
    gc.collect()
    assert (result.states["up"].value, len(things.alive)) == ("failed", 0)


async def test_a_flow_node_holds_its_inputs_until_it_has_ended_and_nothing_else() -> None:
    things = Things()

    @flow
    def inside(f: Flow, thing: Any) -> int:
        made = f.add(things.make, x=f.add(weigh, thing=thing).out)
        return f.add(things.gate, x=f.add(weigh, thing=made.out).out).out

    with Flow() as f:
        made = f.add(things.make)
        f.output("held", f.add(things.count, x=f.add(inside, thing=made.out).out).out)
    async with f.using(keep=False).start() as run:
        assert await things.held() == 1  # it may be tried again
        things.gates[0].set()
        assert (await run)["held"] == 0


async def test_a_race_lets_its_sources_go() -> None:
    things = Things()
    with Flow() as f:
        read = f.add(weigh, thing=race(f.add(things.make_late, x=1).out, f.add(things.make).out))
        f.add(things.gate, x=read.out)
    async with f.using(keep=False).start():
        assert await things.held() == 0
        things.gates[0].set()


@pytest.mark.parametrize("on_error", ["collect", "skip"])
async def test_an_item_that_has_failed_holds_nothing(on_error: Any) -> None:
    things = Things()

    async def drop(thing: Any) -> int:
        raise ValueError("dropped")

    with Flow() as f:
        made = f.add(things.make, x=each([1, 2], on_error=on_error))
        f.output("o", f.add(weigh, thing=collect(f.add(drop, thing=made.out).out)).out)
        f.add(things.gate, x=f.add(weigh, thing=collect(made.out)).out)
    async with f.start() as run:
        assert await things.held() == 0
        things.gates[0].set()
        assert (await run)["o"] == 0


def reading(things: Things) -> Flow:
    """Read an input, then count the things that are held."""
    with Flow() as f:
        thing = f.input("thing", Any)
        f.output("held", f.add(things.count, x=f.add(weigh, thing=thing).out).out)
    return f.using(keep=False)


async def test_a_run_holds_its_inputs_no_longer_than_their_readers_do() -> None:
    things = Things()
    assert (await reading(things).run(thing=things.new()))["held"] == 0


async def test_a_run_that_was_started_holds_its_inputs_no_longer() -> None:
    things = Things()
    async with reading(things).start(thing=things.new()) as run:
        assert (await run)["held"] == 0


async def test_a_run_from_synchronous_code_holds_its_inputs_no_longer() -> None:
    things = Things()
    assert reading(things).run_sync(thing=things.new())["held"] == 0


def test_a_run_without_an_event_loop_holds_its_inputs_no_longer() -> None:
    things = Things()
    assert reading(things).run_sync(thing=things.new())["held"] == 0


async def test_a_typed_flow_holds_its_arguments_no_longer() -> None:
    things = Things()

    @flow
    def counting(f: Flow, thing: Any) -> int:
        return f.add(things.count, x=f.add(weigh, thing=thing).out).out

    assert await counting.using(keep=False)(things.new()) == 0


async def test_a_run_in_hand_holds_nothing_of_its_inputs_once_it_has_ended() -> None:
    things = Things()
    with Flow() as f:
        f.input("thing", Any)
        f.add(things.gate, x=0)
    async with f.using(keep=False).start(thing=things.new()) as run:
        assert await things.held() == 0
        things.gates[0].set()
        await run
    async with f.using(keep=False).start(thing=things.new()) as run:
        run.cancel()  # before anything of it has run
    gc.collect()
    assert len(things.alive) == 0


async def test_what_has_no_value_keeps_its_reason() -> None:
    with Flow() as f:
        port = f.when(0, lambda _: False).yes
        f.add(weigh, thing=port)
    result = await f.using(keep=False).run()
    assert result.why(port) == "'when.yes' has no value\n  because when: exit 'yes' not taken"


def test_keep_is_true_or_false() -> None:
    with pytest.raises(ValueError, match="DF0501"):
        Flow().using(keep="no")  # type: ignore[arg-type]


async def test_what_a_node_was_given_that_failed_at_once_goes_with_it() -> None:
    """Its failure, and the traceback of that, refer to nothing that refers back."""
    things = Things()

    async def fails(thing: Any) -> int:
        raise ValueError("no")

    with Flow() as f:
        failed = f.add(fails, f.add(things.make, each([1, 2, 3], on_error="skip")).out)
        f.output("o", collect(failed.out))
    gc.disable()
    try:
        await f.run()
        assert len(things.alive) == 0
    finally:
        gc.enable()
