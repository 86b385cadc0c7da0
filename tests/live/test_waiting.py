"""Who waits for ports of a session: one or several, of one revision or the next (S13.4)."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from dataflow import (
    DataflowError,
    Flow,
    Lazy,
    Paused,
    RunFailed,
    collect,
    each,
    fallback,
    merge,
    race,
)
from dataflow.live.session import Live
from tests.live.steps import Gate, asking, one_node, told, turns


def calling(gate: Gate) -> Flow:
    async def call(x: int) -> int:
        await gate.passed(x)
        return x

    return one_node(call)


async def test_a_reader_that_gives_up_stops_nothing() -> None:
    gate = Gate()
    async with calling(gate).live(x=1) as session:
        async with anyio.create_task_group() as group:
            group.start_soon(session.get, "y")
            await gate.reached()
            group.cancel_scope.cancel()
        gate.open()
        assert await session.get("y") == 1
        assert gate.calls == [1]


def racing(gate: Gate) -> Flow:
    async def fast(x: int) -> int:
        return x

    async def slow(x: int) -> int:
        try:
            await gate.passed(x)
        finally:
            with anyio.CancelScope(shield=True):  # it takes its time to stop
                await turns()
        return -x

    with Flow("f") as flow:
        x = flow.input("x", int)
        flow.output("y", race(flow.add(slow, x=x).out, flow.add(fast, x=x).out))
    return flow


async def test_a_race_stops_nothing_that_somebody_waits_for() -> None:
    gate = Gate()
    async with racing(gate).live(x=1) as session, asking(session, "slow.out", "y") as got:
        await gate.reached()
        await turns()
        assert got == [1]
        gate.open()
    assert (got, gate.calls) == ([1, -1], [1])


async def test_what_lost_a_race_is_computed_for_who_asks_for_it() -> None:
    gate = Gate()
    async with racing(gate).live(x=1) as session:
        assert await session.get("y") == 1
        async with asking(session, "slow.out") as got:  # it is still being stopped
            gate.open()
        assert got == [-1]
        await session.update(x=2)
        assert await session.get("y") in (2, -2)


async def test_an_answer_that_comes_before_who_waits_has_its_turn_counts() -> None:
    """Whoever waits is woken since nothing goes on; then it is answered, before they look."""

    async def after(x: int) -> int:
        await turns()
        return x

    with Flow("f") as flow:
        asked = flow.ask(int, "how many?", show=flow.input("x", int), name="q")
        flow.output("y", flow.add(after, x=asked.out).out)
    async with flow.live(x=1) as session:
        woken = session._engine._look_around

        def answering() -> None:
            woken()
            if session.asks:
                session._engine.answer({"q": session._engine.scheduler.asking.read("q", 7, "live")})

        session._engine.workers._idle = answering
        async with asking(session, "y") as got:
            await turns()
    assert got == [7]


async def test_a_pause_has_the_outputs_that_have_settled() -> None:
    async def same(x: int) -> int:
        return x

    with Flow("f") as flow:
        x = flow.input("x", int)
        flow.output("same", flow.add(same, x).out)
        flow.output("more", flow.ask(int, "More?", show=x).out)
    async with flow.live(x=1) as session:
        await session.get("same")
        with pytest.raises(Paused) as paused:
            await session.get("more")
    assert paused.value.result.outputs == {"same": 1}


async def test_what_a_lazy_port_asked_for_is_computed_again_if_it_was_overtaken() -> None:
    gate = Gate(lambda x: x == 1)

    async def source(x: int) -> int:
        await gate.passed(x)
        return x

    async def middle(x: int, y: Lazy[int]) -> int:
        return x + y

    async def last(x: int, y: Lazy[int]) -> int:
        return x + y

    with Flow("f") as flow:
        x, always = flow.input("x", int), flow.input("always", int, 0)
        slow = flow.add(source, x=x)
        between = flow.add(middle, x=x, y=slow.out)
        flow.output("y", flow.add(last, x=always, y=between.out).out)
    async with flow.live(x=1) as session, asking(session, "y") as got:
        await gate.reached()
        await session.update(x=2)
    assert (got, gate.calls) == ([4], [1, 2])


async def test_what_was_asked_for_once_comes_to_its_end_though_nobody_waits() -> None:
    """A merge settles early; what it does not need any more has lost what it waits for, and gets it again."""
    gate = Gate(lambda x: x == 1)

    async def slow(x: int) -> int:
        await gate.passed(x)
        return x

    async def after(x: int) -> int:
        gate.ended.append("after")
        return x

    with Flow("f") as flow:
        x = flow.input("x", int)
        flow.output("y", merge(x, flow.add(after, x=flow.add(slow, x=x).out).out))
    async with flow.live(x=1) as session:
        async with asking(session, "y") as got:
            await gate.reached()
            async with asking(session, "y"):
                await session.update(x=2)
        assert got in ([1], [2])
        await turns()
        assert session._engine.scheduler.root.has_ended


async def test_waiters_outside_learn_that_the_block_has_been_left() -> None:
    for cancel in (False, True):
        await leave_the_block(cancel=cancel)


async def leave_the_block(*, cancel: bool) -> None:
    gate = Gate()
    flow = calling(gate)
    heard: list[Any] = []
    async with anyio.create_task_group() as group:
        scope = anyio.CancelScope()
        found: list[Live] = []

        async def watch() -> None:
            heard.extend([value async for value in found[0].watch("y")])
            heard.append("end")

        async def ask() -> None:
            heard.append(await told(found[0].get("y")))

        with scope:
            async with flow.live(x=1) as session:
                found.append(session)
                group.start_soon(watch)
                group.start_soon(ask)
                await gate.reached()
                await turns()
                if cancel:
                    scope.cancel()
                    await anyio.sleep_forever()
    assert "end" in heard
    assert sum("DF0844 flow 'f':" in one for one in heard) == 1
    for later in (session.get("y"), session.update(x=2), session.answer({})):
        with pytest.raises(DataflowError, match="DF0844 flow 'f':"):
            await later


async def test_an_interruption_of_a_node_is_that_of_the_block() -> None:
    async def call(x: int) -> int:
        raise KeyboardInterrupt

    flow = one_node(call)
    heard: list[Any] = []

    async def block() -> None:
        async with flow.live(x=1) as session:
            heard.append(await told(session.get("y")))

    with pytest.raises(KeyboardInterrupt):
        await block()
    assert "interrupted by KeyboardInterrupt" in heard[0]


async def test_a_failure_stays_until_an_input_changes_and_closes_nothing_else() -> None:
    calls: list[int] = []

    async def breaks(x: int) -> int:
        calls.append(x)
        if x == 1:
            raise ValueError("no paper")
        return x

    async def beside(x: int) -> int:
        await turns(3)
        return x

    with Flow("f") as flow:
        x = flow.input("x", int)
        flow.output("y", flow.add(breaks, x=x).out)
        flow.output("z", fallback(flow.add(beside, x=x).out, 0))
    async with flow.live(x=1) as session:
        async with asking(session, "y", "z") as got:
            pass
        assert got[1] == 1
        for _ in range(2):
            with pytest.raises(RunFailed, match="no paper") as raised:
                await session.get("y")
            assert isinstance(raised.value.__cause__, ValueError)
        assert calls == [1]
        await session.update(x=2)
        assert await session.get("y") == 2


async def test_a_list_of_a_map_that_fails_is_no_value_though_all_items_have_given_theirs() -> None:
    gate = Gate()

    async def first(x: int) -> int:
        return x

    async def then(x: int) -> int:
        await gate.passed(x)
        raise ValueError(x)

    with Flow("f") as flow:
        one = flow.add(first, x=each(flow.input("xs", list[int])))
        flow.output("then", collect(flow.add(then, x=one.out).out))
        flow.output("first", collect(one.out))
    async with flow.live(xs=[1, 2]) as session, asking(session, "first") as got:
        await gate.reached()
        gate.open()
    assert "ValueError" in got[0]


async def slow_double(x: int) -> int:
    await anyio.sleep(0.01)
    return 2 * x


async def negative(x: int) -> int:
    if x == 3:
        raise ValueError("no three")
    return -x


def two() -> Flow:
    with Flow("two") as flow:
        x = flow.input("x", int)
        flow.output("double", flow.add(slow_double, x).out)
        flow.output("negative", flow.add(negative, x).out)
    return flow


async def test_an_update_to_an_equal_value_begins_no_revision_and_other_code_does() -> None:
    begun: list[int] = []

    async def follow(session: Live) -> None:
        while True:
            begun.append(await session.revised())

    async with two().live(x=1) as session, anyio.create_task_group() as tasks:
        tasks.start_soon(follow, session)
        await turns()
        await session.update(x=1)
        await turns()
        assert begun == []
        await session.replace("negative", slow_double)
        await turns()
        assert begun == [2]
        tasks.cancel_scope.cancel()


async def test_waiting_for_a_revision_of_a_session_that_ends_is_an_error() -> None:
    async with anyio.create_task_group() as tasks:

        async def wait(session: Live) -> None:
            with pytest.raises(DataflowError, match="DF0844"):
                await session.revised()

        async with two().live(x=1) as session:
            tasks.start_soon(wait, session)
            await anyio.wait_all_tasks_blocked()


async def test_who_watches_what_has_failed_waits_for_the_next_revision() -> None:
    seen: list[object] = []

    async def follow(session: Live) -> None:
        while True:
            try:
                async for value in session.watch("negative"):
                    seen.append(value)  # noqa: PERF401 - what comes before the failure counts
            except RunFailed:
                seen.append("failed")
                seen.append(await session.revised())

    async with two().live(x=1) as session, anyio.create_task_group() as tasks:
        tasks.start_soon(follow, session)
        for x in (3, 5):
            await anyio.wait_all_tasks_blocked()
            await session.update(x=x)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert seen == [-1, "failed", 3, -5]
