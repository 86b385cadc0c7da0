"""What two runs differ in, the first cause first (S13.6)."""

from __future__ import annotations

import math
from datetime import date, timedelta
from typing import Any, Final

import pytest

from dataflow import (
    DifferenceKind,
    ExecutionContext,
    Flow,
    Message,
    Secret,
    fallback,
    merge,
    node,
)
from dataflow.stores import Store
from tests.behaviour.forked_flows import asking, in_blocks, is_big, run_of, scaled, two_inputs, up

pytestmark = pytest.mark.usefixtures("called")


async def lines(flow: Flow, first: str, second: str) -> list[str]:
    text = str(await flow.diff(first, second)).replace(first, "A").replace(second, "B")
    return text.splitlines()


async def test_equal_runs_do_not_differ() -> None:
    flow = two_inputs(Store.memory())
    first, second = [await run_of(flow, a=1), await run_of(flow, a=1)]
    found = await flow.diff(first, second)
    assert (bool(found), list(found), str(found)) == (False, [], f"{first} and {second} do not differ")


async def test_a_changed_input_leads_to_values_and_outputs() -> None:
    flow = two_inputs(Store.memory())
    run = await run_of(flow, a=1)
    fork = await flow.fork(run, changes={"$in.b": 10})
    assert await lines(flow, run, fork.run_id) == [
        "A -> B: 4 differences",
        "cause    $in.b: 5 -> 10",
        "follows  up_2.out: 6 -> 11",
        "follows  add.out: 8 -> 13",
        "follows  output 'sum': 8 -> 13",
    ]


async def test_an_answer_is_a_cause_and_what_is_in_one_run_alone_is_told() -> None:
    flow = asking(Store.memory())
    run = await run_of(flow)
    fork = await flow.fork(run, changes={"first": 1})
    assert await lines(flow, run, fork.run_id) == [
        "A -> B: 3 differences", "cause    answer to first: nothing yet -> 1",
        "follows  up: only in B (done)", "follows  second: only in B (paused)",
    ]  # fmt: skip
    await flow.resume(run, {"first": 1})
    await flow.resume(run, {"second": 2})
    other = await flow.fork(run, changes={"second": 3})
    assert await lines(flow, run, other.run_id) == [
        "A -> B: 3 differences", "cause    answer to second: 2 -> 3", "follows  add.out: 4 -> 5",
        "follows  output 'sum': 4 -> 5",
    ]  # fmt: skip


async def test_a_changed_config_is_told_with_what_a_fork_has_changed() -> None:
    flow = in_blocks(Store.memory())
    run = await run_of(flow, x=3)
    fork = await flow.fork(run, changes={"rounds/grow.config.by": 3})
    assert await lines(flow, run, fork.run_id) == [
        "A -> B: 5 differences",
        "cause    rounds/grow: another config (by as in the flow -> 3)",
        "follows  rounds[0]/grow.out: 6 -> 9",
        "follows  rounds[1]/grow.out: 12 -> 27",
        "follows  rounds.grow: 12 -> 27",
        "follows  output 'looped': 12 -> 27",
    ]


DRAWN: list[Any] = []


async def draw(x: int) -> Any:
    """Give something else each time, as a model does."""
    return DRAWN.pop()


async def shown(x: Any) -> str:
    return repr(x)


#: Two values, and how the place in which they differ is written.
DIFFERENT: Final[tuple[tuple[Any, Any, str], ...]] = (
    ({"h": [0, 1]}, {"h": [0, 2]}, '["h"][1]: 1 -> 2'),
    ({"h": 1}, {"h": 1, "i": 2}, ': {"h": 1} -> {"h": 1, "i": 2}'),
    (1, True, ": 1 -> true"),
    ((1, 2), (1, 3), "[1]: 2 -> 3"),
    ((1, 2), [1, 2], ": [1, 2] -> [1, 2]"),
    ("x" * 100 + "left", "x" * 100 + "right", ': ..."xxxxxxxxxxxxleft" -> ..."xxxxxxxxxxxxright"'),
    (["y" * 20_000], ["y" * 20_000 + "z"], '[0]: ..."yyyyyyyyyyyy" -> ..."yyyyyyyyyyyyz"'),
    ({1: date(2026, 1, 2)}, {1: math.inf}, ': {"1": "2026-01-02"} -> {"1": Infinity}'),
    (b"\x00", b"\x01", r""": "b'\\x00'" -> "b'\\x01'" """.rstrip()),
    (timedelta(days=1), timedelta(hours=2), ': "1 day, 0:00:00" -> "2:00:00"'),
    ("a\ud800\\", "b\x1b", r""": "a\ud800\\" -> "b\u001b" """.rstrip()),
    ({"$": {"v": (1, {2})}}, 3, ': {"$": {"v": [1, [2]]}} -> 3'),
)


async def test_the_place_that_differs_in_a_value_is_reported() -> None:
    with Flow("drawn") as f:
        f.output("o", f.add(shown, x=f.add(draw, x=1).out).out)
    for first, second, text in DIFFERENT:
        flow = f.using(store=Store.memory())
        DRAWN[:] = [second, first]
        found = await flow.diff(await run_of(flow), await run_of(flow))
        cause, *rest = found
        assert (cause.kind, cause.path, cause.port) == (DifferenceKind.VALUE, "draw", "out")
        assert cause.text == f"draw.out{text}"
        assert not any(one.is_cause for one in rest)
        assert found.causes == (cause,)
    with Flow("order") as f:
        f.output("o", f.add(draw, x=1).out)
    flow = f.using(store=Store.memory())
    DRAWN[:] = [{"b": 1, "a": 2}, {"a": 2, "b": 1}]
    assert not await flow.diff(await run_of(flow), await run_of(flow))


async def test_answers_are_told_as_people_read_them() -> None:
    with Flow("asked") as f:
        f.output("o", f.ask(timedelta, "How long?", name="long").out)
    flow = f.using(store=Store.memory())
    run = await run_of(flow)
    one, other = [
        (await flow.fork(run, changes={"long": timedelta(minutes=count)})).run_id for count in (1, 2)
    ]
    assert (await lines(flow, one, other))[1:] == [
        'cause    answer to long: "0:01:00" -> "0:02:00"',
        'follows  output \'o\': "0:01:00" -> "0:02:00"',
    ]


async def test_the_message_that_differs_is_told() -> None:
    async def say(context: ExecutionContext, text: str) -> ExecutionContext:
        return context.append(Message("user", text), Message("assistant", f"so {text}"))

    async def last(context: ExecutionContext) -> str:
        return str(context.message_history[-1].content)

    with Flow("talk") as f:
        begun = f.add(say, context=f.context("main"), text="hello")
        f.output(
            "last", f.add(last, context=f.add(say, context=begun.out, text=f.input("text", str)).out).out
        )
    flow = f.using(store=Store.memory())
    one, other = await run_of(flow, text="a cat"), await run_of(flow, text="a dog")
    assert (await lines(flow, one, other))[2:4] == [
        'follows  say_2.out, message 2 (user): "a cat" -> "a dog"',
        'follows  last.out: "so a cat" -> "so a dog"',
    ]
    fork = await flow.fork(one, changes={"$in.text": "a cat"})
    assert not await flow.diff(one, fork)


async def fail_for(x: int) -> int:
    if x > 1:
        raise ValueError(f"bad {x}")
    return x


async def test_states_failures_and_skips_are_told_with_their_reasons() -> None:
    with Flow("states") as f:
        x = f.input("x", int)
        bad = f.add(node(fail_for).with_(on_error="skip"), x=x)
        ways = f.when(x, is_big)
        f.output("o", fallback(f.add(up, x=bad.out).out, 0))
        f.output("way", merge(f.add(scaled, x=ways.yes).out, ways.no))
    flow = f.using(store=Store.memory())
    one, other, third = [await run_of(flow, x=x) for x in (1, 2, 20)]
    assert await lines(flow, one, other) == [
        "A -> B: 6 differences",
        "cause    $in.x: 1 -> 2",
        "follows  fail_for: done -> failed (ValueError: bad 2)",
        "follows  up: done -> skipped (port 'x' has no value)",
        "follows  when.no: 1 -> 2",
        "follows  output 'o': 2 -> 0",
        "follows  output 'way': 1 -> 2",
    ]
    told = await lines(flow, other, third)
    assert "follows  fail_for failed otherwise: ValueError: bad 2 -> ValueError: bad 20" in told
    assert "follows  scaled: skipped (port 'x' has no value) -> done" in told


async def test_secrets_stay_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST", "first-password")
    monkeypatch.setenv("SECOND", "second-password")

    async def reveal(token: Secret) -> str:
        return token.reveal()

    with Flow("secret") as f:
        f.output("o", f.add(reveal, token=f.input("token", Secret)).out)
    flow = f.using(store=Store.memory())
    runs = [await run_of(flow, token=Secret(name)) for name in ("FIRST", "SECOND")]
    text = str(await flow.diff(runs[0], runs[1]))
    assert "[secret:FIRST]" in text
    assert "password" not in text


async def test_runs_that_end_otherwise_are_told_as_such() -> None:
    with Flow("ends") as f:
        f.output("o", f.add(fail_for, x=f.input("x", int)).out)
    flow = f.using(store=Store.memory())
    one, other = await run_of(flow, x=1), await run_of(flow, x=2)
    assert (await lines(flow, one, other))[-1] == "follows  the run: completed -> failed"
