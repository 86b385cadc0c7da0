"""What wiring hands back: steps, branches, loops and carried ports (S6.1)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dataflow import Carry, Failure, Flow, Loop, Signal, Step, When, merge
from dataflow.core.functions import import_function
from dataflow.core.nodetype import derive
from dataflow.core.wiring import (
    All,
    Block,
    Carried,
    Literally,
    LoopBlock,
    Placed,
    PlacedNode,
    Reference,
    Wiring,
)
from dataflow.packs.registry import find_type


async def inc(n: int) -> int:
    return n + 1


async def words(n: int) -> str:
    return "x" * n


async def wait(go: Signal) -> int:
    return 1


async def handle(failure: Failure) -> str:
    return failure.message


async def broken(n: int) -> int:
    raise ValueError("no")


def loop_of(flow: Flow, name: str = "loop") -> LoopBlock:
    placed = flow.wiring.block.nodes[name]
    assert isinstance(placed, LoopBlock)
    return placed


def test_a_step_has_a_result_a_signal_and_a_failure() -> None:
    step = Flow().add(inc, n=1)
    assert isinstance(step, Step)
    assert (repr(step), repr(step.out), repr(step.done), repr(step.error)) == (
        "<step inc>",
        "'inc.out'",
        "'inc.$done'",
        "'inc.$error'",
    )


async def test_the_signal_and_the_failure_of_a_step_can_be_wired() -> None:
    with Flow() as flow:
        fails = flow.add(broken, n=1)
        flow.output("waited", flow.add(wait, go=flow.add(inc, n=1).done).out)
        flow.output("handled", flow.add(handle, failure=fails.error).out)
        flow.output("missed", flow.add(wait, go=fails.done).out)
    result = await flow.run()
    assert dict(result.outputs) == {"waited": 1, "handled": "no"}


def test_a_branch_has_two_exits() -> None:
    flow = Flow()
    branch = flow.when(flow.input("n", int), lambda n: n > 3)
    assert isinstance(branch, When)
    assert (repr(branch.yes), repr(branch.no)) == ("'when.yes'", "'when.no'")


def test_a_loop_keeps_its_settings() -> None:
    flow = Flow()
    with flow.loop() as first:
        assert isinstance(first, Loop)
    with flow.loop(name="refine", limit=None, on_limit="fail"):
        pass
    assert (loop_of(flow).limit, loop_of(flow).on_limit) == (100, "exit")
    assert (loop_of(flow, "refine").limit, loop_of(flow, "refine").on_limit) == (None, "fail")


def test_a_carried_port_has_a_first_and_a_next_value() -> None:
    flow = Flow()
    first = flow.input("n", int)
    with flow.loop() as it:
        carry = it.carry(first)
        step = flow.add(inc, n=carry.out)
        carry.next(step.out)
    assert isinstance(carry, Carry)
    assert repr(carry.out) == "'$carry.carry'"
    assert loop_of(flow).carries == {"carry": Carried(Reference("$in", "n"), Reference("inc"))}


def test_reading_a_final_value_makes_it_an_output_of_the_loop_once() -> None:
    flow = Flow()
    with flow.loop() as it:
        carry = it.carry(0)
        carry.next(carry.out)
    assert repr(carry.final) == repr(carry.final) == "'loop.carry'"
    assert loop_of(flow).body.outputs == {"carry": Reference("$carry", "carry")}


def test_outputs_of_a_loop_are_named_apart() -> None:
    flow = Flow()
    with flow.loop() as it:
        carry = it.carry(0)
        step = flow.add(inc, n=carry.out)
        carry.next(step.out)
        named = [
            it.result(step.out),
            it.result(step.out),
            it.result(step.done),
            it.result(merge(step.out, 1)),
        ]
        more = it.result(merge(step.out, 2))
    assert [repr(port) for port in (*named, more)] == [
        "'loop.inc'",
        "'loop.inc'",
        "'loop.inc_done'",
        "'loop.result'",
        "'loop.result_2'",
    ]


Wire = Callable[[Flow, Loop, Carry[int]], object]


def until(_flow: Flow, it: Loop, carry: Carry[int]) -> None:
    it.until(carry.out, lambda n: n > 3)


def while_(_flow: Flow, it: Loop, carry: Carry[int]) -> None:
    it.while_(carry.out, bool)


def same(_flow: Flow, _it: Loop, carry: Carry[int]) -> None:
    carry.next(carry.out)


def both(*wires: Wire) -> Wire:
    return lambda flow, it, carry: [wire(flow, it, carry) for wire in wires]


@pytest.mark.parametrize(
    ("wire", "problems"),
    [
        (same, []),
        (lambda _flow, _it, _carry: None, ["'$carry.carry' of loop 'loop' has no next value"]),
        (both(same, same), ["next value of '$carry.carry' of loop 'loop' is given twice"]),
        (
            both(same, until, until),
            ["the test of loop 'loop' is given twice; a loop has one `until` or `while_`"],
        ),
        (
            both(same, until, while_),
            ["the test of loop 'loop' is given twice; a loop has one `until` or `while_`"],
        ),
        (
            lambda flow, _it, carry: carry.next(flow.add(words, n=carry.out).out),
            ["next value of '$carry.carry' of loop 'loop' is str, but the port began as int"],
        ),
        (
            lambda flow, _it, carry: carry.next(flow.add(inc, n=carry.out)),
            [
                (
                    "next value of '$carry.carry' of loop 'loop' is given a step; "
                    "wire one of its ports: step.out, step.done or step.error"
                ),
            ],
        ),
        (
            lambda flow, it, carry: (carry.next(carry.out), it.while_(flow.add(inc, n=carry.out).out, bool)),
            [
                (
                    "the test of loop 'loop' reads inc.out; `while` tests a carried port before the round, "
                    "use `until` for what a round makes"
                )
            ],
        ),
    ],
)
def test_a_loop_is_checked(wire: Wire, problems: list[str]) -> None:
    flow = Flow()
    with flow.loop() as it:
        carry = it.carry(0)
        wire(flow, it, carry)
    found = flow.check()
    assert found[: len(problems)] == problems
    assert bool(found) is bool(problems)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"limit": 0}, "loop 'loop': limit must be a whole number of 1 or more, or None, found 0"),
        ({"limit": -3}, "loop 'loop': limit must be a whole number of 1 or more, or None, found -3"),
        ({"limit": None}, "loop 'loop' has neither a limit nor a test: it would never end"),
        ({"on_limit": "stop"}, "loop 'loop': on_limit cannot be 'stop'; choices: exit, fail"),
    ],
)
def test_a_loop_that_cannot_be_is_a_problem(settings: dict[str, object], problem: str) -> None:
    flow = Flow()
    with flow.loop(**settings) as it:  # type: ignore[arg-type]
        carry = it.carry(0)
        carry.next(carry.out)
    assert flow.check() == [problem]


async def decide(n: int) -> bool:
    return n > 3


@pytest.mark.parametrize("kind", ["until", "while_"])
def test_a_test_that_is_async_is_refused(kind: str) -> None:
    flow = Flow()
    with flow.loop() as it:
        carry = it.carry(0)
        carry.next(carry.out)
        getattr(it, kind)(carry.out, decide)
    (problem,) = flow.check()
    assert problem == (
        "the test of loop 'loop': expected a plain function, found the async function decide; "
        "decide inside a node"
    )


def test_a_loop_ends_even_if_its_wiring_fails() -> None:
    flow = Flow()
    with pytest.raises(ZeroDivisionError), flow.loop(limit=1):
        raise ZeroDivisionError
    assert repr(flow.add(inc, n=1)) == "<step inc>"
    assert "inc" in flow.wiring.block.nodes


@pytest.mark.parametrize(("limit", "final", "last"), [(1, 0, 1), (3, 2, 3), (None, 9, 10)])
async def test_until_tests_what_the_round_made(limit: int | None, final: int, last: int) -> None:
    with Flow() as flow:
        with flow.loop(limit=limit) as it:
            n = it.carry(0)
            step = flow.add(inc, n=n.out)
            it.until(step.out, lambda value: value >= 10)
            n.next(step.out)
        flow.output("final", n.final)
        flow.output("last", it.result(step.out))
    assert dict((await flow.run()).outputs) == {"final": final, "last": last}


async def test_while_tests_what_a_round_would_begin_with() -> None:
    with Flow() as flow:
        with flow.loop() as it:
            n = it.carry(flow.input("first", int))
            it.while_(n.out, lambda value: value < 3)
            step = flow.add(inc, n=n.out)
            n.next(step.out)
        flow.output("final", n.final)
        flow.output("last", it.result(step.out))
        flow.output("began", it.result(n.out))
    assert dict((await flow.run(first=0)).outputs) == {"final": 3, "last": 3, "began": 2}
    assert dict((await flow.run(first=3)).outputs) == {"final": 3}


async def test_a_loop_without_a_test_ends_at_its_limit_without_a_warning() -> None:
    with Flow() as flow:
        with flow.loop(limit=3) as it:
            n = it.carry(0)
            n.next(flow.add(inc, n=n.out).out)
        flow.output("final", n.final)
    result = await flow.run()
    assert result["final"] == 3
    assert result.warnings == ()


def test_all_is_the_same_port_as_often_as_it_is_asked_for() -> None:
    with Flow() as flow:
        with flow.loop(limit=2) as it:
            v = it.carry(0)
            step = flow.add(inc, n=v.out)
            v.next(step.out)
        ports = [it.all(step.out), it.all(step.out), it.all(v.out), it.all(merge(step.out, 1))]
    assert [repr(port) for port in ports] == [
        "'loop.inc_all'", "'loop.inc_all'", "'loop.carry_all'", "'loop.all'"
    ]  # fmt: skip


def test_all_anywhere_but_at_the_end_of_a_loop_is_a_problem() -> None:
    nodes: dict[str, Placed] = {"inc": PlacedNode("inc", type=derive(inc), inputs={"n": Literally(1)})}
    wiring = Wiring("f", block=Block(nodes, outputs={"o": All(Reference("inc"))}))
    flow = Flow.from_wiring(wiring, find_type, import_function)
    assert flow.check() == ["output 'o': `all` is an output of a loop, and nothing else"]
