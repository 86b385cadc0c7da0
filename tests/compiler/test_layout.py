"""What a compiled flow waits for, and what it leaves out (S2.4, S5.3, S6.1, S8.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anyio.lowlevel import checkpoint

from dataflow import Flow, merge
from tests.compiler.typed_nodes import inc


async def late(n: int) -> int:
    for _ in range(5):
        await checkpoint()
    return n


async def big(n: int) -> bool:
    return n > 1


def dead(flow: Flow) -> Any:
    return flow.when(1, lambda n: n > 3).yes


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
