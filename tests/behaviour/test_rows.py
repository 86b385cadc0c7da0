"""Rows of firings that never wait: what one does is seen by no other, however it ends (S14.2, S14.5, S9)."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar
from typing import Any

import pytest
import trio
from anyio import Event, create_task_group, get_running_tasks
from anyio.lowlevel import checkpoint

from dataflow import SKIP, Flow, Maybe, NodeState, Run, RunFailed, collect, each, node, this_firing
from tests.behaviour.table import states_of

PLACE: ContextVar[str] = ContextVar("place", default="nowhere")


@pytest.fixture(autouse=True)
async def nothing_is_left() -> AsyncIterator[None]:
    """Let no task outlive the test."""
    before = len(get_running_tasks())
    yield
    assert len(get_running_tasks()) == before


async def one() -> int:
    return 1


async def inc(x: int) -> int:
    return x + 1


async def waiting(x: int) -> int:
    """Wait as often as a cancellation needs to arrive that was left in the task."""
    for _ in range(3):
        await checkpoint()
    return x + 1


def row(f: Flow, middle: Any, after: int = 3) -> None:
    """Wire a row of quick nodes with one among them, and beside it one that waits and a row behind that."""
    port = f.add(middle, x=f.add(inc, x=f.add(one).out).out).out
    for _ in range(after):
        port = f.add(inc, x=port).out
    f.output("o", port)
    port = f.add(node(waiting).with_(name="beside"), x=1).out
    for number in range(after):
        port = f.add(node(inc).with_(name=f"beside_{number}"), x=port).out
    f.output("beside", port)


# what a node sets


async def test_a_row_sees_nothing_of_what_its_nodes_set() -> None:
    async def sets(x: str) -> str:
        before = PLACE.get()
        PLACE.set(f"{before} and further")
        return before

    with Flow() as f:
        port = f.add(sets, x="").out
        for _ in range(10):
            port = f.add(sets, x=port).out
        f.output("o", port)
    assert (await f.run())["o"] == "nowhere"


async def test_a_round_sees_nothing_of_what_the_last_one_set() -> None:
    async def sets(x: list[str]) -> list[str]:
        seen = [*x, PLACE.get()]
        PLACE.set("a round")
        return seen

    with Flow() as f:
        with f.loop(limit=5) as it:
            v = it.carry([])
            v.next(f.add(sets, x=v.out).out)
        f.output("o", v.final)
    assert (await f.run())["o"] == ["nowhere"] * 5


async def test_an_item_sees_nothing_of_what_another_set() -> None:
    async def sets(x: int) -> str:
        before = PLACE.get()
        PLACE.set(f"item {x}")
        return before

    with Flow() as f:
        f.output("o", collect(f.add(sets, x=each(list(range(5)))).out))
    assert (await f.run())["o"] == ["nowhere"] * 5


async def test_a_test_of_a_loop_sees_nothing_of_what_a_node_set() -> None:
    seen: list[str] = []

    async def sets(x: int) -> int:
        PLACE.set("a node")
        return x + 1

    def ends(x: int) -> bool:
        seen.append(PLACE.get())
        return x > 2

    with Flow() as f, f.loop() as it:
        v = it.carry(0)
        up = f.add(sets, x=v.out)
        it.until(up.out, ends)
        v.next(up.out)
    await f.run()
    assert set(seen) == {"nowhere"}


async def test_a_task_of_an_earlier_node_goes_on_asking_for_its_own_firing() -> None:
    asked: list[str] = []
    more = Event()

    async def ask() -> None:
        await more.wait()
        asked.append(this_firing().path)

    async with create_task_group() as group:

        async def starts(x: int) -> int:
            group.start_soon(ask)
            return x

        with Flow() as f:
            port = f.add(one).out
            for number in range(5):
                port = f.add(node(starts).with_(name=f"starts_{number}"), x=port).out
        await f.run()
        more.set()
    assert sorted(asked) == [f"starts_{number}" for number in range(5)]


# how a node of a row ends


class Interruption(BaseException):
    """No Exception: nothing but its raiser knows it."""


KINDS = [KeyboardInterrupt, SystemExit, GeneratorExit, Interruption]


@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_no_exception_comes_out_of_a_row_bare(kind: type[BaseException]) -> None:
    async def interrupts(x: int) -> int:
        raise kind("stop")

    f = Flow()
    row(f, interrupts)
    with pytest.raises(kind, match="stop"):
        await f.run()


async def test_what_follows_an_interruption_in_a_row_never_runs() -> None:
    runs: list[Run] = []

    async def interrupts(x: int) -> int:
        raise KeyboardInterrupt

    f = Flow()
    row(f, interrupts, after=1)

    async def owner() -> None:
        async with f.start() as run:
            runs.append(run)
            await run

    with pytest.raises(KeyboardInterrupt):
        await owner()
    with pytest.raises(RunFailed) as failed:
        await runs[0]
    assert states_of(failed.value.result) == {
        "one": "done", "inc": "done", "interrupts": "failed", "inc_2": "not_run",
        "beside": "cancelled", "beside_0": "not_run",
    }  # fmt: skip


def raising(error: Callable[[], BaseException]) -> Any:
    async def raises(x: int) -> int:
        raise error()

    return node(raises)


def cancelling(ends: Callable[[], Any], times: int = 1) -> Any:
    """Make a node that asks for the cancellation of its own task, and ends without waiting."""

    async def cancels(x: int) -> Any:
        if trio.lowlevel.in_trio_task():
            raise ValueError("there a task cannot cancel itself")
        task = asyncio.current_task()
        for _ in range(times):
            assert task is not None
            task.cancel()
        return ends()

    return node(cancels)


def fail() -> None:
    raise ValueError("mine")


def let_out_a_cancellation() -> None:
    raise asyncio.CancelledError


ODD_ENDS = [
    ("raises StopIteration", raising(StopIteration)),
    ("raises StopAsyncIteration", raising(StopAsyncIteration)),
    ("raises a group", raising(lambda: ExceptionGroup("several", [ValueError("a"), KeyError("b")]))),
    ("raises an error", raising(lambda: ValueError("mine"))),
]
OWN_CANCELS = [
    ("returns", cancelling(lambda: 1)),
    ("asks twice and returns", cancelling(lambda: 1, times=2)),
    ("raises", cancelling(fail)),
    ("asks twice and raises", cancelling(fail, times=2)),
    ("raises the cancellation", cancelling(let_out_a_cancellation)),
]


def named(cases: list[tuple[str, Any]]) -> Any:
    return pytest.mark.parametrize("odd", [odd for _, odd in cases], ids=[name for name, _ in cases])


async def outcome_beside(odd: Any) -> dict[str, str]:
    """Run a row in which a node ends oddly, and return the states of what is not behind it."""
    f = Flow()
    row(f, odd.with_(on_error="skip"))
    result = await f.run()
    assert result.outputs == {"beside": 5}
    return {path: state for path, state in states_of(result).items() if not path.startswith("inc_")}


#: Of a row: only the odd node has failed.
ONE_HAS_FAILED = {
    "one": "done", "inc": "done", "beside": "done", "beside_0": "done", "beside_1": "done",
    "beside_2": "done",
}  # fmt: skip


@named(ODD_ENDS)
async def test_a_node_of_a_row_that_ends_oddly_is_the_one_that_fails(odd: Any) -> None:
    assert await outcome_beside(odd) == {**ONE_HAS_FAILED, "raises": "failed"}


@named(OWN_CANCELS)
async def test_a_node_of_a_row_that_cancels_its_own_task_is_the_one_that_fails(odd: Any) -> None:
    assert await outcome_beside(odd) == {**ONE_HAS_FAILED, "cancels": "failed"}


async def test_a_node_that_cancels_its_own_task_and_interrupts_holds_up_nothing() -> None:
    def interrupt() -> None:
        raise Interruption

    f = Flow()
    row(f, cancelling(interrupt))
    with pytest.raises(RunFailed if trio.lowlevel.in_trio_task() else Interruption):
        await f.run()


def hides_its_arguments(function: Any) -> Any:
    @functools.wraps(function)
    async def fewer(x: int) -> int:
        return x

    return fewer


@hides_its_arguments
async def takes_two(x: int, y: int) -> int:
    return x


async def test_arguments_that_do_not_fit_are_a_failure_of_the_node() -> None:
    with Flow() as f:
        f.add(node(takes_two).with_(on_error="skip"), x=f.add(one).out, y=1)
        f.output("o", f.add(inc, x=1).out)
    result = await f.run()
    assert (states_of(result)["takes_two"], result["o"]) == ("failed", 2)


async def test_a_copy_that_interrupts_comes_out_bare() -> None:
    class Bad(list[int]):
        def __copy__(self) -> Bad:
            raise Interruption

    async def gives() -> Any:
        return Bad()

    async def takes(x: Any) -> int:
        return 1

    with Flow() as f:
        bad = f.add(gives)
        f.add(takes, x=bad.out)
        f.add(takes, x=bad.out)
    with pytest.raises(Interruption):
        await f.run()


async def test_a_node_that_fails_after_it_waited_leaves_a_row_behind_it_as_it_is() -> None:
    async def fails(x: int) -> int:
        await checkpoint()
        raise ValueError("late")

    f = Flow()
    row(f, node(fails).with_(on_error="route"))
    assert (await f.run()).outputs == {"beside": 5}


async def test_a_row_goes_on_behind_a_handled_failure() -> None:
    async def fails(x: int) -> int:
        raise ValueError("late")

    with Flow() as f:
        bad = f.add(node(fails).with_(on_error="route"), x=f.add(one).out)
        port = f.add(told, failure=bad.error).out
        for _ in range(3):
            port = f.add(inc, x=port).out
        f.output("o", port)
    assert (await f.run())["o"] == 4


async def told(failure: Any) -> int:
    return 1


# cancelling a run


@pytest.mark.parametrize("asks", [1, 2])
async def test_a_node_of_a_row_may_cancel_its_own_run(asks: int) -> None:
    runs: list[Run] = []

    async def stop(x: int) -> int:
        for _ in range(asks):
            runs[0].cancel("from inside")
        return x

    f = Flow()
    row(f, stop, after=1)
    async with f.start() as run:
        runs.append(run)
        result = await run
    assert states_of(result) == {
        "one": "done", "inc": "done", "stop": "cancelled", "inc_2": "not_run",
        "beside": "cancelled", "beside_0": "not_run",
    }  # fmt: skip


async def test_what_was_ready_when_a_node_cancelled_the_run_is_cancelled() -> None:
    runs: list[Run] = []

    async def stop(x: int) -> int:
        runs[0].cancel("from inside")
        return x

    with Flow() as f:
        first = f.add(one)
        f.add(stop, x=first.out)
        f.add(inc, x=first.out)
    async with f.start() as run:
        runs.append(run)
        result = await run
    assert states_of(result) == {"one": "done", "stop": "cancelled", "inc": "cancelled"}


async def test_what_was_ready_when_its_item_failed_is_cancelled_and_other_items_go_on() -> None:
    entered: list[int] = []

    async def fails_on_two(x: int) -> int:
        if x == 2:
            raise ValueError(x)
        return x

    async def enter(x: int) -> int:
        entered.append(x)
        return x

    with Flow() as f:
        item = f.add(inc, x=each([0, 1, 2], on_error="skip"))
        f.output("o", collect(f.add(fails_on_two, x=item.out).out))
        f.output("beside", collect(f.add(enter, x=item.out).out))
    result = await f.run()
    assert (result.outputs, entered) == ({"o": [1, 3], "beside": [1, 3]}, [1, 3])


# skips and errors in a row


async def test_a_skip_given_to_nodes_of_a_row_skips_them_to_its_end() -> None:
    async def may(x: int) -> Maybe[int]:
        return x if x > 9 else SKIP

    f = Flow()
    row(f, may, after=2)
    result = await f.run()
    assert {result.states[path] for path in ("inc_2", "inc_3")} == {NodeState.SKIPPED}
    assert "port 'out' not emitted" in result.why("inc_3")


async def test_an_optional_port_of_a_quick_node_takes_its_default_for_a_skip() -> None:
    async def may(x: int) -> Maybe[int]:
        return SKIP  # type: ignore[no-any-return]  # it stands for any value

    async def plus(x: int, y: int = 10) -> int:
        return x + y

    with Flow() as f:
        first = f.add(one)
        f.output("o", f.add(plus, x=first.out, y=f.add(may, x=first.out).out).out)
    assert (await f.run())["o"] == 11


async def test_an_error_given_to_nodes_of_a_row_is_told_to_its_end() -> None:
    f = Flow()
    row(f, raising(lambda: ValueError("mine")), after=2)
    with pytest.raises(RunFailed) as failed:
        await f.using(errors="continue").run()
    result = failed.value.result
    assert states_of(result)["inc_3"] == "not_run"
    assert "raises failed: ValueError: mine" in result.why("inc_3")


async def test_a_skip_left_out_of_an_unconditional_port_fails_a_node_of_a_row() -> None:
    async def may_not(x: int) -> int:
        return SKIP  # type: ignore[no-any-return]  # the mistake under test

    f = Flow()
    row(f, may_not)
    with pytest.raises(RunFailed, match="left out its output port 'out'"):
        await f.run()
