"""Random flows come to what the references say, however they are run, with memos anywhere too (S13.1, S14.1).

Hypothesis prints a flow that fails as JSON, made small, and how to play it again.
`python -m tests.properties.count` plays more in CI and counts what they contain.
"""

from __future__ import annotations

import copy
import hashlib
import json
import random
import re
from collections.abc import Iterator
from typing import Any, Final

import anyio
from hypothesis import assume, given, note
from hypothesis import strategies as st

from dataflow import DataflowError, EventKind, Flow, ProcessMemo, RunFailed
from dataflow.stores import Store
from tests.properties.cases import Case, Nested, cases, noted
from tests.properties.driving import drive
from tests.properties.effort import LONGEST, chooses, flows, pace
from tests.properties.node_functions import recording
from tests.properties.playing import Played, expect, flow_of, hold, hold_part, needed_by, plain, play
from tests.properties.random_flows import Program, programs, sample
from tests.properties.reference import Dead
from tests.support.processes import printed_with

SEEDS: Final = range(300)
nested: Final = programs().map(Nested)


@flows(800)
@given(cases, chooses)
def test_in_any_order_of_settling(case: Case, choose: random.Random) -> None:
    noted(case)
    case.hold(drive(case.flow, case.program, choose))


@flows(260)
@given(cases, chooses, st.booleans())
async def test_in_real_runs_that_suspend_heard_or_not(
    case: Case, choose: random.Random, is_heard: bool
) -> None:
    noted(case)
    with anyio.fail_after(LONGEST):
        case.hold(await play(case.flow, case.program, pace(choose), is_heard))


@flows(200)
@given(nested, chooses)
def test_in_any_order_of_declaration(case: Nested, choose: random.Random) -> None:
    noted(case)
    other = Program(shuffled(case.program.document, choose), case.program.inputs)
    note(f"shuffled: {json.dumps(other.document)}")
    hold(case.expected, drive(flow_of(other.document), other, choose), is_as_declared=False)


@flows(100)
@given(programs(breaking=False).map(Nested), chooses)
async def test_pulling_an_output_runs_what_it_needs(case: Nested, choose: random.Random) -> None:
    noted(case)
    program, expected = case.program, case.expected
    firings = expected.outcome.firings.values()
    assume(all(firing.state != "failed" for firing, _ in firings))  # what is not needed may be what fails
    name = choose.choice(list(program.document["outputs"]))
    wanted = expected.outcome.outputs[name]
    with recording(pace(choose)) as record, anyio.fail_after(LONGEST):
        try:
            assert plain(await case.flow.pull(name, **program.inputs)) == plain(wanted)
        except DataflowError:
            assert isinstance(wanted, Dead)
    assert record.fired <= expected.fired
    assert {re.split(r"[/~\[]", path)[0] for path, _ in record.fired} <= needed_by(program.document, name)


@flows(100)
@given(nested, chooses, st.integers(0, 40))
async def test_what_a_run_cut_short_has_done_is_right(case: Nested, choose: random.Random, most: int) -> None:
    """The run is cancelled after so many events, if it has not come to its end."""
    noted(case)
    with anyio.fail_after(LONGEST):
        played = await play(case.flow, case.program, pace(choose), is_heard=True, most=most)
    if played.result.status == "completed":
        case.hold(played)
    else:  # cancelled, or it had failed before it was
        hold_part(case.expected, played)


async def digest() -> str:
    """Return a digest of what a fixed sample of flows comes to, without those that time decides."""
    found = hashlib.sha256()
    for program in map(sample, SEEDS):
        expected = expect(program)
        if expected.cut or expected.loose:
            continue
        played = await play(flow_of(program.document), program)
        result = played.result
        told = [(path, state.value, result.why(path)) for path, state in result.states.items()]
        outcome = (result.status, sorted(result.outputs.items()), sorted(played.fired.items()), told)
        found.update(repr(outcome).encode())
    return found.hexdigest()


def test_processes_with_other_hash_seeds_come_to_the_same() -> None:
    code = (
        "import anyio; from tests.properties.test_against_reference import digest; print(anyio.run(digest))"
    )
    one, other = (printed_with(seed, code) for seed in ("1", "2"))
    assert len(one) == 64
    assert one == other


def shuffled(document: dict[str, Any], choose: random.Random) -> dict[str, Any]:
    """Return a document with its nodes, edges and keys in another order.

    Edges into one port keep theirs, which has a meaning (S5.1), and so do the readers of items: the first
    names the map (S2.2).
    """
    return {key: _part(key, value, choose) for key, value in document.items()}


def _part(key: str, value: Any, choose: random.Random) -> Any:
    if key == "nodes":
        ids = list(value)
        choose.shuffle(ids)
        readers = iter([id for id in value if _reads_item(value[id])])
        ids = [next(readers) if _reads_item(value[id]) else id for id in ids]
        return {id: {k: _part(k, v, choose) for k, v in value[id].items()} for id in ids}
    if key in ("loop", "map") or (key == "flow" and isinstance(value, dict)):
        return shuffled(value, choose)
    if key == "edges":
        return _edges(value, choose)
    return value


def _reads_item(node: dict[str, Any]) -> bool:
    return any(isinstance(given, dict) and "each" in given for given in node.get("inputs", {}).values())


def _edges(edges: list[dict[str, Any]], choose: random.Random) -> list[dict[str, Any]]:
    ports: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for edge in edges:
        ports.setdefault((edge["target"], edge["target_port"]), []).append(edge)
    turns = [port for port, given in ports.items() for _ in given]
    choose.shuffle(turns)
    queues = {port: iter(given) for port, given in ports.items()}
    return [next(queues[port]) for port in turns]


REACHES = ("off", "run", "process", "store")


def nodes_in(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Go through the nodes of a document that call a function, those inside others included."""
    todo = [document]
    for block in todo:  # grows while it is walked
        for placed in block["nodes"].values():
            todo.extend(placed[kind] for kind in ("loop", "map", "flow") if kind in placed)
            if placed.get("type", "").startswith("t."):
                yield placed


def with_memos(document: dict[str, Any], choose: random.Random) -> dict[str, Any]:
    """Give nodes a memo, but for those that fail in their first attempts: these are not pure."""
    remembered = copy.deepcopy(document)
    for placed in nodes_in(remembered):
        if not placed.get("config", {}).get("first"):
            placed["policy"] = {**placed.get("policy", {}), "memo": choose.choice(REACHES)}
    return remembered


async def play_remembering(flow: Flow, program: Program, choose: random.Random) -> Played:
    """Run a flow; what was remembered counts as fired."""
    with recording(pace(choose)) as record:
        try:
            async with flow.start(**program.inputs) as run:
                async for event in run.events():
                    if event.kind is EventKind.MEMO_HIT:
                        record.fired[event.path, 1] += 1
                result = await run
        except RunFailed as failed:
            return Played(failed.result, record.fired, tuple(failed.failures))
        return Played(result, record.fired)


@flows(120)
@given(programs(), chooses, st.sampled_from(("process", "memo", "store")))
async def test_with_outcomes_in_memory_or_a_store(program: Program, choose: random.Random, kept: str) -> None:
    case = Nested(Program(with_memos(program.document, choose), program.inputs))
    noted(case)
    keeper: Any = ProcessMemo() if kept == "process" else Store.memory()
    flow = case.flow.using(
        **case.program.document["using"], **{"store" if kept == "store" else "memo": keeper}
    )
    for _ in range(2):
        with anyio.fail_after(LONGEST):
            case.hold(await play_remembering(flow, program, choose))
