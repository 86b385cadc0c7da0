"""How a run fails: what it cancels, what it raises, what it leaves (S9.4, S9.5)."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import pytest
from anyio import Event, get_running_tasks, sleep_forever
from anyio.lowlevel import checkpoint

from dataflow import EventKind, Flow, NodeFailed, RunFailed, collect, each, node
from tests.behaviour.nodes import ident, inc, one, pair, src, tallying
from tests.behaviour.table import reasons, states_of


class BoomError(Exception):
    """The user's own."""


def failing_join(gate: Event, begun: Event | None, *, swapped: bool) -> Flow:
    """Wire B05: a fails, b waits at the gate, j reads both; `begun` holds a until b has begun."""

    async def a(x: int) -> int:
        if begun is not None:
            await begun.wait()
        raise ValueError("bad a")

    async def b(x: int) -> int:
        if begun is not None:
            begun.set()
        await gate.wait()
        return x

    with Flow("B05") as f:
        source = f.add(src, x=1)
        if swapped:
            second, first = f.add(b, x=source.out), f.add(a, x=source.out)
        else:
            first, second = f.add(a, x=source.out), f.add(b, x=source.out)
        f.output("j", f.add(pair, p=first.out, q=second.out).out)
    return f


@pytest.mark.parametrize("swapped", [False, True], ids=["a first", "b first"])
@pytest.mark.parametrize("has_begun", [False, True], ids=["at once", "b has begun"])
async def test_a_failed_branch_does_not_leave_the_join_waiting(swapped: bool, has_begun: bool) -> None:
    """B05(i)"""
    before = len(get_running_tasks())
    flow = failing_join(Event(), Event() if has_begun else None, swapped=swapped)
    with tallying() as tally, pytest.raises(RunFailed) as raised:
        await flow.run()
    result = raised.value.result
    assert [list(f)[:5] for f in raised.value.failures] == [["a", "a", 1, "ValueError", "bad a"]]
    assert result.status == "failed"
    assert states_of(result) == {"src": "done", "a": "failed", "b": "cancelled", "pair": "not_run"}
    assert tally.runs() == {"src": 1}
    assert reasons(result, "pair") == ["  because a failed: ValueError: bad a"]
    assert reasons(result, "b") == ["  because a failed: ValueError: bad a"]
    assert reasons(result, "pair.out") == ["  because a failed: ValueError: bad a"]
    assert len(get_running_tasks()) == before


async def test_independent_parts_finish_under_continue() -> None:
    """B05(ii)"""
    gate = Event()
    flow = failing_join(gate, Event(), swapped=False).using(errors="continue")
    with tallying() as tally:
        async with flow.start() as run:
            async for event in run.events():
                if event.path == "a" and event.kind is EventKind.NODE_FINISHED:
                    gate.set()
            with pytest.raises(RunFailed) as raised:
                await run
    result = raised.value.result
    assert states_of(result) == {"src": "done", "a": "failed", "b": "done", "pair": "not_run"}
    assert tally.runs() == {"src": 1}
    assert reasons(result, "pair") == ["  because a failed: ValueError: bad a"]
    port: Any = "b.out"
    assert result.get(port) == 1
    assert result.status == "failed"


async def fail(x: int) -> int:
    raise BoomError(f"boom {x}")


async def test_the_cause_is_the_users_own_exception() -> None:
    with Flow() as f:
        f.output("o", f.add(fail, x=3).out)
    with pytest.raises(RunFailed, match=r"failed: fail: BoomError: boom 3") as raised:
        await f.run()
    cause = raised.value.__cause__
    assert type(cause) is BoomError
    assert cause.args == ("boom 3",)
    assert [type(failure.attempt) for failure in raised.value.failures] == [int]


async def test_the_traceback_begins_in_the_users_file() -> None:
    with Flow() as f:
        f.output("o", f.add(fail, x=3).out)
    with pytest.raises(RunFailed) as raised:
        await f.run()
    lines = raised.value.failures[0].traceback.splitlines()
    assert [line for line in lines if "File" in line] == [line for line in lines if "test_failing.py" in line]
    assert '    raise BoomError(f"boom {x}")' in lines
    assert lines[-1].endswith("BoomError: boom 3")


async def test_several_failures_are_a_group_without_noise() -> None:
    with Flow() as f:
        for number in (1, 2):
            f.add(fail, x=number)
        f.add(one)
    with tallying(), pytest.raises(RunFailed) as raised:
        await f.using(errors="continue").run()
    cause = raised.value.__cause__
    assert isinstance(cause, ExceptionGroup)
    assert [(type(error), *error.args) for error in cause.exceptions] == [
        (BoomError, "boom 1"),
        (BoomError, "boom 2"),
    ]
    assert [failure.path for failure in raised.value.failures] == ["fail", "fail_2"]


async def test_what_a_node_raises_on_being_cancelled_is_no_failure() -> None:
    begun = Event()

    async def noisy() -> int:
        begun.set()
        try:
            await sleep_forever()
        finally:
            raise RuntimeError("noise")

    async def fail_later() -> int:
        await begun.wait()
        raise BoomError("first")

    with Flow() as f:
        f.add(noisy)
        f.add(fail_later)
    with pytest.raises(RunFailed) as raised:
        await f.run()
    assert [failure.path for failure in raised.value.failures] == ["fail_later"]
    assert type(raised.value.__cause__) is BoomError
    assert states_of(raised.value.result) == {"noisy": "cancelled", "fail_later": "failed"}


@pytest.mark.parametrize("scope", ["root", "map", "loop"])
async def test_failures_are_told_in_the_order_of_their_nodes_not_of_time(scope: str) -> None:
    gate = Event()

    async def early(x: object) -> int:
        await gate.wait()
        raise BoomError("early")

    async def late(x: object) -> int:
        gate.set()
        raise BoomError("late")

    async def either(late: bool) -> int:
        if not late:
            await gate.wait()
        gate.set()
        raise BoomError("late" if late else "early")

    with Flow() as f:
        match scope:
            case "root":
                f.add(early, x=1)
                f.add(late, x=1)
            case "map":
                f.add(either, late=each([False, True]))
            case "loop":
                with f.loop(limit=1) as it:
                    v = it.carry(0)
                    v.next(v.out)
                    f.add(early, x=v.out)
                    f.add(late, x=v.out)
    with pytest.raises(RunFailed) as raised:
        await f.using(errors="continue").run()
    assert [failure.message for failure in raised.value.failures] == ["early", "late"]
    group = raised.value.__cause__
    assert isinstance(group, ExceptionGroup)
    assert [str(error) for error in group.exceptions] == ["early", "late"]


async def test_an_exception_group_is_one_failure() -> None:
    async def group() -> int:
        raise ExceptionGroup("both", [ValueError("v"), TypeError("t")])

    with Flow() as f:
        f.add(group)
    with pytest.raises(RunFailed) as raised:
        await f.run()
    assert [(failure.path, failure.type) for failure in raised.value.failures] == [
        ("group", "ExceptionGroup")
    ]
    cause = raised.value.__cause__
    assert isinstance(cause, ExceptionGroup)
    assert cause.message == "both"
    assert "TypeError: t" in raised.value.failures[0].traceback


async def test_an_exception_without_a_text_is_a_failure_all_the_same() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    async def mute() -> int:
        raise MuteError

    with Flow() as f:
        f.add(mute)
    with pytest.raises(RunFailed) as raised:
        await f.run()
    assert type(raised.value.__cause__) is MuteError
    assert raised.value.failures[0].type == "MuteError"


@pytest.mark.parametrize("errors", ["fail_fast", "continue"])
async def test_a_failing_item_fails_the_map_and_the_run(errors: Any) -> None:
    gate, begun = Event(), Event()

    async def item(x: int) -> int:
        if x == 1:
            await begun.wait()
            gate.set()
            raise BoomError("item")
        begun.set()
        if errors == "fail_fast":
            await sleep_forever()
        await gate.wait()
        return x

    with Flow() as f:
        passed = f.add(item, x=each([1, 2]))
        f.output("o", f.add(ident, x=collect(f.add(inc, x=passed.out).out)).out)
    with tallying(), pytest.raises(RunFailed) as raised:
        await f.using(errors=errors).run()
    other = {"fail_fast": ("cancelled", "not_run"), "continue": ("done", "done")}[errors]
    assert states_of(raised.value.result) == {
        "item": "failed",
        "item[0]": "failed",
        "item[0]/inc": "not_run",
        "item[1]": other[0],
        "item[1]/inc": other[1],
        "ident": "not_run",
    }
    assert [failure.path for failure in raised.value.failures] == ["item[0]"]


async def test_a_failure_that_nobody_awaited_is_raised_by_the_block() -> None:
    with Flow() as f:
        f.add(fail, x=1)
    with pytest.raises(RunFailed, match="boom 1"):
        async with f.start():
            await checkpoint()


async def test_a_failure_is_told_each_time_the_run_is_awaited() -> None:
    with Flow() as f:
        f.add(fail, x=1)
    async with f.start() as run:
        for _ in range(2):
            with pytest.raises(RunFailed, match="boom 1"):
                await run
    with pytest.raises(RunFailed, match="boom 1"):
        await run


async def test_a_node_that_is_no_coroutine_fails_like_any_other() -> None:
    """It raises when it is called, before there is anything to await."""

    def early(x: int) -> Awaitable[int]:
        raise BoomError("early")

    with Flow() as f:
        f.add(node(early), x=1)
    with pytest.raises(RunFailed) as raised:
        await f.run()
    assert type(raised.value.__cause__) is BoomError


async def test_a_checked_value_fails_the_reader_not_the_giver() -> None:
    async def text() -> Any:
        return "text"

    with Flow() as f:
        f.output("o", f.add(inc, x=f.add(text).out).out)
    with tallying() as tally, pytest.raises(RunFailed) as raised:
        await f.run()
    assert type(raised.value.__cause__) is NodeFailed
    assert states_of(raised.value.result) == {"text": "done", "inc": "failed"}
    assert tally.runs() == {}
