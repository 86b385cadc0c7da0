"""What is remembered is told by all that decides it, and nobody changes it (S13.1, S13.2, S13.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dataflow import (
    Config,
    Failure,
    Flow,
    Maybe,
    Memo,
    node,
)
from dataflow.core.ports import SKIP
from tests.behaviour.memo_flows import CALLS, PLACES, Place, alike, one_node, place_of, told


@pytest.fixture(autouse=True)
def _without_calls() -> Iterator[None]:
    CALLS.clear()
    yield
    CALLS.clear()


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Give each place in turn that outlives a run."""
    return place_of(request.param, tmp_path)


async def echo(x: Any) -> Any:
    CALLS.append(x)
    return x


class TestWhatDecides:
    """B29: the key covers everything that decides the result."""

    async def test_functions_that_differ_in_a_constant_are_told_apart(self, place: Place) -> None:
        async def f() -> int:
            return 1

        async def g() -> int:
            return 2

        reach, where = place
        results = [await one_node(where, node(memo=reach)(one)).run() for one in alike(f, g)]
        assert [result["out"] for result in results] == [1, 2]
        assert results[1].why("f") == f"f is done, not remembered ({reach}): code differs from what is known"

    async def test_a_default_that_was_edited_counts(self, place: Place) -> None:
        async def h(x: int, y: int = 10) -> int:
            return x + y

        async def edited(x: int, y: int = 11) -> int:
            return x + y

        reach, where = place
        given = [await told(one_node(where, node(memo=reach)(one), x=1)) for one in alike(h, edited)]
        assert [out for out, _ in given] == [11, 12]

    async def test_what_a_closure_holds_counts(self, place: Place) -> None:
        def make(k: int) -> Any:
            async def add(x: int) -> int:
                CALLS.append(k)
                return x + k

            return add

        reach, where = place
        flows = [one_node(where, node(memo=reach)(make(k)), x=5) for k in (1, 2, 1)]
        assert [await told(flow) for flow in flows] == [(6, [1]), (7, [2]), (6, [])]

    async def test_the_config_counts(self, place: Place) -> None:
        reach, where = place
        flows = [one_node(where, node(memo=reach)(in_mode), config=Mode(mode=mode)) for mode in "aba"]
        assert [await told(flow) for flow in flows] == [("a", ["a"]), ("b", ["b"]), ("a", [])]

    async def test_two_spellings_of_a_call_are_one(self, place: Place) -> None:
        reach, where = place
        placed = node(memo=reach)(added)
        with Flow("one") as by_place:
            by_place.output("out", by_place.add(placed, by_place.input("x", int)).out)
        flows = [one_node(where, placed, y=10, x=1), by_place.using(memo=where)]
        assert await told(flows[0]) == (11, [1])
        assert await told(flows[1], x=1) == (11, [])
        assert await told(one_node(where, placed, x=1)) == (11, [])

    async def test_a_helper_is_not_followed_and_the_version_tells_of_it(self, place: Place) -> None:
        reach, where = place
        assert await told(one_node(where, node(memo=reach)(helped), x=1)) == (2, ["helped"])
        global helper  # noqa: PLW0603 - what an editor does to it
        before, helper = helper, lambda x: x + 100
        try:
            assert await told(one_node(where, node(memo=reach)(helped), x=1)) == (2, [])
            later = node(memo=reach, version="2")(helped)
            assert await told(one_node(where, later, x=1)) == (101, ["helped"])
        finally:
            helper = before

    async def test_a_node_without_a_memo_runs_each_time(self, place: Place) -> None:
        reach, where = place
        never = node(memo=reach)(echo).with_(memo="off")
        assert [await told(one_node(where, never, x=1)) for _ in range(2)] == [(1, [1])] * 2

    async def test_types_of_inputs_count_and_the_order_of_keys_does_not(self, place: Place) -> None:
        reach, where = place
        given: list[Any] = [1, 1.0, True, "1", [1], (1,), {"a": 1, "b": 2}, b"1", None, 0, "", False, [], {}]
        for x in given:
            out, calls = await told(one_node(where, node(memo=reach)(echo), x=x))
            assert (type(out), out, len(calls)) == (type(x), x, 1)
        for x in (*given, {"b": 2, "a": 1}):
            out, calls = await told(one_node(where, node(memo=reach)(echo), x=x))
            assert (type(out), out, calls) == (type(x), x, [])

    async def test_a_declared_variable_of_the_environment_counts(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        reach, where = place
        placed = node(memo=Memo(reach, environment=["DATAFLOW_TEST_TONGUE"]))(echo)
        found = []
        for tongue in (None, "cs", "de", "cs"):
            if tongue is not None:
                monkeypatch.setenv("DATAFLOW_TEST_TONGUE", tongue)
            found.append((await told(one_node(where, placed, x=1)))[1])
        assert found == [[1], [1], [1], []]

    async def test_path_run_and_round_do_not_count(self, place: Place) -> None:
        reach, where = place
        with Flow("rounds") as flow:
            with flow.loop(limit=3) as loop:
                carried = loop.carry(0)
                flow.add(node(memo=reach)(echo), x=7)
                step = flow.add(one_more, x=carried.out)
                carried.next(step.out)
            flow.output("n", carried.final)
        assert (await told(flow.using(memo=where), lambda result: result["n"])) == (3, [7])
        assert (await told(one_node(where, node(memo=reach)(echo), x=7))) == (7, [])

    async def test_what_several_edges_bring_counts_in_their_order(self, place: Place) -> None:
        def flow(*numbers: int) -> Flow:
            with Flow("many") as made:
                ports = [made.add(node(name=f"n{n}")(constant(n))).out for n in numbers]
                made.output("out", made.add(node(memo=reach)(summed), *ports).out)
            return made.using(memo=where)

        reach, where = place
        assert await told(flow(1, 2)) == ([1, 2], [(1, 2)])
        assert await told(flow(1, 2)) == ([1, 2], [])
        assert await told(flow(2, 1)) == ([2, 1], [(2, 1)])

    async def test_many_edges_are_told_apart_whatever_they_bring(self, place: Place) -> None:
        def flow(*values: Any) -> Flow:
            with Flow("many") as made:
                ports = [made.add(node(name=f"n{n}")(constant(one))).out for n, one in enumerate(values)]
                made.output("out", made.add(node(memo=reach)(summed), *ports).out)
            return made.using(memo=where)

        reach, where = place
        rows = [("a", "bsc"), ("a", "b", "c"), *((True, number) for number in range(60))]
        for row in rows:  # the digests of small values are small, and are as clear where they begin and end
            assert await told(flow(*row)) == (list(row), [row])

    async def test_a_skipped_optional_port_counts_as_its_default(self, place: Place) -> None:
        def flow(is_left_out: bool) -> Flow:
            with Flow("optional") as made:
                first = made.add(perhaps, is_there=not is_left_out)
                made.output("out", made.add(node(memo=reach)(added), x=1, y=first.out).out)
            return made.using(memo=where)

        reach, where = place
        assert await told(flow(is_left_out=True)) == (11, [1])
        assert await told(one_node(where, node(memo=reach)(added), x=1, y=10)) == (11, [])
        assert await told(flow(is_left_out=False)) == (4, [1])

    async def test_a_failure_that_a_port_takes_is_an_input(self, place: Place) -> None:
        reach, where = place
        with Flow("failing") as flow:
            step = flow.add(node(on_error="route")(fails))
            flow.output("out", flow.add(node(memo=reach)(told_failure), failure=step.error).out)
        assert await told(flow.using(memo=where)) == ("ValueError", ["failure"])
        assert (await told(flow.using(memo=where)))[0] == "ValueError"


class Mode(Config):
    mode: str = "a"


async def in_mode(config: Mode) -> str:
    CALLS.append(config.mode)
    return config.mode


async def added(x: int, y: int = 10) -> int:
    CALLS.append(x)
    return x + y


def _helper(x: int) -> int:
    return x + 1


helper: Callable[[int], int] = _helper


async def helped(x: int) -> int:
    CALLS.append("helped")
    return helper(x)


async def one_more(x: int) -> int:
    return x + 1


def constant(value: Any) -> Any:
    async def give() -> Any:
        return value

    return give


async def summed(*numbers: Any) -> list[Any]:
    CALLS.append(numbers)
    return list(numbers)


async def perhaps(is_there: bool) -> Maybe[int]:
    return 3 if is_there else SKIP


async def fails() -> int:
    raise ValueError("no")


async def told_failure(failure: Failure) -> str:
    CALLS.append("failure")
    return failure.type
