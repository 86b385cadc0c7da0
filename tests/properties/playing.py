"""Playing a random flow, and holding what it came to against the reference."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Final

from dataflow import Event, Failure, Flow, RunFailed
from dataflow.core.functions import import_function
from dataflow.core.nodetype import NodeType
from dataflow.formats.native.document import FlowDocument
from dataflow.formats.native.reader import load
from dataflow.packs.pack import type_of
from dataflow.packs.registry import find_type
from dataflow.runtime.reasons import NOT_OPENED
from dataflow.runtime.result import Result
from dataflow.runtime.run import Run
from tests.properties import node_functions
from tests.properties.document_reading import behind, by_node, lifted, reads_of
from tests.properties.node_functions import answer_to, call_plainly, recording
from tests.properties.random_flows import Program
from tests.properties.reference import Dead, Firing, Frame, Outcome, Reference

FUNCTIONS: Final = {
    f"t.{name}": found
    for name, found in vars(node_functions).items()
    if callable(found) and not name.startswith("_")
}
Fired = Counter[tuple[str, int]]


@dataclass(frozen=True)
class Expected:
    """What the reference says, and which frames a failure may have cut short."""

    outcome: Outcome
    fired: Fired
    cut: set[int]
    loose: set[str]
    joins: set[str]

    @property
    def is_decided(self) -> bool:
        """Tell whether the rules decide: not where what a race may withdraw fails a frame inside, or not."""
        root = self.outcome.root
        inside = {id(frame): frame for _, frame in self.outcome.firings.values() if frame is not root}
        failed = {frame.path_of(node) for frame in inside.values() for node in frame.failing()}
        return not failed & self.loose

    def is_cut(self, frame: Frame) -> bool:
        return id(frame) in self.cut

    def is_open(self, path: str, frame: Frame) -> bool:
        """Tell whether time decides how far a firing comes."""
        return path in self.loose or self.is_cut(frame)


@dataclass(frozen=True)
class Played:
    """What a run came to."""

    result: Result
    fired: Fired
    failures: tuple[Failure, ...] = ()
    earlier: Mapping[str, str] = field(default_factory=dict)  # states that the result has nothing of
    was_mended: bool = False  # there may have been rounds that there are no more
    wholes: Collection[str] = ()  # loops, maps and flow nodes that stand as wholes, from earlier sittings
    taken: Collection[str] = ()  # done in the run that this is a fork of, whoever asks for it now


@cache
def _type(id: str) -> NodeType:
    return type_of(FUNCTIONS[id], id) if id in FUNCTIONS else find_type(id)


def _function(name: str) -> Callable[..., Any]:
    found = FUNCTIONS.get(name.replace(":", "."))
    return import_function(name) if found is None else found


def flow_of(document: Mapping[str, Any]) -> Flow:
    with _flow(load(json.dumps(document), "random.json", _flow)) as flow:
        return flow


def _flow(wiring: Any) -> Flow:
    return Flow.from_wiring(wiring, _type, _function)


def expect(program: Program, healed: Collection[str] = ()) -> Expected:
    """Ask the reference; the firings at the paths that are `healed` do not fail."""
    document = FlowDocument.model_validate(lifted(program.document))
    reference = Reference(FUNCTIONS, call_plainly, answer_to)
    with recording(healed=healed) as record:
        outcome = reference.run(document, program.inputs)
    cut = set[int]()
    mark(outcome.root, is_cut=False, cut=cut)
    loose = loose_in(reference, outcome.root, is_loose=False)
    return Expected(outcome, record.fired, cut, loose, reference.joins)


def needed_by(document: Mapping[str, Any], output: str) -> set[str]:
    """Name the nodes of a flow that stand behind an output, however far."""
    flow = FlowDocument.model_validate(lifted(document))
    reads = by_node(reads_of(flow, FUNCTIONS))
    return behind(flow, reads, [flow.outputs[output]])


def loose_in(reference: Reference, frame: Frame, is_loose: bool) -> set[str]:
    """Name the firings that a race may withdraw: all of their uses lead only into races (S5.3)."""
    reads = reference.reads(frame.block)
    left = {id for id in frame.block.nodes if reads.get(id)}
    while kept := {id for id in left if any(not r.race and r.reader not in left for r in reads[id])}:
        left -= kept
    found = {frame.path_of(id) for id in (frame.block.nodes if is_loose else left)}
    for id, frames in frame.opened.items():
        for inner in frames:
            found |= loose_in(reference, inner, is_loose or id in left)
    return found


def mark(frame: Frame, is_cut: bool, cut: set[int]) -> None:
    """Mark the frames that a failure in them or beside them may cut short (S9.4)."""
    is_cut = is_cut or (frame.errors == "fail_fast" and bool(frame.failures()))
    if is_cut:
        cut.add(id(frame))
    for node, frames in frame.opened.items():
        fails = frame.firings[node].state == "failed" and frame.errors == "fail_fast"
        for inner in frames:
            mark(inner, is_cut or fails, cut)


async def play(
    flow: Flow,
    program: Program,
    pace: Callable[[], int] | None = None,
    is_heard: bool = False,
    most: int | None = None,
) -> Played:
    """Run a flow, and cancel it after so many events."""
    with recording(pace) as record:
        try:
            async with flow.start(**program.inputs) as run:
                if is_heard:
                    _check(await _listen(run, most))
                return Played(await run, record.fired)
        except RunFailed as failed:
            return Played(failed.result, record.fired, tuple(failed.failures))


async def _listen(run: Run, most: int | None) -> list[Event]:
    events: list[Event] = []
    async for event in run.events():
        events.append(event)
        if len(events) == most:
            run.cancel()
    return events


def _check(events: list[Event]) -> None:
    """Hold what a run tells against itself (S14.3, S19)."""
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    started = [event.path for event in events if event.kind == "node_started"]
    finished = [event.path for event in events if event.kind == "node_finished"]
    assert set(started) <= set(finished)
    assert len(set(finished)) == len(finished)


def hold(expected: Expected, played: Played, is_as_declared: bool = True) -> None:
    """Hold a run against the reference; of frames that were cut short, what was done is right.

    Which of several failures stands for all goes by declared order, where none cuts the others short and no
    race has failed.
    """
    outcome, result = expected.outcome, played.result
    is_cut = expected.is_cut(outcome.root)
    is_certain = is_as_declared and not expected.cut and not expected.loose
    told = plain if is_certain else partial(plain, failure=("failure",))
    wanted = {name: told(token) for name, token in outcome.outputs.items() if not isinstance(token, Dead)}
    outputs = {name: told(value) for name, value in result.outputs.items()}
    failures = {(failure.path, failure.type) for failure in played.failures}
    wanted_failures = {(failure.path, failure.type) for failure in outcome.root.failures()}
    states = {**played.earlier, **{path: state.value for path, state in result.states.items()}}
    assert result.status == ("failed" if failures else "completed")
    if is_cut:
        assert outputs.items() <= wanted.items()
    else:
        assert outputs == wanted
    assert failures <= wanted_failures
    withdrawn = {(path, kind) for path, kind in wanted_failures if path in expected.loose}
    assert failures or wanted_failures <= withdrawn
    cut = {(path, kind) for path, kind in wanted_failures if expected.is_cut(outcome.firings[path][1])}
    assert wanted_failures - withdrawn - cut <= failures
    assert played.was_mended or states.keys() <= outcome.firings.keys()
    for path, (firing, frame) in outcome.firings.items():
        if expected.is_open(path, frame):
            state = states.get(path, "not_run")
            is_cut_short = state in ("cancelled", "not_run", "skipped")
            assert (
                (path, state) == (path, firing.state)
                or is_cut_short
                or _is_told(path, wanted_failures, result)
            )
        elif path not in played.taken or firing.state != "not_run":
            assert (path, states.get(path)) == (path, firing.state)
            if not is_cut and path in result.states and not _inside(path, played.wholes):
                hold_cause(path, firing, result, played.wholes)
    sure = {path for path, (_, frame) in outcome.firings.items() if not expected.is_open(path, frame)}
    assert _only(played.fired, sure) == _only(expected.fired, sure)
    assert played.fired <= expected.fired


def hold_part(expected: Expected, played: Played) -> None:
    """Hold a run that was cancelled against the reference: what it has done is right."""
    outcome, result = expected.outcome, played.result
    failed = {path for path, (firing, _) in outcome.firings.items() if firing.state == "failed"}
    assert {failure.path for failure in played.failures} <= failed
    told = partial(plain, failure=("failure",))
    wanted = {name: told(token) for name, token in outcome.outputs.items()}
    assert all(told(value) == wanted[name] for name, value in result.outputs.items())
    assert played.fired <= expected.fired
    for path, state in result.states.items():
        assert path in outcome.firings
        is_cut_short = state.value in ("cancelled", "not_run", "skipped", outcome.firings[path][0].state)
        assert is_cut_short or _is_told(path, {(place, "") for place in failed}, result), path


def _is_told(path: str, failures: set[tuple[str, str]], result: Result) -> bool:
    """Tell whether a loop, map or flow failed with a failure outside, as of a list that was to come early.

    Whether such a list is there before what else fails its map is a matter of time.
    """
    last = result.why(path).splitlines()[-1].strip().removeprefix("because ")
    return result.states.get(path) == "failed" and any(
        begins(last, place) for place, _ in failures if not place.startswith(path)
    )


def _only(fired: Fired, paths: set[str]) -> Fired:
    return Counter({place: times for place, times in fired.items() if place[0] in paths})


def hold_cause(path: str, firing: Firing, result: Result, wholes: Collection[str] = ()) -> None:
    """Hold where the story of a node that did not run begins (S3.3): at the latest at one of the `wholes`."""
    if firing.state in ("skipped", "not_run", "failed") and isinstance(firing.rest, Dead):
        last = result.why(path).splitlines()[-1].strip().removeprefix("because ")
        if last.endswith(NOT_OPENED) or " is done, answered with " in last:  # the answer decided a branch
            return
        origins = {*firing.rest.origins}
        origins |= {*wholes}
        assert any(begins(last, origin) for origin in origins), (path, last, origins)


def _inside(path: str, wholes: Collection[str]) -> bool:
    return any(path.startswith((f"{whole}/", f"{whole}[", f"{whole}~")) for whole in wholes)


def begins(line: str, place: str) -> bool:
    return line.startswith((f"{place}: ", f"{place} failed: "))


def plain(value: Any, failure: Any = None) -> Any:
    """Tell 0, 0.0 and False apart; what a failure is told as may be given."""
    match value:
        case Failure(path=path, attempt=attempt, type=kind):
            return failure or ("failure", path, attempt, kind)
        case list() | tuple():
            return type(value).__name__, *(plain(item, failure) for item in value)
        case _:
            return type(value).__name__, value
