"""The cache key of a remembered outcome covers all that decides it (S13.1, S13.2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dataflow import Config, Flow, Maybe, node
from dataflow.core.ports import SKIP
from tests.behaviour.memo_flows import CALLS, Place, alike, one_node, places, told

pytestmark = pytest.mark.usefixtures("calls")


async def echo(x: Any) -> Any:
    CALLS.append(x)
    return x


class Mode(Config):
    mode: str = "a"


async def in_mode(config: Mode) -> str:
    CALLS.append(config.mode)
    return config.mode


async def added(x: int, y: int = 10) -> int:
    CALLS.append(x)
    return x + y


def adding(k: int) -> Any:
    async def add(x: int) -> int:
        CALLS.append(k)
        return x + k

    return add


def constant(value: Any) -> Any:
    async def give() -> Any:
        return value

    return give


async def summed(*numbers: Any) -> list[Any]:
    CALLS.append(numbers)
    return list(numbers)


def edges_of(place: Place, *values: Any) -> Flow:
    """Give values to a port of many edges of a node that is remembered."""
    reach, where = place
    with Flow("many") as flow:
        ports = [flow.add(node(name=f"n{n}")(constant(one))).out for n, one in enumerate(values)]
        flow.output("out", flow.add(node(memo=reach)(summed), *ports).out)
    return flow.using(memo=where)


async def perhaps(is_there: bool) -> Maybe[int]:
    return 3 if is_there else SKIP


def optional(place: Place, *, is_there: bool) -> Flow:
    reach, where = place
    with Flow("optional") as flow:
        first = flow.add(perhaps, is_there=is_there)
        flow.output("out", flow.add(node(memo=reach)(added), x=1, y=first.out).out)
    return flow.using(memo=where)


class TestWhatDecides:
    """B29: the key covers everything that decides the result."""

    async def test_code_counts_with_its_constants_defaults_and_closures(self, tmp_path: Path) -> None:
        async def f(x: int, y: int = 10) -> int:
            return x + y

        async def edited(x: int, y: int = 11) -> int:
            return x + y

        async def other(x: int, y: int = 10) -> int:
            return x + y + 100

        for reach, where in places(tmp_path):
            versions = [one_node(where, node(memo=reach)(one), x=1) for one in alike(f, edited, other)]
            results = [await flow.run() for flow in versions]
            assert [result["out"] for result in results] == [11, 12, 111]
            why = f"f is done, not remembered ({reach}): code differs from what is known"
            assert results[2].why("f") == why
            flows = [one_node(where, node(memo=reach)(adding(k)), x=5) for k in (1, 2, 1)]
            assert [await told(flow) for flow in flows] == [(6, [1]), (7, [2]), (6, [])]

    async def test_the_config_counts_and_spellings_of_a_call_do_not(self, tmp_path: Path) -> None:
        for reach, where in places(tmp_path):
            flows = [one_node(where, node(memo=reach)(in_mode), config=Mode(mode=mode)) for mode in "aba"]
            assert [await told(flow) for flow in flows] == [("a", ["a"]), ("b", ["b"]), ("a", [])]
            placed = node(memo=reach)(added)
            with Flow("one") as by_place:
                by_place.output("out", by_place.add(placed, by_place.input("x", int)).out)
            assert await told(one_node(where, placed, y=10, x=1)) == (11, [1])
            assert await told(by_place.using(memo=where), x=1) == (11, [])
            assert await told(one_node(where, placed, x=1)) == (11, [])

    async def test_a_node_without_a_memo_runs_each_time(self, tmp_path: Path) -> None:
        for reach, where in places(tmp_path):
            never = node(memo=reach)(echo).with_(memo="off")
            assert [await told(one_node(where, never, x=1)) for _ in range(2)] == [(1, [1])] * 2

    async def test_types_of_inputs_count_and_the_order_of_keys_does_not(self, tmp_path: Path) -> None:
        given: list[Any] = [1, 1.0, True, "1", [1], (1,), {"a": 1, "b": 2}, b"1", None, 0, "", False, [], {}]
        for reach, where in places(tmp_path):
            for x in given:
                out, calls = await told(one_node(where, node(memo=reach)(echo), x=x))
                assert (type(out), out, len(calls)) == (type(x), x, 1)
            for x in (*given, {"b": 2, "a": 1}):
                out, calls = await told(one_node(where, node(memo=reach)(echo), x=x))
                assert (type(out), out, calls) == (type(x), x, [])

    async def test_what_several_edges_bring_counts_in_their_order(self, tmp_path: Path) -> None:
        #: The digests of small values are small, and yet it is clear where each begins and ends.
        rows: list[Any] = [("a", "bsc"), ("a", "b", "c"), *((True, number) for number in range(60))]
        for place in places(tmp_path):
            for row, calls in (((1, 2), [(1, 2)]), ((1, 2), []), ((2, 1), [(2, 1)])):
                assert await told(edges_of(place, *row)) == (list(row), calls)
            for row in rows:
                assert await told(edges_of(place, *row)) == (list(row), [row])

    async def test_a_skipped_optional_port_counts_as_its_default(self, tmp_path: Path) -> None:
        for place in places(tmp_path):
            assert await told(optional(place, is_there=False)) == (11, [1])
            assert await told(one_node(place[1], node(memo=place[0])(added), x=1, y=10)) == (11, [])
            assert await told(optional(place, is_there=True)) == (4, [1])
