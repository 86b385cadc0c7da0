"""What an attempt is told, gives out and leaves behind (S3.5, S9.1, S12.2)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from dataflow import EventKind, Firing, Flow, NodeFailed, Retry, RunFailed, each, node, this_firing, threaded
from tests.behaviour.flow_parts import Point
from tests.behaviour.test_attempts import Flaky, events_of


async def test_before_is_called_before_each_extra_attempt_and_told_which() -> None:
    told: list[Firing] = []
    flaky = Flaky(2)
    result = await flaky.flow(retries=Retry(3, before=told.append)).run()
    assert [(one.path, one.attempt, one.run_id) for one in told] == [
        ("flaky", 2, result.run_id),
        ("flaky", 3, result.run_id),
    ]


async def test_what_before_raises_is_the_failure_of_the_node() -> None:
    def before(_: Firing) -> None:
        raise LookupError("no cache")

    flaky = Flaky()
    with pytest.raises(RunFailed) as failed:
        await flaky.flow(retries=Retry(3, before=before)).run()
    assert [(one.type, one.attempt) for one in failed.value.failures] == [("LookupError", 2)]
    assert len(flaky.times) == 1


async def test_arguments_that_do_not_fit_are_not_tried_again() -> None:
    async def gives() -> Any:
        return "text"

    async def takes(x: int) -> int:
        raise AssertionError("never called")

    with Flow("f") as f:
        f.add(node(retries=3)(takes), x=f.add(gives).out)
    with pytest.raises(RunFailed) as failed:
        await f.run()
    assert isinstance(failed.value.__cause__, NodeFailed)
    assert failed.value.failures[0].attempt == 1


async def test_a_firing_knows_its_attempt_and_a_key_that_stays() -> None:
    seen: list[Firing] = []

    async def tries() -> None:
        seen.append(this_firing())
        if len(seen) < 3:
            raise ValueError("no")

    with Flow("f") as f:
        f.add(node(retries=2)(tries))
    result = await f.run()
    assert [one.attempt for one in seen] == [1, 2, 3]
    assert {one.key for one in seen} == {f"{result.run_id}/tries"}


def test_outside_a_run_nothing_is_cancelled_and_there_is_no_key() -> None:
    assert (this_firing().cancelled(), this_firing().key, this_firing().attempt) == (False, "", 1)


async def test_pieces_of_a_failed_attempt_are_voided_and_those_of_the_next_stand() -> None:
    async def gives() -> AsyncIterator[int]:
        attempt = this_firing().attempt
        yield attempt
        if attempt == 1:
            raise ValueError("no")

    with Flow("f") as f:
        f.output("o", f.add(node(gives).with_(retries=1)).out)
    events, result = await events_of(f)
    told = [(one.kind, one.data.get("piece")) for one in events if one.path == "gives"]
    assert [one for one in told if one[0] in (EventKind.PIECE, EventKind.PIECES_VOID)] == [
        (EventKind.PIECE, 1),
        (EventKind.PIECES_VOID, None),
        (EventKind.PIECE, 2),
    ]
    assert result["o"] == [2]


async def test_pieces_of_a_node_that_fails_for_good_are_voided_too() -> None:
    async def gives() -> AsyncIterator[int]:
        yield 1
        raise ValueError("no")

    with Flow("f") as f:
        f.add(node(gives))
    events, _ = await events_of(f)
    kinds = [one.kind for one in events if one.path == "gives"]
    assert kinds == [
        EventKind.NODE_STARTED,
        EventKind.PIECE,
        EventKind.PIECES_VOID,
        EventKind.NODE_FINISHED,
    ]


async def test_a_piece_that_an_earlier_attempt_gives_late_is_dropped() -> None:
    first: list[Firing] = []

    async def gives() -> int:
        if not first:
            first.append(this_firing())
            raise ValueError("no")
        first[0].emit("late")
        this_firing().emit("now")
        return 1

    with Flow("f") as f:
        f.add(node(gives).with_(retries=1))
    events, _ = await events_of(f)
    assert [one.data["piece"] for one in events if one.kind is EventKind.PIECE] == ["now"]


async def test_blocking_code_is_attempted_again_like_any_other() -> None:
    attempts: list[int] = []

    def blocking() -> int:
        attempts.append(this_firing().attempt)
        if len(attempts) == 1:
            raise ValueError("no")
        return 7

    with Flow("f") as f:
        f.output("o", f.add(node(retries=1)(threaded(blocking))).out)
    assert (await f.run())["o"] == 7
    assert attempts == [1, 2]


async def test_a_result_that_does_not_fit_the_node_is_tried_again() -> None:
    times: list[int] = []

    async def unfit() -> Point:
        times.append(1)
        return Point(1, 2) if len(times) > 1 else "no point"  # type: ignore[return-value]  # on purpose

    with Flow("f") as f:
        f.output("o", f.add(node(unfit).with_(retries=1)).out)
    assert (await f.run())["o"] == Point(1, 2)


async def test_each_attempt_reads_the_inputs_as_they_were() -> None:
    seen: list[list[int]] = []

    async def gives(x: int) -> list[int]:
        return [x]

    async def spoils(xs: list[int]) -> int:
        seen.append(list(xs))
        xs.append(2)
        if len(seen) == 1:
            raise ValueError("no")
        return len(xs)

    with Flow("f") as f:
        f.add(node(retries=1)(spoils), xs=f.add(gives, x=each([1])).out)
    await f.run()
    assert seen == [[1], [1]]
