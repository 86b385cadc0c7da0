"""What an attempt is given, gives out and leaves behind (S3.5, S9.1, S12.2)."""

from __future__ import annotations

from collections.abc import AsyncIterator

from dataflow import EventKind, Firing, Flow, Retry, node, this_firing, threaded
from tests.behaviour.flow_parts import Point
from tests.behaviour.table import failed_run, play
from tests.behaviour.test_attempts import Flaky

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
