"""What a compiled flow waits for, and what it leaves out (S2.4, S5.3, S6.1, S8.4)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
from anyio.lowlevel import checkpoint

from dataflow import EventKind, Flow, NodeState, Retry, collect, each, fallback, gather, merge, node
from dataflow.core.functions import import_function
from dataflow.core.nodetype import derive
from dataflow.core.wiring import Block, Literally, MapBlock, Placed, PlacedNode, Reference, Wiring
from dataflow.packs.registry import find_type


async def inc(n: int) -> int:
    return n + 1


async def late(n: int) -> int:
    for _ in range(5):
        await checkpoint()
    return n


async def add(a: int, b: int) -> int:
    return a + b


async def big(n: int) -> bool:
    return n > 1


def dead(flow: Flow) -> Any:
    return flow.when(1, lambda n: n > 3).yes


JOINS: list[tuple[str, Callable[[Flow], Any], dict[str, Any]]] = [
    ("a merge of constants", lambda _f: merge(1, 2), {"y": 1}),
    ("a gather of constants", lambda _f: gather(1, 2), {"y": [1, 2]}),
    ("a fallback to a constant", lambda f: fallback(dead(f), 3), {"y": 3}),
    ("a fallback that is not needed", lambda f: fallback(f.add(inc, n=1).out, 3), {"y": 2}),
    ("a fallback of a constant", lambda f: fallback(1, f.add(inc, n=1).out), {"y": 1}),
    ("a merge of one port twice", lambda f: merge(*[f.add(inc, n=1).out] * 2), {"y": 2}),
    ("a gather of one port twice", lambda f: gather(*[f.add(inc, n=1).out] * 2), {"y": [2, 2]}),
    ("a merge waits for the first", lambda f: merge(f.add(late, n=1).out, f.add(inc, n=2).out), {"y": 1}),
    ("a gather keeps the order", lambda f: gather(f.add(late, n=1).out, f.add(inc, n=2).out), {"y": [1, 3]}),
    ("a gather without what is skipped", lambda f: gather(dead(f), f.add(inc, n=2).out), {"y": [3]}),
    ("a gather of skips", lambda f: gather(dead(f), dead(f)), {}),
    ("a merge of skips", lambda f: merge(dead(f), dead(f)), {}),
    ("a fallback of skips", lambda f: fallback(dead(f), dead(f)), {}),
    (
        "joins in joins",
        lambda f: merge(dead(f), fallback(merge(dead(f), dead(f)), gather(1, dead(f)))),
        {"y": [1]},
    ),
    ("a constant", lambda _f: "x", {"y": "x"}),
    ("an input", lambda f: f.input("n", int, 3), {"y": 3}),
]


@pytest.mark.parametrize(("make", "outputs"), [case[1:] for case in JOINS], ids=[case[0] for case in JOINS])
async def test_joins_give_what_they_promise(make: Callable[[Flow], Any], outputs: dict[str, Any]) -> None:
    flow = Flow()
    flow.output("y", make(flow))
    assert dict((await flow.run()).outputs) == outputs


async def test_what_only_next_values_need_waits_for_the_test() -> None:
    with Flow() as flow:
        with flow.loop(limit=5) as it:
            n = it.carry(0)
            step = flow.add(inc, n=n.out)
            it.until(step.out, lambda value: value >= 2)
            first = flow.add(inc, n=step.out)
            n.next(flow.add(node(inc).with_(name="last"), n=first.out).out)
        flow.output("step", step.out)
    result = await flow.run()
    assert result["step"] == 4
    assert {path: state.value for path, state in result.states.items()} == {
        "loop": "done",
        "loop[0]/inc": "done",
        "loop[0]/inc_2": "done",
        "loop[0]/last": "done",
        "loop[1]/inc": "done",
        "loop[1]/inc_2": "not_run",
        "loop[1]/last": "not_run",
    }


async def test_a_side_branch_of_a_loop_fires_in_the_last_round_too() -> None:
    fired: list[int] = []

    async def note(n: int) -> None:
        fired.append(n)

    with Flow() as flow, flow.loop(limit=5) as it:
        n = it.carry(0)
        step = flow.add(inc, n=n.out)
        flow.add(note, n=step.out)
        it.until(step.out, lambda value: value >= 2)
        n.next(step.out)
    await flow.run()
    assert fired == [1, 2]


async def test_inner_loops_and_maps_that_only_next_values_need_wait_too() -> None:
    with Flow() as flow:
        with flow.loop(name="outer", limit=5) as it:
            xs = it.carry(flow.input("xs", list[int]))
            it.until(xs.out, lambda value: len(value) == 2)
            step = flow.add(inc, n=1)
            with flow.loop(name="inner", limit=2) as inner:
                m = inner.carry(xs.out)
                m.next(collect(flow.add(add, a=each(m.out), b=step.out).out))
            xs.next(m.final)
        flow.output("xs", xs.final)
    result = await flow.run(xs=[1, 2])
    assert result["xs"] == [1, 2]
    assert result.states["outer[0]/inner"] is NodeState.NOT_RUN
    assert result.states["outer[0]/inc"] is NodeState.NOT_RUN


@pytest.mark.parametrize(
    ("test", "rounds"),
    [
        (lambda _flow, it, n, _step: it.until(n.out, lambda value: value == 1), 2),
        (lambda flow, it, _n, step: it.until(flow.add(late, n=step.out).out, lambda value: value == 2), 2),
        (lambda flow, it, _n, step: it.until(flow.add(big, n=step.out).out, None), 2),
        (lambda _flow, it, _n, _step: it.until(True, lambda value: value), 1),
        (lambda flow, it, _n, _step: it.until(flow.input("stop", bool, True), lambda value: value), 1),
        (lambda flow, it, _n, step: it.until(merge(dead(flow), step.out), lambda value: value == 3), 3),
        (lambda flow, it, _n, _step: it.until(dead(flow), lambda _value: True), 1),
        (lambda _flow, it, n, _step: it.while_(n.out, lambda value: value < 2), 2),
    ],
)
async def test_a_test_may_read_anything(test: Callable[..., None], rounds: int) -> None:
    with Flow() as flow:
        with flow.loop(limit=4) as it:
            n = it.carry(0)
            step = flow.add(inc, n=n.out)
            test(flow, it, n, step)
            n.next(step.out)
        flow.output("last", it.result(step.out))
    result = await flow.run()
    assert result["last"] == rounds
    assert len([path for path in result.states if path.endswith("/inc")]) == rounds


OUTSIDE: list[tuple[str, Callable[[Flow, Any, Any, Any, Any], Any], int]] = [
    ("a next value", lambda _flow, _it, n, _step, outside: n.next(outside), 6),
    ("a next value in a join", lambda _flow, _it, n, _step, outside: n.next(merge(outside, 0)), 6),
    (
        "a test",
        lambda _flow, it, n, step, outside: (it.until(outside, lambda value: value == 5), n.next(step.out)),
        1,
    ),
]


@pytest.mark.parametrize(("wire", "last"), [case[1:] for case in OUTSIDE], ids=[case[0] for case in OUTSIDE])
@pytest.mark.parametrize("source", [late, inc])
async def test_a_round_waits_for_what_it_reads_from_outside_at_its_end(
    wire: Callable[..., Any], last: int, source: Callable[..., Any]
) -> None:
    with Flow() as flow:
        outside = flow.add(source, n=5 if source is late else 4)
        with flow.loop(limit=2) as it:
            n = it.carry(0)
            step = flow.add(inc, n=n.out)
            wire(flow, it, n, step, outside.out)
        flow.output("last", it.result(step.out))
    assert (await flow.run())["last"] == last


async def test_a_result_of_a_loop_may_come_from_outside() -> None:
    with Flow() as flow:
        outside = flow.add(late, n=5)
        with flow.loop(limit=2) as it:
            n = it.carry(0)
            n.next(n.out)
            result = it.result(merge(outside.out, 0))
            plain = it.result(outside.out)
        flow.output("result", result)
        flow.output("plain", plain)
    assert dict((await flow.run()).outputs) == {"result": 5, "plain": 5}


async def test_a_loop_without_nodes_hands_values_from_round_to_round() -> None:
    with Flow() as flow:
        outside = flow.add(late, n=5)
        with flow.loop(limit=3) as it:
            first, second = it.carry(1), it.carry(2)
            first.next(second.out)
            second.next(outside.out)
        flow.output("first", first.final)
        flow.output("second", second.final)
    assert dict((await flow.run()).outputs) == {"first": 5, "second": 5}


async def test_an_output_of_a_map_may_come_from_outside() -> None:
    body = Block(
        {"inc": PlacedNode("inc", type=derive(inc), inputs={"n": Reference("$item", "x")})},
        outputs={"late": Reference("late"), "inc": Reference("inc")},
    )
    nodes: dict[str, Placed] = {
        "late": PlacedNode("late", type=derive(late), inputs={"n": Literally(5)}),
        "m": MapBlock("m", over={"x": Literally([1, 2])}, body=body),
    }
    outputs = {name: Reference("m", name) for name in ("late", "inc")}
    flow = Flow.from_wiring(
        Wiring("f", block=Block(nodes, outputs=dict(outputs))), find_type, import_function
    )
    assert dict((await flow.run()).outputs) == {"late": [5, 5], "inc": [2, 3]}


async def test_a_disabled_node_is_skipped_and_so_is_what_reads_it() -> None:
    with Flow() as flow:
        first = flow.add(node(inc).with_(enabled=False), n=1)
        second = flow.add(inc, n=first.out)
        flow.output("y", second.out)
        flow.output("z", fallback(first.out, 0))
    result = await flow.run()
    assert dict(result.outputs) == {"z": 0}
    assert [state.value for state in result.states.values()] == ["skipped", "skipped"]
    assert result.why(first.out) == "'inc.out' has no value\n  because inc: disabled"


def settings() -> Flow:
    with Flow("inner") as inner:
        inner.add(inc, n=1)
    with Flow("f") as flow:
        flow.add(inner.using(keep=False))
        flow.add(inc, n=each([1], max_concurrency=2, on_error="skip"))
    return flow


UNUSED = "flow 'f' sets what counts only for whole runs: keep of the flow of node 'inner'"


async def test_settings_without_an_effect_are_told_once_in_event_log_and_result(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, logger="dataflow"):
        async with settings().start() as run:
            events = [event async for event in run.events()]
            result = await run
    assert [record.getMessage() for record in caplog.records] == [UNUSED]
    told = [event for event in events if event.kind is EventKind.WARNING]
    assert [dict(event.data) for event in told] == [{"code": "without_effect", "text": UNUSED}]
    assert list(result.warnings) == [UNUSED]


async def test_settings_that_have_an_effect_are_not_told(caplog: pytest.LogCaptureFixture) -> None:
    with Flow("f") as flow:
        flow.add(node(inc).with_(on_error="skip", effect=True, default=0, enabled=True), n=1)
        flow.add(node(inc).with_(retries=Retry(2), timeout=60.0, deadline=60.0, limit="web"), n=1)
    using = flow.using(errors="continue", max_concurrency=3, limits={"web": 2}, timeout=60.0)
    result = await using.run()
    assert (result.warnings, caplog.records) == ((), [])
