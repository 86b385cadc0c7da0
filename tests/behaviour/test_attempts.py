"""Retry counts and waiting times, on a clock that jumps (S9.1); what an attempt may know."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

import anyio
import pytest
import trio
from trio.testing import MockClock

from dataflow import Flow, Result, Retry, RunFailed, node
from tests.behaviour.table import failed_run, states_of


class Flaky:
    """A node that fails so often, and notes when each attempt began, from the first on."""

    def __init__(self, failures: int = 9_999, error: BaseException | None = None) -> None:
        self.failures = failures
        self.error = error or ValueError("no")
        self.times: list[float] = []

    async def __call__(self) -> str:
        self.times.append(anyio.current_time())
        if len(self.times) <= self.failures:
            raise self.error
        return f"attempt {len(self.times)}"

    @property
    def starts(self) -> list[float]:
        return [time - self.times[0] for time in self.times]

    def flow(self, **settings: Any) -> Flow:
        async def flaky() -> str:
            return await self()

        with Flow("f") as f:
            f.output("o", f.add(node(**settings)(flaky)).out)
        return f


def jumping(main: Callable[[], Any]) -> Any:
    """Run on trio with a clock that jumps to the next timer whenever nothing else can run."""
    return trio.run(main, clock=MockClock(autojump_threshold=0))


def taken(flow: Flow) -> tuple[RunFailed | Result, float]:
    """Return how a run ends and how long it takes."""

    async def main() -> tuple[RunFailed | Result, float]:
        begun = trio.current_time()
        try:
            return await flow.run(), trio.current_time() - begun
        except RunFailed as failed:
            return failed, trio.current_time() - begun

    ended: tuple[RunFailed | Result, float] = jumping(main)
    return ended


class Busy(Exception):
    """What a server raises that is to be left alone for 5 seconds."""

    retry_after = 5

    def __init__(self, *, is_lasting: bool = False) -> None:
        self.is_lasting = is_lasting


class OddMeta(type):
    def __instancecheck__(cls, instance: object) -> bool:
        raise RuntimeError("odd")


class OddError(Exception, metaclass=OddMeta):
    """Whose class breaks what asks for it."""


#: Settings of a node that always fails, its error, and when its attempts begin.
STARTS: Final[tuple[tuple[dict[str, Any], Exception, list[float]], ...]] = (
    ({"retries": 0}, ValueError("no"), [0]),
    ({"retries": Retry(2, backoff="exponential")}, ValueError("no"), [0, 1, 3]),
    ({"retries": Retry(3, backoff="exponential")}, ValueError("no"), [0, 1, 3, 7]),
    ({"retries": Retry(3, backoff="fixed")}, ValueError("no"), [0, 1, 2, 3]),
    ({"retries": Retry(3)}, ValueError("no"), [0, 0, 0, 0]),
    ({"retries": Retry(3, on=("timeout",), backoff="fixed")}, ValueError("no"), [0]),
    ({"retries": Retry(9, backoff="exponential"), "deadline": 5}, ValueError("no"), [0, 1, 3]),
    ({"retries": Retry(3, on=(OddError,))}, ValueError("no"), [0]),
    # The next attempt waits as long as the error asks.
    ({"retries": 2}, Busy(), [0, 5, 10]),
    ({"retries": Retry(3, backoff="exponential", first=2)}, Busy(), [0, 5, 10, 18]),
    ({"retries": 3, "deadline": 11}, Busy(), [0, 5, 10]),
    ({"retries": 3, "deadline": 5}, Busy(), [0]),
    # An error that lasts ends the attempts.
    ({"retries": Retry(3, backoff="fixed")}, Busy(is_lasting=True), [0]),
)


def test_a_node_that_always_fails_is_attempted_so_often_with_these_waits() -> None:
    for settings, error, starts in STARTS:
        flaky = Flaky(error=error)
        failed, _ = taken(flaky.flow(**settings))
        assert flaky.starts == starts, settings
        assert isinstance(failed, RunFailed)
        [failure] = failed.failures
        assert (failure.path, failure.attempt, failure.type) == ("flaky", len(starts), type(error).__name__)
        assert states_of(failed.result) == {"flaky": "failed"}


def test_a_wait_ends_when_the_run_is_cancelled_or_fails_elsewhere() -> None:
    flaky = Flaky()
    retry = Retry(1, backoff="fixed", first=3_600)

    async def main() -> tuple[Result, float]:
        async with flaky.flow(retries=retry).start() as run:
            await trio.sleep(1)
            run.cancel("enough")
            return await run, trio.current_time()

    result, ended = jumping(main)
    assert (result.status, states_of(result)) == ("cancelled", {"flaky": "cancelled"})
    assert (flaky.starts, ended - flaky.times[0]) == ([0], 1)

    async def fails() -> None:
        await anyio.sleep(1)
        raise KeyError("other")

    flaky = Flaky()
    flow = flaky.flow(retries=retry)
    flow.add(fails)
    failed, _ = taken(flow)
    assert isinstance(failed, RunFailed)
    assert states_of(failed.result) == {"flaky": "cancelled", "fails": "failed"}
    assert ([one.path for one in failed.failures], flaky.starts) == (["fails"], [0])


def test_a_wait_holds_no_slot() -> None:
    order: list[str] = []

    async def tries() -> None:
        order.append("tries")
        if len(order) == 1:
            raise ValueError("no")

    async def other() -> None:
        order.append("other")

    with Flow("f") as f:
        f.add(node(retries=Retry(1, backoff="fixed"))(tries))
        f.add(other)
    jumping(f.using(max_concurrency=1).run)
    assert order == ["tries", "other", "tries"]


def test_deadlines_and_timeouts_of_runs_count_from_the_first_start_with_the_waits() -> None:
    began: list[int] = []

    async def slow() -> None:
        began.append(1)
        if len(began) == 1:
            raise ValueError("no")
        await anyio.sleep_forever()

    with Flow("f") as f:
        f.add(node(retries=Retry(5, backoff="fixed"), deadline=4)(slow))
    failed, seconds = taken(f)
    assert isinstance(failed, RunFailed)
    assert (failed.failures[0].code, seconds, len(began)) == ("DF0802", 4, 2)
    failed, seconds = taken(Flaky().flow(retries=Retry(99, backoff="fixed", first=7)).using(timeout=60))
    assert isinstance(failed, RunFailed)
    assert (failed.failures[0].code, seconds) == ("DF0802", 60)
    assert isinstance(failed.__cause__, TimeoutError)
    assert states_of(failed.result) == {"flaky": "cancelled"}
    _, seconds = taken(Flaky(1).flow(retries=Retry(1, backoff="fixed")).using(timeout=60))
    assert seconds == 1  # a run that ends in time does not wait for its timeout


async def test_cancellations_of_its_own_and_interruptions_are_not_attempted_again() -> None:
    flaky = Flaky(error=asyncio.CancelledError())
    await failed_run(flaky.flow(retries=3))
    assert len(flaky.times) == 1
    flaky = Flaky(error=SystemExit(3))
    with pytest.raises(SystemExit):
        await flaky.flow(retries=3).run()
    assert len(flaky.times) == 1
