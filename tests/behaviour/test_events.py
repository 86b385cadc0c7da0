"""What a run reports (S14.3, S19)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import UTC
from typing import Any

from anyio import Event as Gate
from anyio import create_task_group
from anyio.lowlevel import checkpoint

from dataflow import Event, EventKind, Flow, collect, each, merge, node, this_firing
from dataflow.core.events import Reporter
from tests.behaviour.nodes import fails, gated, inc, src
from tests.behaviour.table import play


def chain(length: int, first: Any = src) -> Flow:
    with Flow("chain") as f:
        port = f.add(first, x=f.input("x", int, 1)).out
        for _ in range(length):
            port = f.add(inc, x=port).out
        f.output("o", port)
    return f


def ports_of(events: tuple[Event, ...]) -> dict[str, Any]:
    return {e.path: e.data["ports"] for e in events if e.kind is EventKind.NODE_FINISHED}


async def test_the_events_of_a_run() -> None:
    async with chain(1).start(x=1) as run:
        events = [event async for event in run.events()]
    assert [(event.seq, event.kind.value, event.path) for event in events] == [
        (1, "run_started", ""), (2, "node_started", "src"), (3, "node_finished", "src"),
        (4, "node_started", "inc"), (5, "node_finished", "inc"), (6, "run_finished", ""),
    ]  # fmt: skip
    assert events[0].data == {"flow": "chain", "inputs": {"x": 1}}
    assert events[1].data == {"type": "tests.behaviour.nodes:src", "attempt": 1}
    assert (events[2].data["state"], events[2].data["ports"]["out"]) == ("done", {"value": 1})
    assert events[5].data == {"status": "completed"}
    assert {event.run for event in events} == {run.id}
    assert all(event.time.tzinfo is UTC for event in events)


async def test_skips_errors_and_lists_are_reported_by_port() -> None:
    with Flow() as f:
        exits = f.when(f.input("x", int), lambda x: x > 5)
        f.add(inc, x=exits.yes)
        f.add(node(fails).with_(name="bad"), x=exits.no)
    ports = ports_of((await play(f, {"x": 1})).events)
    assert ports["when"] == {"yes": {"skip": "exit 'yes' not taken"}, "no": {"value": 1}}
    assert ports["inc"]["out"] == {"skip": "port 'x' has no value"}
    assert ports["bad"]["out"]["error"].message == "bad 1"
    with Flow() as f:
        items = f.add(inc, x=each([1, 2]))
        f.output("a", collect(items.out))
        f.output("b", collect(merge(items.out, 7)))
        f.output("c", collect(merge(items.out, 8)))
    merged = "collect(merge(inc.out, a constant))"
    lists = {name: {"value": [2, 3]} for name in ("collect(inc.out)", merged, f"{merged} 2")}
    assert ports_of((await play(f)).events)["inc"] == lists


class Deaf(Reporter):
    """A reporter to which nothing may be reported."""

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
    async with f.start() as run:
        run._engine.reporter.__class__ = Deaf
        assert len((await run).warnings) == 1


async def test_one_stream_may_be_read_by_two_tasks() -> None:
    gate, seen = Gate(), list[int]()

    async def read(events: AsyncIterator[Event]) -> None:
        seen.extend([event.seq async for event in events])

    with Flow() as f:
        f.add(gated(gate), x=1)
    async with f.start() as run:
        events = run.events()
        async with create_task_group() as group:
            group.start_soon(read, events)
            group.start_soon(read, events)
            for _ in range(10):
                await checkpoint()
            gate.set()
    assert sorted(seen) == [1, 2, 3, 4]
