"""In which scope each node fires, and in which order sources come before their readers (S2, S6.3, S7.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dataflow import Flow, collect, each, gather, merge


async def inc(n: int) -> int:
    return n + 1


async def add(a: int, b: int) -> int:
    return a + b


async def total(numbers: list[int]) -> int:
    return sum(numbers)


async def count(n: int) -> list[int]:
    return list(range(n))


async def totals(lists: list[list[int]]) -> int:
    return sum(map(sum, lists))


def paths(states: Any) -> list[str]:
    return list(states)


async def test_a_node_fires_once_per_item_of_the_map_it_reads() -> None:
    with Flow() as flow:
        item = flow.add(inc, n=each(flow.input("xs", list[int])))
        flow.output("y", collect(flow.add(inc, n=item.out).out))
    result = await flow.run(xs=[1, 2])
    assert result["y"] == [3, 4]
    assert paths(result.states) == ["inc", "inc[0]", "inc[0]/inc_2", "inc[1]", "inc[1]/inc_2"]


async def test_values_from_outside_are_seen_by_every_item() -> None:
    with Flow() as flow:
        base = flow.add(inc, n=flow.input("n", int))
        items = flow.add(add, a=each(flow.input("xs", list[int])), b=base.out)
        flow.output("y", collect(items.out))
    assert (await flow.run(n=9, xs=[1, 2]))["y"] == [11, 12]


async def test_one_item_may_be_read_twice_in_a_block() -> None:
    with Flow() as flow:
        item = each(flow.input("xs", list[int]))
        flow.output("y", collect(flow.add(add, a=item, b=flow.add(inc, n=item).out).out))
    assert (await flow.run(xs=[1, 2]))["y"] == [3, 5]


async def test_a_map_may_go_over_what_another_gave() -> None:
    with Flow() as flow:
        first = flow.add(inc, n=each(flow.input("xs", list[int])))
        second = flow.add(inc, n=each(collect(first.out)))
        flow.output("y", flow.add(total, numbers=collect(second.out)).out)
    assert (await flow.run(xs=[1, 2]))["y"] == 7


async def test_a_map_inside_a_map_is_closed_first() -> None:
    with Flow() as flow:
        lists = flow.add(count, n=each(flow.input("xs", list[int])))
        inner = flow.add(inc, n=each(lists.out))
        flow.output("nested", collect(collect(inner.out)))
        flow.output("y", flow.add(totals, lists=collect(collect(inner.out))).out)
    result = await flow.run(xs=[2, 0, 1])
    assert result["nested"] == [[1, 2], [], [1]]
    assert result["y"] == 4
    assert [path for path in result.states if path.endswith("]")] == [
        "count[0]",
        "count[0]/inc[0]",
        "count[0]/inc[1]",
        "count[1]",
        "count[2]",
        "count[2]/inc[0]",
    ]


async def test_each_of_each_opens_two_maps() -> None:
    with Flow() as flow:
        inner = flow.add(inc, n=each(each(flow.input("lists", list[list[int]]))))
        flow.output("y", collect(collect(inner.out)))
    assert (await flow.run(lists=[[1], [2, 3]]))["y"] == [[2], [3, 4]]


async def test_a_node_may_read_a_map_and_one_inside_it() -> None:
    with Flow() as flow:
        lists = flow.add(count, n=each(flow.input("xs", list[int])))
        outer = flow.add(total, numbers=lists.out)
        both = flow.add(add, a=each(lists.out), b=outer.out)
        flow.output("y", collect(collect(both.out)))
    assert (await flow.run(xs=[3, 2]))["y"] == [[3, 4, 5], [1, 2]]


async def test_one_collect_serves_many_readers() -> None:
    with Flow() as flow:
        item = flow.add(inc, n=each(flow.input("xs", list[int])))
        flow.output("a", collect(item.out))
        flow.output("b", flow.add(total, numbers=collect(item.out)).out)
        flow.output("c", gather(collect(item.out), collect(item.out)))
    assert dict((await flow.run(xs=[1])).outputs) == {"a": [2], "b": 2, "c": [[2], [2]]}


async def test_a_collected_item_is_the_item() -> None:
    with Flow() as flow:
        flow.output("y", collect(each(flow.input("xs", list[int]))))
    assert (await flow.run(xs=[1, 2]))["y"] == [1, 2]


async def test_a_join_of_items_is_inside_the_map() -> None:
    with Flow() as flow:
        item = flow.add(inc, n=each(flow.input("xs", list[int])))
        even = flow.when(item.out, lambda n: n % 2 == 0)
        flow.output("y", collect(merge(even.no, 0)))
        flow.output("odd", collect(even.no))
    assert dict((await flow.run(xs=[1, 2, 3])).outputs) == {"y": [0, 3, 0], "odd": [3]}


Wire = Callable[[Flow], object]


def two_maps(flow: Flow) -> None:
    xs, ys = flow.input("xs", list[int]), flow.input("ys", list[int])
    flow.add(add, a=flow.add(inc, n=each(xs)).out, b=flow.add(inc, n=each(ys)).out)


def two_maps_at_once(flow: Flow) -> None:
    flow.add(add, a=each(flow.input("xs", list[int])), b=each(flow.input("ys", list[int])))


def loop_over_two_maps(flow: Flow) -> None:
    with flow.loop(limit=1) as it:
        carry = it.carry(each(flow.input("xs", list[int])))
        carry.next(flow.add(add, a=carry.out, b=each(flow.input("ys", list[int]))).out)
    flow.output("y", collect(carry.final))


def collect_nothing(flow: Flow) -> None:
    flow.add(total, numbers=collect(flow.add(inc, n=1).out))


def collect_too_often(flow: Flow) -> None:
    flow.output("y", collect(collect(flow.add(inc, n=each(flow.input("xs", list[int]))).out)))


def collect_a_round(flow: Flow) -> None:
    with flow.loop(limit=1) as it:
        carry = it.carry(0)
        carry.next(flow.add(total, numbers=collect(carry.out)).out)


def output_of_an_item(flow: Flow) -> None:
    flow.output("y", flow.add(inc, n=each(flow.input("xs", list[int]))).out)


def output_of_each(flow: Flow) -> None:
    flow.output("y", each(flow.input("xs", list[int])))


@pytest.mark.parametrize(
    ("wire", "problems"),
    [
        (
            two_maps,
            [
                (
                    "node 'add' reads two maps neither inside the other: inc.out and inc_2.out; "
                    "collect one of them first"
                ),
            ],
        ),
        (
            two_maps_at_once,
            [
                (
                    "node 'add' reads two maps neither inside the other: each($in.xs) and each($in.ys); "
                    "collect one of them first"
                )
            ],
        ),
        (
            loop_over_two_maps,
            ["loop 'loop' reads add.out, which is inside a map; collect it first"],
        ),
        (
            collect_nothing,
            ["collect(inc.out): the port is not inside a map opened by each in this block"],
        ),
        (
            collect_a_round,
            ["collect($carry.carry): the port is not inside a map opened by each in this block"],
        ),
        (
            output_of_an_item,
            ["output 'y' reads inc.out, which is inside a map; collect it first"],
        ),
        (
            output_of_each,
            ["output 'y' reads each($in.xs), which is inside a map; collect it first"],
        ),
    ],
)
def test_scopes_that_cannot_be_are_problems(wire: Wire, problems: list[str]) -> None:
    flow = Flow()
    wire(flow)
    assert flow.check() == problems


def test_a_list_is_collected_once_only() -> None:
    flow = Flow()
    collect_too_often(flow)
    assert (
        "collect(collect(inc.out)): the port is not inside a map opened by each in this block" in flow.check()
    )
