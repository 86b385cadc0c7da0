"""What a run reports, in order, to whoever listens (S19)."""

from __future__ import annotations

import gc
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio

from dataflow import Event, EventKind, Flow, this_firing
from dataflow.core.events import Reporter, Stream

START = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def reporter() -> Reporter:
    return Reporter("run-1", Clock())


async def read(stream: Stream[Event]) -> list[Event]:
    return [event async for event in stream]


def test_the_names_of_the_kinds_are_stable() -> None:
    names = """
        run_started run_paused run_resumed run_finished node_started attempt_failed node_finished
        branch_evaluated loop_round loop_tested loop_exited map_opened ask_opened ask_answered ask_closed
        race_decided contexts_merged timer_set memo_hit memo_missed memo_skipped warning piece pieces_void
    """
    assert {kind.value for kind in EventKind} == {*names.split()}


async def test_no_event_is_made_without_a_listener() -> None:
    reports = reporter()
    listening = [reports.is_listening]
    stream = reports.listen()
    listening.append(reports.is_listening)
    del stream
    gc.collect()
    listening.append(reports.is_listening)
    stream = reports.listen()
    reports.close()
    assert [*listening, reports.is_listening] == [False, True, False, False]
    assert await read(stream) == []


async def test_a_cancelled_reader_loses_nothing() -> None:
    reports = reporter()
    stream = reports.listen()
    with anyio.CancelScope() as scope:
        scope.cancel()
        await anext(stream)
    reports.emit(EventKind.WARNING, "", {})
    assert (await anext(stream)).seq == 1


def without_end(counts: Callable[[int], Awaitable[int]]) -> Flow:
    """Wire a node called `counts` whose result comes back to it, round after round."""
    f = Flow()
    f.input("x", int)
    f.add(counts)  # type: ignore[call-arg]  # `connect` wires the port
    f.connect("$in.x", "counts.x")
    f.connect("counts", "counts.x", feedback=True, limit=None)
    return f


async def test_a_listener_to_nodes_that_never_wait_is_cancelled_from_around() -> None:
    async def counts(x: int) -> int:
        assert x < 20_000, "the run should have been cancelled"
        this_firing().emit(x)
        return x + 1

    f = without_end(counts)
    port: Any = "counts"
    with anyio.CancelScope() as of_events:
        async with f.start(x=0) as run:
            async for event in run.events():
                if event.kind == "run_started":
                    of_events.cancel()
    with anyio.CancelScope() as of_pieces:
        async with f.start(x=0) as run:
            async for piece in run.stream(port):
                if piece == 3:
                    of_pieces.cancel()
    assert of_events.cancelled_caught
    assert of_pieces.cancelled_caught
