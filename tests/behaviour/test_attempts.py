"""Retry counts and waits on a clock that jumps, and what each attempt is given and leaves (S3.5, S9.1)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

import anyio
import pytest
import trio

from dataflow import EventKind, Firing, Flow, Result, Retry, RunFailed, node, this_firing, threaded
from tests.behaviour.flow_parts import Point
from tests.behaviour.table import failed_run, play, states_of
from tests.support.steady import jumping


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


def taken(flow: Flow) -> tuple[RunFailed | Result, float]:
    async def main() -> tuple[RunFailed | Result, float]:
        begun = trio.current_time()
        try:
            return await flow.run(), trio.current_time() - begun
        except RunFailed as failed:
            return failed, trio.current_time() - begun

    ended: tuple[RunFailed | Result, float] = jumping(main)
    return ended


class Busy(Exception):
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


VOID = (EventKind.PIECE, EventKind.PIECES_VOID)


async def test_before_is_called_with_each_extra_attempt_and_may_fail_it() -> None:
    seen: list[Firing] = []
    result = await Flaky(2).flow(retries=Retry(3, before=seen.append)).run()
    assert [(one.path, one.attempt, one.run_id) for one in seen] == [
        ("flaky", attempt, result.run_id) for attempt in (2, 3)
    ]

    def before(_: Firing) -> None:
        raise LookupError("no cache")

    flaky = Flaky()
    failed = await failed_run(flaky.flow(retries=Retry(3, before=before)))
    assert [(one.type, one.attempt) for one in failed.failures] == [("LookupError", 2)]
    assert len(flaky.times) == 1


async def test_a_firing_knows_its_attempt_and_a_key_that_stays() -> None:
    seen: list[Firing] = []

    async def tries() -> None:
        seen.append(this_firing())
        if len(seen) < 3:
            raise ValueError("no")

    with Flow("f") as f:
        f.add(node(retries=2)(tries))
    result = await f.run()
    assert [(one.attempt, one.key) for one in seen] == [(n, f"{result.run_id}/tries") for n in (1, 2, 3)]
    outside = this_firing()
    assert (outside.cancelled(), outside.key, outside.attempt) == (False, "", 1)


async def test_pieces_of_a_failed_attempt_are_voided() -> None:
    async def gives(failures: int) -> AsyncIterator[int]:
        attempt = this_firing().attempt
        yield attempt
        if attempt <= failures:
            raise ValueError("no")

    for failures, kept, value in ((1, [2], [2]), (2, [2, None], None)):
        with Flow("f") as f:
            f.output("o", f.add(node(gives).with_(retries=1), failures=failures).out)
        played = await play(f)
        pieces = [(one.kind, one.data.get("piece")) for one in played.events if one.kind in VOID]
        ends = [(EventKind.PIECES_VOID if one is None else EventKind.PIECE, one) for one in (1, None, *kept)]
        assert (pieces, played.result.outputs.get("o")) == (ends, value)


async def test_blocking_code_and_results_that_do_not_fit_are_attempted_again_too() -> None:
    def blocking() -> Point:
        attempts.append(this_firing().attempt)
        if len(attempts) == 1:
            raise ValueError("no")
        return Point(1, 2)

    async def unfit() -> Point:
        attempts.append(this_firing().attempt)
        return Point(1, 2) if len(attempts) > 1 else "no point"  # type: ignore[return-value]  # on purpose

    for placed in (threaded(blocking), node(unfit)):
        attempts: list[int] = []
        with Flow("f") as f:
            f.output("o", f.add(node(retries=1)(placed)).out)
        assert ((await f.run())["o"], attempts) == (Point(1, 2), [1, 2])
