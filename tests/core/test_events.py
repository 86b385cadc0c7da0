"""What a run reports, in order, to whoever listens (S19), and blocking calls in threads of our own."""

from __future__ import annotations

import gc
import logging
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import pytest

from dataflow import Event, EventKind, Flow, Store, node, this_firing, threaded
from dataflow.core.events import Reporter, Stream
from dataflow.core.threads import call_in_thread

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


async def test_a_listener_to_nodes_that_never_wait_is_cancelled_from_around() -> None:
    async def counts(x: int) -> int:
        assert x < 20_000, "the run should have been cancelled"
        this_firing().emit(x)
        return x + 1

    f = Flow()
    f.input("x", int)
    f.add(counts)  # type: ignore[call-arg]  # `connect` wires the port
    f.connect("$in.x", "counts.x")
    f.connect("counts", "counts.x", feedback=True, limit=None)
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


@node
async def warns(text: str) -> str:
    this_firing().warn("odd", text)
    this_firing().warn("odd", text)
    return text


async def test_a_warning_is_in_the_result_and_an_event_of_the_firing() -> None:
    with Flow("f") as flow:
        flow.add(warns, text="one is odd")
    async with flow.start() as run:
        found: list[Event] = [event async for event in run.events() if event.kind is EventKind.WARNING]
        result = await run
    assert result.warnings == ("one is odd",)
    assert [(one.path, one.data) for one in found] == [("warns", {"code": "odd", "text": "one is odd"})]


async def test_what_the_run_has_warned_of_is_not_repeated_after_a_pause() -> None:
    with Flow("f") as flow:
        flow.add(warns, text="one is odd")
        flow.add(warns, text=flow.ask(str, "Which?", name="which").out)
    stored = flow.using(store=Store.memory())
    paused = await stored.run()
    result = await stored.resume(paused.run_id, {"which": "one is odd"})
    assert result.warnings == ("one is odd",)


async def test_outside_of_a_run_the_log_has_it(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "dataflow.current"):
        await warns("one is odd")
    assert [record.getMessage() for record in caplog.records] == ["one is odd (odd)"] * 2


def add(a: int, b: int = 1, *, c: int = 0) -> int:
    return a + b + c


def test_a_loop_that_ended_does_not_disturb_the_thread() -> None:
    release, raised = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def blocking() -> None:
        threads.append(threading.current_thread())
        raised.set()
        release.wait()

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(call_in_thread, blocking)
            await call_in_thread(raised.wait)
            group.cancel_scope.cancel()

    for backend in ("asyncio", "trio"):
        release.clear()
        raised.clear()
        anyio.run(main, backend=backend)
        release.set()
    for thread in threads:
        thread.join()
    assert len(threads) == 2


@threaded
def where(a: int, *, b: str = "x") -> str:
    return f"{a}{b} {threading.current_thread().name} {this_firing().path}"


async def test_a_threaded_node_runs_in_a_thread_and_knows_its_firing() -> None:
    with Flow() as flow:
        flow.output("text", flow.add(where, 1, b="y").out)
    assert (await flow.run())["text"] == "1y dataflow where where"
