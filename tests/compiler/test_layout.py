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
from tests.compiler.typed_nodes import add, inc


async def late(n: int) -> int:
    for _ in range(5):
        await checkpoint()
    return n


async def big(n: int) -> bool:
    return n > 1


def dead(flow: Flow) -> Any:
    return flow.when(1, lambda n: n > 3).yes


JOINS: list[tuple[str, Callable[[Flow], Any], object]] = [
    ("a fallback of a constant", lambda f: fallback(1, f.add(inc, n=1).out), 1),
    ("a merge of one port twice", lambda f: merge(*[f.add(inc, n=1).out] * 2), 2),
    ("a gather of one port twice", lambda f: gather(*[f.add(inc, n=1).out] * 2), [2, 2]),
    ("a merge waits for the first", lambda f: merge(f.add(late, n=1).out, f.add(inc, n=2).out), 1),
    ("a gather keeps the order", lambda f: gather(f.add(late, n=1).out, f.add(inc, n=2).out), [1, 3]),
    ("joins in joins", lambda f: merge(dead(f), fallback(merge(dead(f), dead(f)), gather(1, dead(f)))), [1]),
    ("a constant", lambda _f: "x", "x"),
    ("an input", lambda f: f.input("n", int, 3), 3),
]


async def test_an_output_may_be_any_source() -> None:
    found = {}
    for name, make, _ in JOINS:
        flow = Flow()
        flow.output("y", make(flow))
        found[name] = (await flow.run())["y"]
    assert found == {name: value for name, _, value in JOINS}


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


async def test_a_test_may_read_anything() -> None:
    tests: list[tuple[Callable[..., None], int]] = [
        (lambda _flow, it, n, _step: it.until(n.out, lambda value: value == 1), 2),
        (lambda flow, it, _n, step: it.until(flow.add(late, n=step.out).out, lambda value: value == 2), 2),
        (lambda flow, it, _n, step: it.until(flow.add(big, n=step.out).out, None), 2),
        (lambda _flow, it, _n, _step: it.until(True, lambda value: value), 1),
        (lambda flow, it, _n, _step: it.until(flow.input("stop", bool, True), lambda value: value), 1),
        (lambda flow, it, _n, step: it.until(merge(dead(flow), step.out), lambda value: value == 3), 3),
        (lambda flow, it, _n, _step: it.until(dead(flow), lambda _value: True), 1),
        (lambda _flow, it, n, _step: it.while_(n.out, lambda value: value < 2), 2),
    ]
    for position, (test, rounds) in enumerate(tests):
        with Flow() as flow:
            with flow.loop(limit=4) as it:
                n = it.carry(0)
                step = flow.add(inc, n=n.out)
                test(flow, it, n, step)
                n.next(step.out)
            flow.output("last", it.result(step.out))
        result = await flow.run()
        fired = [path for path in result.states if path.endswith("/inc")]
        assert (position, result["last"], len(fired)) == (position, rounds, rounds)


#: What a loop reads from outside at the end of an iteration, and the last value that results.
OUTSIDE: list[tuple[Callable[..., Any], int]] = [
    (lambda _it, n, _step, outside: n.next(outside), 6),
    (lambda _it, n, _step, outside: n.next(merge(outside, 0)), 6),
    (lambda it, n, step, outside: (it.until(outside, lambda value: value == 5), n.next(step.out)), 1),
]


async def test_an_iteration_waits_for_values_from_outside_that_it_reads_at_its_end() -> None:
    for wire, last in OUTSIDE:
        for source, value in ((late, 5), (inc, 4)):
            with Flow() as flow:
                outside = flow.add(source, n=value)
                with flow.loop(limit=2) as it:
                    n = it.carry(0)
                    step = flow.add(inc, n=n.out)
                    wire(it, n, step, outside.out)
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


def settings() -> Flow:
    with Flow("inner") as inner:
        inner.add(inc, n=1)
    with Flow("f") as flow:
        flow.add(inner.using(keep=False))
        flow.add(inc, n=each([1], max_concurrency=2, on_error="skip"))
    return flow


async def test_settings_without_an_effect_are_reported_once_in_event_log_and_result(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, logger="dataflow"):
        async with settings().start() as run:
            events = [event async for event in run.events()]
            result = await run
    (text,) = result.warnings
    assert "keep of the flow of node 'inner'" in text
    assert [record.getMessage() for record in caplog.records] == [text]
    warnings = [event for event in events if event.kind is EventKind.WARNING]
    assert [dict(event.data) for event in warnings] == [{"code": "without_effect", "text": text}]


async def test_settings_that_have_an_effect_are_not_told(caplog: pytest.LogCaptureFixture) -> None:
    with Flow("f") as flow:
        flow.add(node(inc).with_(on_error="skip", effect=True, default=0, enabled=True), n=1)
        flow.add(node(inc).with_(retries=Retry(2), timeout=60.0, deadline=60.0, limit="web"), n=1)
    using = flow.using(errors="continue", max_concurrency=3, limits={"web": 2}, timeout=60.0)
    result = await using.run()
    assert (result.warnings, caplog.records) == ((), [])
