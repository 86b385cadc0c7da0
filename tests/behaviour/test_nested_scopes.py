"""Loops in maps, maps in loops, loops in loops (S2, S6.5)."""

from __future__ import annotations

from typing import Any

from dataflow import Flow, collect, each


async def inc(n: int) -> int:
    return n + 1


async def add(a: int, b: int) -> int:
    return a + b


async def total(numbers: list[int]) -> int:
    return sum(numbers)


def paths(states: Any) -> list[str]:
    return list(states)


async def test_a_loop_may_begin_with_an_item_and_runs_once_per_item() -> None:
    with Flow() as flow:
        with flow.loop(limit=2) as it:
            carry = it.carry(each(flow.input("xs", list[int])))
            carry.next(flow.add(inc, n=carry.out).out)
        flow.output("y", collect(carry.final))
    result = await flow.run(xs=[1, 5])
    assert result["y"] == [3, 7]
    assert paths(result.states) == [
        "loop",
        "loop[0]",
        "loop[0][0]/inc",
        "loop[0][1]/inc",
        "loop[1]",
        "loop[1][0]/inc",
        "loop[1][1]/inc",
    ]


async def test_a_loop_whose_body_reads_an_item_runs_once_per_item() -> None:
    with Flow() as flow:
        item = flow.add(inc, n=each(flow.input("xs", list[int])))
        with flow.loop(limit=2) as it:
            carry = it.carry(0)
            carry.next(flow.add(add, a=carry.out, b=item.out).out)
        flow.output("y", collect(carry.final))
    assert (await flow.run(xs=[1, 5]))["y"] == [4, 12]


async def test_a_loop_whose_next_value_is_an_item_runs_once_per_item() -> None:
    with Flow() as flow:
        item = flow.add(inc, n=each(flow.input("xs", list[int])))
        with flow.loop(limit=2) as it:
            carry = it.carry(0)
            carry.next(item.out)
        flow.output("y", collect(carry.final))
    assert (await flow.run(xs=[1, 5]))["y"] == [2, 6]


async def test_what_a_map_outside_gave_can_be_collected_in_a_loop() -> None:
    with Flow() as flow:
        item = flow.add(inc, n=each(flow.input("xs", list[int])))
        with flow.loop(limit=2) as it:
            carry = it.carry(0)
            carry.next(flow.add(add, a=carry.out, b=flow.add(total, numbers=collect(item.out)).out).out)
        flow.output("y", carry.final)
    assert (await flow.run(xs=[1, 2]))["y"] == 10


async def test_a_map_inside_a_loop_is_opened_every_round() -> None:
    with Flow() as flow:
        with flow.loop(limit=2) as it:
            xs = it.carry(flow.input("xs", list[int]))
            item = flow.add(inc, n=each(xs.out))
            xs.next(collect(item.out))
        flow.output("y", xs.final)
    result = await flow.run(xs=[1, 2])
    assert result["y"] == [3, 4]
    assert paths(result.states) == [
        "loop",
        "loop[0]/inc",
        "loop[0]/inc[0]",
        "loop[0]/inc[1]",
        "loop[1]/inc",
        "loop[1]/inc[0]",
        "loop[1]/inc[1]",
    ]


async def test_a_loop_inside_a_loop_starts_afresh() -> None:
    with Flow() as flow:
        with flow.loop(name="outer", limit=2) as outer:
            sums = outer.carry(0)
            with flow.loop(name="inner", limit=3) as inner:
                n = inner.carry(sums.out)
                n.next(flow.add(inc, n=n.out).out)
            sums.next(flow.add(add, a=n.final, b=sums.out).out)
        flow.output("y", sums.final)
    result = await flow.run()
    assert result["y"] == 9
    assert "outer[1]/inner[2]/inc" in result.states


async def test_values_of_every_loop_around_are_seen() -> None:
    with Flow() as flow:
        base = flow.add(inc, n=flow.input("n", int))
        with flow.loop(name="outer", limit=2) as outer:
            sums = outer.carry(0)
            more = flow.add(add, a=sums.out, b=base.out)
            with flow.loop(name="inner", limit=2) as inner:
                n = inner.carry(0)
                n.next(flow.add(add, a=flow.add(add, a=n.out, b=more.out).out, b=base.out).out)
            sums.next(n.final)
        flow.output("y", sums.final)
    assert (await flow.run(n=0))["y"] == 12


async def test_a_node_of_the_body_that_reads_nothing_of_it_fires_every_round() -> None:
    fired: list[int] = []

    async def note(n: int) -> int:
        fired.append(n)
        return n

    with Flow() as flow:
        base = flow.add(inc, n=1)
        with flow.loop(limit=3) as it:
            carry = it.carry(0)
            carry.next(flow.add(add, a=carry.out, b=flow.add(note, n=base.out).out).out)
        flow.output("y", carry.final)
    assert (await flow.run())["y"] == 6
    assert fired == [2, 2, 2]
