"""What a run reports (S14.3, S19)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import UTC
from typing import Any

import pytest
from anyio import Event as Gate
from anyio import create_task_group
from anyio.lowlevel import checkpoint

from dataflow import Event, EventKind, Flow, RunFailed, collect, each, merge, node, this_firing
from dataflow.core.events import Reporter
from tests.behaviour.nodes import fails, inc, one, src, tallying


def chain(length: int) -> Flow:
    with Flow("chain") as f:
        port = f.add(src, x=f.input("x", int)).out
        for _ in range(length):
            port = f.add(inc, x=port).out
        f.output("o", port)
    return f


async def test_the_events_of_a_run() -> None:
    with tallying():
        async with chain(1).start(x=1) as run:
            events = [event async for event in run.events()]
    told = [(event.seq, event.kind.value, event.path) for event in events]
    assert told == [
        (1, "run_started", ""),
        (2, "node_started", "src"),
        (3, "node_finished", "src"),
        (4, "node_started", "inc"),
        (5, "node_finished", "inc"),
        (6, "run_finished", ""),
    ]
    assert events[0].data == {"flow": "chain", "inputs": {"x": 1}}
    assert events[1].data == {"type": "tests.behaviour.nodes:src", "attempt": 1}
    assert events[2].data["state"] == "done"
    assert events[2].data["ports"]["out"] == {"value": 1}
    assert events[5].data == {"status": "completed"}
    assert {event.run for event in events} == {run.id}
    assert all(event.time.tzinfo is UTC for event in events)


async def test_a_skip_and_an_error_are_told_with_their_reason() -> None:
    with Flow() as f:
        exits = f.when(f.input("x", int), lambda x: x > 5)
        f.add(inc, x=exits.yes)
        f.add(node(fails).with_(name="bad"), x=exits.no)
    with tallying(), pytest.raises(RunFailed):
        async with f.start(x=1) as run:
            events = [event async for event in run.events()]
    ports = {e.path: e.data["ports"] for e in events if e.kind is EventKind.NODE_FINISHED}
    assert ports["when"] == {"yes": {"skip": "exit 'yes' not taken"}, "no": {"value": 1}}
    assert ports["inc"]["out"] == {"skip": "port 'x' has no value"}
    assert ports["bad"]["out"]["error"].message == "bad 1"


async def test_the_lists_of_a_map_are_told_by_what_they_collect() -> None:
    with Flow() as f:
        items = f.add(inc, x=each([1, 2]))
        f.output("a", collect(items.out))
        f.output("b", collect(merge(items.out, 7)))
        f.output("c", collect(merge(items.out, 8)))
    with tallying():
        async with f.start() as run:
            events = [event async for event in run.events()]
    ports = {e.path: e.data["ports"] for e in events if e.kind is EventKind.NODE_FINISHED}
    merged = "collect(merge(inc.out, a constant))"
    assert ports["inc"] == {name: {"value": [2, 3]} for name in ("collect(inc.out)", merged, f"{merged} 2")}


async def test_two_readers_see_the_same_and_a_slow_one_loses_nothing() -> None:
    begun = Gate()
    seen: dict[str, list[Event]] = {"quick": [], "slow": []}

    async def hold() -> int:
        await begun.wait()
        return 1

    async def read(name: str, events: AsyncIterator[Event], pace: int) -> None:
        async for event in events:
            for _ in range(pace):
                await checkpoint()
            seen[name].append(event)

    with Flow() as f:
        port = f.add(hold).out
        for _ in range(30):
            port = f.add(inc, x=port).out
    with tallying():
        async with f.start() as run, create_task_group() as group:
            group.start_soon(read, "quick", run.events(), 0)
            group.start_soon(read, "slow", run.events(), 20)
            await checkpoint()
            begun.set()
            await run
            assert len(seen["slow"]) < 64  # it did not hold the run
    assert seen["slow"] == seen["quick"]
    assert len(seen["slow"]) == 1 + 2 * 31 + 1


async def test_who_reads_nothing_until_the_end_still_sees_everything() -> None:
    with tallying():
        async with chain(3).start(x=1) as run:
            events = run.events()
            await run
            assert [event.seq async for event in events] == list(range(1, 11))
    assert [event async for event in events] == []


async def test_a_stream_opened_after_the_end_ends_at_once() -> None:
    with tallying():
        async with chain(1).start(x=1) as run:
            await run
            assert [event async for event in run.events()] == []
    assert [event async for event in run.events()] == []


async def test_a_stream_opened_on_the_way_gets_the_rest() -> None:
    gate = Gate()

    async def hold(x: int) -> int:
        await gate.wait()
        return x

    with Flow() as f:
        f.output("o", f.add(inc, x=f.add(hold, x=f.add(src, x=1).out).out).out)
    with tallying():
        async with f.start() as run:
            first = []
            async for event in run.events():
                first.append(event)
                if event.path == "hold" and event.kind is EventKind.NODE_STARTED:
                    late = run.events()
                    gate.set()
            rest = [event async for event in late]
    assert rest == first[4:]
    assert [event.kind.value for event in rest] == [
        "node_finished",
        "node_started",
        "node_finished",
        "run_finished",
    ]


async def test_a_reader_may_leave_early() -> None:
    with tallying():
        async with chain(5).start(x=1) as run:
            async for event in run.events():
                if event.kind is EventKind.NODE_FINISHED:
                    break
            assert (await run)["o"] == 6


@pytest.mark.parametrize("end", ["fails", "is cancelled", "is left by an error"])
async def test_the_stream_ends_however_the_run_ends(end: str) -> None:
    begun = Gate()

    async def hold() -> int:
        begun.set()
        await Gate().wait()
        return 1

    with Flow() as f:
        f.add(hold)
        if end == "fails":
            f.add(fails)
    expected = {"fails": RunFailed, "is left by an error": LookupError, "is cancelled": type(None)}[end]
    caught: BaseException | None = None
    with tallying():
        try:
            async with f.start() as run:
                events = run.events()
                await begun.wait()
                if end == "is cancelled":
                    run.cancel()
                elif end == "is left by an error":
                    raise LookupError
        except (RunFailed, LookupError) as error:
            caught = error
    assert type(caught) is expected
    last = [event async for event in events][-1]
    data = {"status": "failed", "failures": ["fails"]} if end == "fails" else {"status": "cancelled"}
    assert (last.kind, last.data) == (EventKind.RUN_FINISHED, data)


async def test_one_stream_may_be_read_by_two_tasks() -> None:
    gate, seen = Gate(), list[int]()

    async def hold() -> int:
        await gate.wait()
        return 1

    async def read(events: AsyncIterator[Event]) -> None:
        seen.extend([event.seq async for event in events])

    with Flow() as f:
        f.add(hold)
    async with f.start() as run:
        events = run.events()
        async with create_task_group() as group:
            group.start_soon(read, events)
            group.start_soon(read, events)
            for _ in range(10):
                await checkpoint()
            gate.set()
    assert sorted(seen) == [1, 2, 3, 4]


class Deaf(Reporter):
    """A reporter that is not to be told anything."""

    __slots__ = ()

    def emit(self, kind: EventKind, path: str, data: Mapping[str, Any]) -> None:
        raise AssertionError(f"{kind.value} of {path!r} is made for nobody: {data}")


async def test_no_event_is_made_while_nobody_listens() -> None:
    async def talk(n: int) -> int:
        this_firing().emit("a piece")
        return n

    with Flow() as f:
        branch = f.when(f.add(talk, n=1).out, lambda n: n > 1)
        f.add(inc, x=branch.yes)
        f.add(inc, x=each([1, 2, 3]))
        with f.loop(limit=2) as it:
            carry = it.carry(0)
            carry.next(f.add(inc, x=carry.out).out)
            it.until(carry.out, lambda n: n > 9)
    with tallying():
        async with f.start() as run:
            run._engine.reporter.__class__ = Deaf
            result = await run
    assert len(result.warnings) == 1


async def test_pieces_of_an_async_generator_are_told_as_they_come() -> None:
    gates = [Gate(), Gate()]

    @node
    async def talk(n: int) -> AsyncIterator[int]:
        for number in range(n):
            yield number
            await gates[number].wait()

    with Flow() as f:
        f.output("o", f.add(talk, n=2).out)
    async with f.start() as run:
        pieces = []
        async for event in run.events():
            if event.kind is EventKind.PIECE:
                pieces.append((event.path, event.data))
                gates[event.data["piece"]].set()
        assert (await run)["o"] == [0, 1]
    assert pieces == [("talk", {"port": "out", "piece": 0}), ("talk", {"port": "out", "piece": 1})]


async def test_a_piece_that_nobody_hears_is_dropped() -> None:
    async def talk() -> int:
        this_firing().emit("a piece")
        return 1

    with Flow() as f:
        f.output("o", f.add(talk).out)
    assert (await f.run())["o"] == 1


async def test_an_effects_event_never_precedes_its_causes() -> None:
    with Flow() as f:
        for start in range(3):
            port = f.add(src, x=start).out
            for _ in range(4):
                port = f.add(inc, x=port).out
        f.add(one)
    with tallying(3):
        async with f.start() as run:
            events = [event async for event in run.events()]
    seq = {(event.kind.value, event.path): event.seq for event in events}
    edges = [(edge.source.node, edge.target) for edge in f.wiring.block.edges]
    assert len(edges) == 12
    for source, target in edges:
        assert seq["node_finished", source] < seq["node_started", target] < seq["node_finished", target]
