"""Inline firings: calls one after the other till one waits, fails, or takes a closer look (S14.2, S14.5)."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable
from contextvars import copy_context
from math import inf
from typing import Any, NamedTuple

import anyio
import pytest
from anyio.lowlevel import checkpoint

from dataflow import SKIP, EventKind, Flow, Maybe, node
from dataflow.core.events import Reporter
from dataflow.core.firing import CURRENT
from dataflow.core.states import CANCELLED, STATES
from dataflow.runtime.attempts import NO_SHELTER, Worker
from dataflow.runtime.call import Attempt
from dataflow.runtime.shared import Shared
from dataflow.runtime.workers import QuickCalls, following
from dataflow.scheduler.frames import FiringId, Frame
from dataflow.scheduler.scheduler import Scheduler


async def one() -> int:
    return 1


async def inc(x: int) -> int:
    return x + 1


async def fails(x: int) -> int:
    raise ValueError(x)


async def waits(x: int) -> int:
    await checkpoint()
    return x + 1


async def by_keyword(*, x: int) -> int:
    return x


async def nothing() -> Maybe[int]:
    return SKIP  # type: ignore[no-any-return]  # it stands for any value


async def plus(x: int, y: int = 5) -> int:
    return x + y


class Started(NamedTuple):
    """What a worker is left with."""

    current: Attempt
    outcome: Awaitable[Any]
    waits: bool


class AskedToEnd:
    """A task that somebody has asked to end."""

    def cancelling(self) -> int:
        return 1


def nothing_shared() -> Shared:
    """What firings share that share nothing: no task is started for it."""
    return Shared(lambda _: pytest.fail("something is opened"), pytest.fail, 0)


class Row:
    """A run that has begun, and the worker that fires what is ready in it."""

    def __init__(self, flow: Flow) -> None:
        self.reporter = Reporter("a run")
        self.scheduler = Scheduler(flow.compile(), flow.settings, self.reporter, anyio.current_time)
        self.waited: list[Attempt] = []
        self.worker = Worker(
            self.scheduler, self.waited.append, anyio.CancelScope(), NO_SHELTER, nothing_shared()
        )
        self.ready: deque[FiringId] = deque(self.scheduler.start({}))
        self.left: FiringId | None = None  # that takes more than this
        self.inline = QuickCalls(copy_context(), self.leave, self.ready)

    def leave(self, worker: Worker, frame: Frame, index: int) -> list[FiringId]:
        self.left, worker.current = (frame, index), Attempt(worker, frame, index)
        return []

    def fire(self, until: float = inf) -> FiringId | None:
        return self.inline.fire(self.worker, self.ready.popleft() if self.ready else None, until)

    def started(self) -> Started:
        """Fire till one has started that takes more than this."""
        assert self.fire() is None
        worker = self.worker
        assert worker.current is not None
        assert worker.outcome is not None
        return Started(worker.current, worker.outcome, worker.is_waiting)

    def name(self, firing: object) -> str:
        assert isinstance(firing, tuple)
        return str(firing[0].plan.nodes[firing[1]].id)

    def states(self) -> dict[str, str]:
        root = self.scheduler.root
        return {node.id: STATES[root.states[node.index]].value for node in root.plan.nodes}

    def value(self, id: str) -> Any:
        root = self.scheduler.root
        return next(root.values[node.outputs["out"]] for node in root.plan.nodes if node.id == id)


def chain(*functions: Any) -> Flow:
    """Wire a chain that begins with one."""
    with Flow() as f:
        port: Any = f.add(one).out
        for function in functions:
            port = f.add(function, x=port).out
        f.output("o", port)
    return f


async def test_a_chain_is_fired_to_its_end() -> None:
    row = Row(chain(inc, inc, inc))
    before = row.worker.driver
    assert row.fire() is None
    assert (row.scheduler.has_ended, row.value("inc_3")) == (True, 4)
    assert row.worker.driver is before  # it drives one after the other
    row = Row(chain(inc))
    row.ready.clear()
    assert row.fire() is None
    assert row.states() == {"one": "ready", "inc": "waiting"}


async def test_it_stops_before_a_call_that_takes_more() -> None:
    row = Row(chain(inc, by_keyword, inc))
    assert row.fire() is None
    assert row.name(row.left) == "by_keyword"
    assert row.states() == {"one": "done", "inc": "done", "by_keyword": "ready", "inc_2": "waiting"}


async def test_it_stops_before_a_call_that_is_given_a_skip() -> None:
    with Flow() as f:
        f.add(plus, x=f.add(one).out, y=f.add(nothing).out)
    row = Row(f)
    assert row.fire() is None
    assert row.name(row.left) == "plus"
    assert row.states() == {"one": "done", "nothing": "done", "plus": "ready"}


async def test_it_goes_on_with_what_is_ready_behind_a_firing_that_is_settled_at_once() -> None:
    row = Row(chain(inc, by_keyword, inc))

    def settle(_: Worker, frame: Frame, index: int) -> list[FiringId]:
        return row.scheduler.settling.succeed(frame, index, 7)

    row.inline = QuickCalls(copy_context(), settle, row.ready)
    assert row.fire() is None
    assert (row.scheduler.has_ended, row.value("inc_2")) == (True, 8)


async def test_it_stops_before_what_was_cancelled_meanwhile() -> None:
    row = Row(chain(inc))
    row.scheduler.root.states[0] = CANCELLED
    assert row.fire() is None
    assert row.name(row.left) == "one"
    assert row.states()["one"] == "cancelled"


async def test_it_stops_when_its_time_is_over() -> None:
    row = Row(chain(inc))
    assert row.name(row.fire(until=-inf)) == "one"
    assert row.states() == {"one": "ready", "inc": "waiting"}


async def test_it_stops_when_the_worker_has_something_else_to_do() -> None:
    for flag in ("to_act", "has_more"):
        row = Row(chain(inc))
        setattr(row.scheduler, flag, True)
        assert row.name(row.fire()) == "one"


async def test_it_stops_behind_a_firing_that_gives_the_worker_something_to_do() -> None:
    rows: list[Row] = []

    async def acts(x: int) -> int:
        rows[0].scheduler.to_act = True
        return x

    rows.append(Row(chain(acts, inc)))
    assert rows[0].name(rows[0].fire()) == "inc"


async def test_a_firing_is_running_while_its_function_runs() -> None:
    rows, seen = list[Row](), list[str]()

    async def looks(x: int) -> int:
        seen.append(rows[0].states()["looks"])
        return x

    rows.append(Row(chain(looks)))
    rows[0].fire()
    assert seen == ["running"]


async def test_each_firing_finds_itself_as_the_current_one() -> None:
    seen: list[object] = []

    async def looks(x: int) -> int:
        source = CURRENT.get()
        assert isinstance(source, Attempt)
        seen.append((source.index, source.attempt))
        return x

    Row(chain(looks, looks)).fire()
    assert seen == [(1, 1), (2, 1)]


# those that wait


async def test_one_that_waits_is_returned_with_what_it_waits_for() -> None:
    row = Row(chain(inc, waits))
    started = row.started()
    assert started.waits
    assert row.states() == {"one": "done", "inc": "done", "waits": "running"}
    assert row.waited == []  # who awaits it reports that: first the worker has to know the firing
    assert await started.outcome == 3


async def test_an_error_of_one_that_waited_comes_out_of_its_outcome() -> None:
    async def fails_later(x: int) -> int:
        await checkpoint()
        raise ValueError("later")

    outcome = Row(chain(fails_later)).started().outcome
    with pytest.raises(ValueError, match="later"):
        await outcome


# those that fail


async def test_an_error_comes_out_of_the_outcome() -> None:
    kind: type[BaseException]

    async def raises(x: int) -> int:
        raise kind("mine")

    for kind in (ValueError, KeyboardInterrupt, GeneratorExit):
        started = Row(chain(inc, raises)).started()
        assert not started.waits
        with pytest.raises(kind, match="mine"):
            await started.outcome


async def test_after_an_error_a_new_driver_goes_on() -> None:
    row = Row(chain(fails))
    before = row.worker.driver
    outcome = row.started().outcome
    assert row.worker.driver is not before
    with pytest.raises(ValueError, match="1"):
        await outcome
    row.scheduler = Scheduler(chain(inc, inc).compile(), Flow().settings, row.reporter, anyio.current_time)
    row.worker.scheduler = row.scheduler
    row.ready.extend(row.scheduler.start({}))
    row.fire()
    assert row.value("inc_2") == 3


async def test_arguments_that_do_not_fit_come_out_of_the_outcome() -> None:
    async def no_parameter() -> int:
        return 1

    row = Row(chain(inc))
    quick = row.scheduler.root.plan.quick[1]
    assert quick is not None
    quick.function = no_parameter
    outcome = row.started().outcome
    with pytest.raises(TypeError, match="takes 0 positional arguments"):
        await outcome


async def test_a_result_of_a_frame_that_was_closed_meanwhile_is_left_to_a_closer_look() -> None:
    rows: list[Row] = []

    async def closes(x: int) -> int:
        rows[0].scheduler.abort("stop")
        return x

    rows.append(Row(chain(closes, inc)))
    started = rows[0].started()
    assert (started.waits, await started.outcome) == (False, 1)
    assert rows[0].states() == {"one": "done", "closes": "running", "inc": "not_run"}


async def test_a_result_of_a_task_that_is_asked_to_end_is_left_to_a_closer_look() -> None:
    row = Row(chain(inc))
    row.worker.task = AskedToEnd()
    started = row.started()
    assert (started.current.index, await started.outcome) == (0, 1)


# order and events


async def test_the_first_made_ready_is_fired_at_once_and_the_rest_behind_what_was_ready() -> None:
    fired: list[str] = []

    def noting(name: str) -> Any:
        async def notes(x: int = 0) -> int:
            fired.append(name)
            return x

        return node(notes).with_(name=name)

    with Flow() as f:
        a = f.add(noting("a"))
        f.add(noting("b"))
        c = f.add(noting("c"), x=a.out)
        f.add(noting("d"), x=a.out)
        f.add(noting("e"), x=c.out)
    Row(f).fire()
    assert "".join(fired) == "acebd"


def firings(*indices: int) -> list[FiringId]:
    root = Row(chain()).scheduler.root
    return [(root, index) for index in indices]


async def test_what_was_just_made_ready_goes_before_what_was() -> None:
    made, was = firings(5, 6), firings(1, 2)
    ready = deque(was)
    assert following(made, ready) == made[0]
    assert list(ready) == [*was, made[1]]
    assert following([], ready) == was[0]
    assert list(ready) == [was[1], made[1]]
    assert following([], deque()) is None


async def test_a_start_is_reported_to_who_listens() -> None:
    row = Row(chain(inc))
    stream = row.reporter.listen()
    row.fire()
    row.reporter.close()
    told = [(event.kind, event.path) async for event in stream]
    assert told == [
        (EventKind.NODE_STARTED, "one"), (EventKind.NODE_FINISHED, "one"),
        (EventKind.NODE_STARTED, "inc"), (EventKind.NODE_FINISHED, "inc"),
    ]  # fmt: skip
