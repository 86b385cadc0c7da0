"""What is remembered is the outcome of a success, whole, under a key of all that decides it (S13)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest

from dataflow import (
    Config,
    EventKind,
    ExecutionContext,
    Flow,
    Limit,
    Maybe,
    Memo,
    Message,
    NodeOutput,
    Port,
    Ports,
    RunFailed,
    collect,
    each,
    node,
)
from dataflow.core.ports import SKIP
from tests.behaviour.memo_flows import CALLS, Place, alike, called, one_node, places, told
from tests.behaviour.table import play

pytestmark = pytest.mark.usefixtures("calls")


@pytest.fixture(autouse=True)
def _without_failures() -> Iterator[None]:
    FAILURES.clear()
    yield
    FAILURES.clear()


FAILURES: list[str] = []  # how the next calls of `unsure` end


async def first(x: int = 1) -> int:
    CALLS.append("a")
    return x


async def unsure(x: int) -> str:
    CALLS.append("b")
    end = FAILURES.pop() if FAILURES else ""
    if end == "fails":
        raise ValueError("first call")
    if end == "waits":
        await anyio.sleep_forever()
    return "ok"


def two(place: Place, **settings: Any) -> Flow:
    """B30: a, which succeeds, before b, which does not at once; both are remembered."""
    reach, where = place
    with Flow("two") as flow:
        a = flow.add(node(name="a", memo=reach)(first))
        flow.output("out", flow.add(node(name="b", memo=reach, **settings)(unsure), x=a.out).out)
    return flow.using(memo=where)


async def late() -> int:
    CALLS.append("late")
    try:
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        return 1  # though it is over
    return 0


class TestFailures:
    """B30: failures are never cached."""

    async def test_failures_timeouts_and_cancelled_firings_are_no_outcomes(self, tmp_path: Path) -> None:
        ends: tuple[tuple[str, dict[str, Any]], ...] = (
            ("fails", {}), ("waits", {"timeout": 0.01}), ("fails", {"on_error": "skip"}),
            ("fails", {"on_error": "route"}), ("fails", {"default": "spare"}),
        )  # fmt: skip
        for end, settings in ends:
            for place in places(tmp_path):
                FAILURES.append(end)
                is_handled = settings.keys() & {"on_error", "default"}
                with nullcontext() if is_handled else pytest.raises(RunFailed):
                    await two(place, **settings).run()
                assert called() == ["a", "b"]
                assert await told(two(place, **settings)) == ("ok", ["b"])
                assert await told(two(place, **settings)) == ("ok", [])
        for place in places(tmp_path):
            FAILURES.append("waits")
            async with two(place).start() as run:
                async for event in run.events():
                    if event.kind is EventKind.NODE_STARTED and event.path == "b":
                        run.cancel()
                assert (await run).status == "cancelled"
            assert called() == ["a", "b"]
            assert await told(two(place)) == ("ok", ["b"])

    async def test_each_attempt_asks_and_the_one_that_succeeds_is_remembered(self, tmp_path: Path) -> None:
        for place in places(tmp_path):
            FAILURES.extend(["fails", "fails"])
            assert await told(two(place, retries=2)) == ("ok", ["a", "b", "b", "b"])
            assert await told(two(place, retries=2)) == ("ok", [])

    async def test_a_retried_flow_node_takes_from_the_run_what_had_succeeded(self) -> None:
        with Flow("inner") as inner:
            a = inner.add(node(name="a", memo="run")(first))
            inner.output("out", inner.add(node(name="b")(unsure), x=a.out).out)
        with Flow("outer") as outer:
            outer.output("out", outer.add(inner.with_(retries=1)).out)
        FAILURES.append("fails")
        assert await told(outer) == ("ok", ["a", "b", "b"])

    async def test_what_comes_back_after_its_time_is_no_outcome(self, tmp_path: Path) -> None:
        for reach, where in places(tmp_path):
            flow = one_node(where, node(memo=reach, timeout=0.01, on_error="skip")(late))
            for _ in range(2):
                assert (await told(flow, lambda result: result.outputs.get("out"))) == (None, ["late"])


async def listed() -> dict[str, list[int]]:
    CALLS.append("p")
    return {"k": [1]}


async def spoil(d: dict[str, list[int]]) -> dict[str, list[int]]:
    d["k"].append(2)
    return d


async def look(d: dict[str, list[int]]) -> list[int]:
    return d["k"]


async def append(xs: list[int]) -> list[int]:
    xs.append(9)
    return xs


class TestCopies:
    """B16: a node cannot change what another node or the memo holds."""

    async def test_nobody_changes_what_is_remembered(self, tmp_path: Path) -> None:
        for order in ("mr", "rm"):
            for reach, where in places(tmp_path):
                with Flow("copies") as flow:
                    p = flow.add(node(name="p", memo=reach)(listed))
                    for one in order:
                        step = flow.add(node(name=one)(spoil if one == "m" else look), d=p.out)
                        flow.output(one, step.out)
                for _ in range(3):
                    result = await flow.using(memo=where).run()
                    assert (result["r"], result["m"]) == ([1], {"k": [1, 2]})
                    kept: Any = result.get(p.out)
                    kept["k"].append(6)  # the caller changes only its own
                    result["m"]["k"].append(5)
                    assert result.get(p.out) == {"k": [1]}
                assert called() == ["p"]

    async def test_nobody_changes_it_where_a_scope_hands_its_only_copy_over(self, tmp_path: Path) -> None:
        for reach, where in places(tmp_path):
            with Flow("items") as flow:
                item = each(flow.input("xs", list[int]))
                p = flow.add(node(name="p", memo=reach)(list_of), x=item)
                flow.output("out", collect(flow.add(append, xs=p.out).out))
            for _ in range(3):
                assert (await flow.using(memo=where).run(xs=[1, 1, 2]))["out"] == [[1, 9], [1, 9], [2, 9]]
            assert sorted(called()) == [1, 2]


async def list_of(x: int) -> list[int]:
    CALLS.append(x)
    return [x]


class Parts(NamedTuple):
    low: Maybe[int]
    high: Maybe[int]


async def split(x: int) -> Parts:
    CALLS.append(x)
    return Parts(x if x < 10 else SKIP, x if x >= 10 else SKIP)


async def maybe(x: int) -> Maybe[int]:
    CALLS.append(x)
    return SKIP if x < 0 else x


async def raw(inputs: dict[str, Any], context: ExecutionContext) -> NodeOutput:
    CALLS.append(inputs["x"])
    answer = context.append(Message("user", "how many?"), Message("assistant", str(inputs["x"])))
    return NodeOutput({"n": inputs["x"]}, context=answer, metadata={"tokens": [1, 2]})


RAW = Ports({"x": Port(int)}, {"n": Port(int)})


async def guess(inputs: Any, context: ExecutionContext | None) -> NodeOutput:
    CALLS.append("guess")
    return NodeOutput({"out": 1}, remembered=False)


class TestOutcomes:
    async def test_a_port_that_was_left_out_is_left_out_again(self, tmp_path: Path) -> None:
        for reach, where in places(tmp_path):
            with Flow("parts") as flow:
                step = flow.add(node(memo=reach)(split), x=flow.input("x", int))
                flow.output("low", step.out.low)
                flow.output("high", step.out.high)
            flow = flow.using(memo=where)
            for x, outputs in ((3, {"low": 3}), (30, {"high": 30})):
                for calls in ([x], []):
                    assert await told(flow, lambda result: dict(result.outputs), x=x) == (outputs, calls)
            nothing = one_node(where, node(memo=reach)(maybe), x=-1)
            for calls in ([-1], []):
                assert await told(nothing, lambda result: dict(result.outputs)) == ({}, calls)

    async def test_a_raw_node_gives_outputs_context_and_metadata_again(self, tmp_path: Path) -> None:
        for reach, where in places(tmp_path):
            placed = node(memo=reach, ports=lambda _: RAW)(raw)
            for calls in ([5], []):
                with Flow("raw") as flow:
                    step = flow.add(placed, x=5, context=flow.input("context", ExecutionContext))
                    flow.output("n", step.out.n)
                    flow.output("context", step.out.context)
                given = ExecutionContext("c", session_id=f"{calls}").append(Message("user", "hello"))
                result = await flow.using(memo=where).run(context=given)
                said = [one.content for one in result["context"].message_history]
                assert (result["n"], said) == (5, ["hello", "how many?", "5"])
                assert dict(result.metadata["raw"]) == {"tokens": [1, 2]}
                assert called() == calls
                result.metadata["raw"]["tokens"].append(3)

    async def test_a_hit_is_reported_in_place_of_a_start(self, tmp_path: Path) -> None:
        for reach, where in places(tmp_path):
            flow, kinds = one_node(where, node(memo=reach)(first)), []
            for _ in range(2):
                events = [event for event in (await play(flow)).events if event.path == "first"]
                kinds.append([event.kind.value for event in events])
            assert kinds == [["memo_missed", "node_started", "node_finished"], ["memo_hit", "node_finished"]]
            hit, end = events
            assert (hit.data["reach"], hit.data["type"], hit.data["from_path"]) == (
                reach, "tests.behaviour.test_memo_outcomes:first", "first",
            )  # fmt: skip
            assert end.data == {"state": "done", "ports": {"out": {"value": 1}}, "metadata": {}}

    async def test_a_hit_is_no_start_for_a_limit(self, tmp_path: Path) -> None:
        for reach, where in places(tmp_path):
            with Flow("limited") as flow:
                item = each(flow.input("xs", list[int]))
                placed = node(memo=reach, limit="web")(list_of)
                flow.output("out", collect(flow.add(placed, x=item).out))
            flow = flow.using(memo=where, limits={"web": Limit(per_second=0.001)}, timeout=60)
            assert (await flow.run(xs=[1] * 50))["out"] == [[1]] * 50
            assert called() == [1]

    async def test_what_is_older_than_its_time_does_not_count(self, tmp_path: Path) -> None:
        for reach, where in places(tmp_path):
            for ttl, calls in ((3600, ["a"]), (3600, []), (1e-9, ["a"]), (3600, [])):
                placed = node(memo=Memo(reach, ttl=ttl))(first)
                assert await told(one_node(where, placed)) == (1, calls)

    async def test_what_a_node_does_not_want_remembered_is_not(self, tmp_path: Path) -> None:
        for reach, where in places(tmp_path):
            flow = one_node(where, node(ports=lambda _: Ports({}, {"out": int}), memo=reach)(guess))
            for _ in range(2):
                result = await flow.run()
                assert (result["out"], called()) == (1, ["guess"])
            assert result.why("guess").endswith("the node says that this is not to be remembered")


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
