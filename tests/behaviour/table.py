"""A row of the table of behaviours: a flow, a stimulus, the exact outcome; and how a row is played."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import wraps
from typing import Any, Concatenate, Final, Literal, ParamSpec

import anyio
import pytest

from dataflow import Event, Flow, NodeState, Result, RunFailed
from dataflow.core.states import RELEASED, UNSETTLED, is_dead
from tests.behaviour.nodes import Tally, tallying

P = ParamSpec("P")
ENDED: Final = {
    NodeState.DONE, NodeState.SKIPPED, NodeState.FAILED, NodeState.TIMED_OUT, NodeState.CANCELLED,
    NodeState.NOT_RUN,
}  # fmt: skip


def wired(wire: Callable[Concatenate[Flow, P], None]) -> Callable[P, Flow]:
    """Make a function that returns a flow of one that wires it."""

    @wraps(wire)
    def make(*args: P.args, **kwargs: P.kwargs) -> Flow:
        with Flow() as f:
            wire(f, *args, **kwargs)
        return f

    return make


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One behaviour.

    outputs   exactly these, by value and type
    runs      how often each body was entered, by node id; a body not named was never entered
    states    by path; `others` is the state of every path not named, None if it does not matter
    why       by port or path: a piece of each reason, from there back to where it began
    warnings  a piece of each warning, sorted, and no others
    events    kind, path and data that are among the events, in this order
    failures  path, type and a piece of the message of each, sorted, and no others
    """

    id: str
    rule: str
    flow: Callable[[], Flow]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    status: Literal["completed", "failed"] = "completed"
    outputs: Mapping[str, Any] = field(default_factory=dict)
    runs: Mapping[str, int] | None = None
    states: Mapping[str, str] = field(default_factory=dict)
    others: Literal["done"] | None = None
    why: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    events: tuple[tuple[str, str, Mapping[str, Any]], ...] = ()
    failures: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Played:
    """What a run came to, and what it told on its way."""

    result: Result
    tally: Tally
    events: tuple[Event, ...] = ()
    failed: RunFailed | None = None


async def play(flow: Flow, inputs: Mapping[str, Any] | None = None, checkpoints: int = 0) -> Played:
    with tallying(checkpoints) as tally:
        async with flow.start(**(inputs or {})) as run:
            events = [event async for event in run.events()]
            try:
                return Played(await run, tally, tuple(events))
            except RunFailed as failed:
                return Played(failed.result, tally, tuple(events), failed)


async def play_unheard(flow: Flow, inputs: Mapping[str, Any], checkpoints: int = 0) -> Played:
    with tallying(checkpoints) as tally:
        try:
            return Played(await flow.run(**inputs), tally)
        except RunFailed as failed:
            return Played(failed.result, tally, (), failed)


async def failed_run(flow: Flow, **inputs: Any) -> RunFailed:
    with pytest.raises(RunFailed) as caught:
        await flow.run(**inputs)
    return caught.value


async def cancelled(flow: Flow, begun: anyio.Event, reason: str = "enough", **inputs: Any) -> Result:
    """Cancel a run when the event is set and nothing moves any more, and return what it results in."""
    async with flow.start(**inputs) as run:
        await begun.wait()
        await anyio.wait_all_tasks_blocked()
        run.cancel(reason)
        return await run


def letting_go(flow: Flow) -> Flow:
    settings = {one.name: getattr(flow.settings, one.name) for one in fields(flow.settings)}
    return flow.using(**{**settings, "keep": False})


def check_let_go(result: Result) -> None:
    """See to it that nothing is held but outputs, constants, and the reasons of what has no value (S8.5)."""
    plan, values = result._plan, result._root.values
    kept = {slot for slot, value in enumerate(plan.root.initial) if value is not UNSETTLED}
    kept.update(plan.outputs.values())
    held = [name for slot, name in enumerate(plan.root.names) if slot not in kept and is_value(values[slot])]
    assert held == []


def is_value(token: Any) -> bool:
    return not (is_dead(token) or token is UNSETTLED or token is RELEASED)


def typed(value: Any) -> Any:
    match value:
        case list() | tuple():
            return type(value), [typed(item) for item in value]
        case dict():
            return dict, {key: typed(item) for key, item in value.items()}
        case _:
            return type(value), value


def states_of(result: Result) -> dict[str, str]:
    return {path: state.value for path, state in result.states.items()}


def reasons(result: Result, place: str) -> list[str]:
    return result.why(place).splitlines()[1:]


def check_outcome(case: Case, played: Played) -> None:
    result = played.result
    assert result.status == case.status
    assert typed(dict(result.outputs)) == typed(dict(case.outputs))
    if case.runs is not None:
        assert played.tally.runs() == case.runs
    states = states_of(result)
    assert {path: states.get(path) for path in case.states} == case.states
    if case.others is not None:
        assert {state for path, state in states.items() if path not in case.states} <= {case.others}
    for place, pieces in case.why.items():
        check_pieces(reasons(result, place), pieces)
    check_pieces(sorted(result.warnings), case.warnings)
    failures = sorted(played.failed.failures if played.failed is not None else ())
    assert [(f.path, f.type) for f in failures] == [(path, kind) for path, kind, _ in case.failures]
    check_pieces([f.message for f in failures], tuple(text for *_, text in case.failures))


def check_pieces(found: list[str], pieces: tuple[str, ...]) -> None:
    assert len(found) == len(pieces), found
    for text, piece in zip(found, pieces, strict=True):
        assert piece in text, found


def check_events(case: Case, events: tuple[Event, ...]) -> None:
    rest = iter(events)
    for kind, path, data in case.events:
        assert any(
            event.kind == kind and event.path == path and data.items() <= event.data.items() for event in rest
        ), f"{kind} of {path!r} with {data} is not among the events, or not in this order"


def check_telling(played: Played) -> None:
    """Hold what every run tells against what it came to (S14.3, S18, S19)."""
    events, result = played.events, played.result
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert {event.run for event in events} == {result.run_id}
    assert [event.kind for event in events].count(events[0].kind) == 1
    assert (events[0].kind, events[-1].kind) == ("run_started", "run_finished")
    assert events[-1].data["status"] == result.status
    finished = [event for event in events if event.kind == "node_finished"]
    assert sorted(event.path for event in finished) == sorted(result.states)
    assert {event.path: event.data["state"] for event in finished} == states_of(result)
    assert set(result.states.values()) <= ENDED
    started = {event.path: event.seq for event in events if event.kind == "node_started"}
    ended = {event.path: event.seq for event in finished}
    assert all(started[path] < ended[path] for path in started)
    assert set(played.tally.paths) <= set(started)


def check_order(flow: Flow, played: Played) -> None:
    """Hold the events against the edges: an effect's never precedes its cause's (S14.3)."""
    ended = {event.path: event.seq for event in played.events if event.kind == "node_finished"}
    started = {
        event.path: event.seq
        for event in played.events
        if event.kind == "node_started"
        and event.data["type"] not in ("loop", "map")  # what is in them awaits it
    }
    for edge in flow.wiring.block.edges:
        if edge.source.node in ended and edge.target in started:
            assert ended[edge.source.node] < started[edge.target]
