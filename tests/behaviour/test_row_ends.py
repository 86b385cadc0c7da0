"""How a firing of a row that never waits ends is seen by no other firing of the row (S9)."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from itertools import product
from typing import Any, Final

import pytest
import trio
from anyio.lowlevel import checkpoint

from dataflow import Flow, Run, RunFailed, node
from tests.behaviour.rows import row
from tests.behaviour.table import states_of
from tests.support.quick_nodes import inc, one

pytestmark = pytest.mark.usefixtures("nothing_is_left")


class Interruption(BaseException):
    """No Exception: nothing but its raiser knows it."""


async def test_what_is_no_exception_is_raised_bare_and_what_follows_it_never_runs() -> None:
    kinds = (KeyboardInterrupt, SystemExit, GeneratorExit, Interruption)
    for kind, suspends in product(kinds, (False, True)):
        runs: list[Run] = []

        async def interrupts(x: int, kind: Any = kind, suspends: bool = suspends) -> int:
            if suspends:
                await checkpoint()
            raise kind("stop")

        f = Flow()
        row(f, interrupts, after=1)

        async def owner(f: Flow = f, runs: list[Run] = runs) -> None:
            async with f.start() as run:
                runs.append(run)
                await run

        with pytest.raises(kind, match="stop"):
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
    async def cancels(x: int) -> Any:
        if trio.lowlevel.in_trio_task():
            raise ValueError("there a task cannot cancel itself")
        task = asyncio.current_task()
        for _ in range(times):
            assert task is not None
            task.cancel()
        return ends()

    return node(cancels)


def fail() -> Any:
    raise ValueError("mine")


def let_out_a_cancellation() -> None:
    raise asyncio.CancelledError


#: Nodes that fail in a row, each alone.
ODD_ENDS: Final[dict[str, Any]] = {
    "raises StopIteration": raising(StopIteration),
    "raises StopAsyncIteration": raising(StopAsyncIteration),
    "raises a group": raising(lambda: ExceptionGroup("several", [ValueError("a"), KeyError("b")])),
    "raises an error": raising(lambda: ValueError("mine")),
    "cancels its own task and returns": cancelling(lambda: 1),
    "cancels its own task twice and returns": cancelling(lambda: 1, times=2),
    "cancels its own task and raises": cancelling(fail),
    "cancels its own task twice and raises": cancelling(fail, times=2),
    "raises its own cancellation": cancelling(let_out_a_cancellation),
}


async def outcome_beside(odd: Any) -> dict[str, str]:
    f = Flow()
    row(f, odd.with_(on_error="skip"))
    try:
        result = await f.run()
    except RunFailed as failed:
        result = failed.result
    return {path: state for path, state in states_of(result).items() if not path.startswith("inc_")}


#: Of a row: only the odd node has failed.
ONE_HAS_FAILED = {
    "one": "done", "inc": "done", "beside": "done", "beside_0": "done", "beside_1": "done",
    "beside_2": "done",
}  # fmt: skip


async def test_a_node_of_a_row_that_ends_oddly_is_the_one_that_fails(subtests: pytest.Subtests) -> None:
    for name, odd in ODD_ENDS.items():
        with subtests.test(name):
            node_id = "cancels" if "cancel" in name else "raises"
            assert await outcome_beside(odd) == {**ONE_HAS_FAILED, node_id: "failed"}


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
